import { expect } from 'vitest'
import {
  type AppliedObject,
  applyObjects,
  type ClusterResult,
} from '../../../src-main/domain/kubernetes/cluster.ts'
import {
  type Cluster,
  createCluster,
  listObjects,
} from '../../../src-main/domain/kubernetes/cluster-objects.ts'
import {
  type DefaultClusterOptions,
  defaultClusterConfig,
} from '../../../src-main/domain/kubernetes/default-cluster.ts'
import type { Endpoint, Pod, Service } from '../../../src-main/domain/kubernetes/objects.ts'
import { parseManifests } from '../../../src-main/domain/kubernetes/parse-manifests.ts'
import { formatProblem } from '../../../src-main/domain/kubernetes/problem.ts'

export const now = '2026-03-01T12:00:00Z'
export const later = '2026-03-01T12:05:00Z'

export function newCluster(options: DefaultClusterOptions = {}): Cluster {
  return createCluster(defaultClusterConfig(options), now)
}

/** The objects of a manifest without parse problems. */
export function items(yaml: string, file = 'test.yaml'): AppliedObject[] {
  const { objects, sources, problems } = parseManifests(file, yaml)
  expect(problems.filter(({ severity }) => severity === 'error').map(formatProblem)).toEqual([])
  return objects.map((object, index) => ({ object, file, line: sources[index]?.line ?? 0 }))
}

export function apply(cluster: Cluster, yaml: string, at = now): ClusterResult {
  return applyObjects(cluster, items(yaml), at)
}

/** Applies what must be accepted without errors. */
export function applied(cluster: Cluster, yaml: string, at = now): Cluster {
  const result = apply(cluster, yaml, at)
  expect(errorsOf(result)).toEqual([])
  return result.cluster
}

export function errorsOf({ problems }: ClusterResult): string[] {
  return problems.filter(({ severity }) => severity === 'error').map(formatProblem)
}

export function warningsOf({ problems }: ClusterResult): string[] {
  return problems.filter(({ severity }) => severity === 'warning').map(formatProblem)
}

export function pods(cluster: Cluster, namespace = 'default'): readonly Pod[] {
  return [...(cluster.objects.Pod.get(namespace)?.values() ?? [])]
}

/** The pod that was made at this place, from 0. */
export function podAt(cluster: Cluster, index: number): Pod {
  const pod = pods(cluster)[index]
  if (!pod) throw new Error(`there is no pod ${index}`)
  return pod
}

export function serviceNamed(cluster: Cluster, name: string, namespace = 'default'): Service {
  const service = listObjects(cluster, 'Service', namespace).find(({ metadata }) => metadata.name === name)
  if (!service) throw new Error(`there is no Service ${name}`)
  return service
}

/** All endpoints of a Service, whichever slice they are in. */
export function endpointsOf(cluster: Cluster, service: string, namespace = 'default'): readonly Endpoint[] {
  return listObjects(cluster, 'EndpointSlice', namespace)
    .filter(({ metadata }) => metadata.labels['kubernetes.io/service-name'] === service)
    .flatMap(({ endpoints }) => endpoints)
}

export function deployment(
  name: string,
  replicas: number,
  extra: { pins?: string; port?: string } = {},
): string {
  const annotations = extra.pins === undefined ? '' : `annotations: {chainwalk.dev/pod-ips: '${extra.pins}'}`
  return `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata:
      labels: {app: ${name}}
      ${annotations}
    spec:
      containers:
      - {name: web, image: 'example.test/web:1', ports: [${extra.port ?? '{containerPort: 80}'}]}
`
}

export function service(name: string, spec: string): string {
  return `
apiVersion: v1
kind: Service
metadata: {name: ${name}}
spec: ${spec}
`
}
