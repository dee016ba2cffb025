import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ClusterResult,
  deleteObjects,
  scale,
  setPodCondition,
} from '../../../src-main/domain/kubernetes/cluster.ts'
import { type Cluster, getObject, listObjects } from '../../../src-main/domain/kubernetes/cluster-objects.ts'
import { diffClusters } from '../../../src-main/domain/kubernetes/diff-clusters.ts'
import { matchesSelector } from '../../../src-main/domain/kubernetes/select.ts'
import { apply, deployment, later, newCluster, service } from './cluster-fixture.ts'

/** One thing that a person does, with numbers that choose among what there is. */
type Step = readonly [what: number, which: number, much: number]

const steps = fc.array(fc.tuple(fc.nat(7), fc.nat(999), fc.nat(6)), { minLength: 1, maxLength: 12 })
const names = ['web', 'api', 'db']

function take(cluster: Cluster, [what, which, much]: Step): ClusterResult {
  const name = names[which % names.length] ?? 'web'
  const pods = listObjects(cluster, 'Pod')
  const pod = pods[which % Math.max(1, pods.length)]?.metadata ?? { namespace: 'default', name: 'none' }
  switch (what) {
    case 0:
      return apply(
        cluster,
        deployment(name, much, { port: `{name: http, containerPort: ${80 + (which % 2)}}` }),
      )
    case 1:
      return apply(
        cluster,
        service(
          name,
          `{type: ${much > 3 ? 'NodePort' : 'ClusterIP'}, selector: {app: ${names[much % 3]}}, ports: [{port: 80, targetPort: http}]}`,
        ),
      )
    case 2:
      return scale(cluster, { kind: 'Deployment', namespace: 'default', name }, much, later)
    case 3:
      return setPodCondition(cluster, pod, 'not-ready', later)
    case 4:
      return setPodCondition(cluster, pod, 'terminating', later)
    case 5:
      return setPodCondition(cluster, pod, 'deleted', later)
    case 6:
      return deleteObjects(
        cluster,
        [{ kind: much > 3 ? 'Service' : 'Deployment', namespace: 'default', name }],
        later,
      )
    default:
      return apply(
        cluster,
        deployment(name, much, { pins: `10.244.1.${10 + (which % 3)},10.244.2.${10 + much}` }),
      )
  }
}

function checkInvariants(cluster: Cluster): void {
  const pods = listObjects(cluster, 'Pod')
  const addresses = pods.flatMap(({ status }) => status.podIPs)
  expect(new Set(addresses).size).toBe(addresses.length)
  for (const { metadata, spec } of listObjects(cluster, 'Deployment')) {
    const replicaSets = listObjects(cluster, 'ReplicaSet').filter(
      (each) => each.metadata.ownerReferences?.[0]?.name === metadata.name,
    )
    expect(replicaSets.reduce((sum, each) => sum + each.spec.replicas, 0)).toBe(spec.replicas)
    const owners = new Set(replicaSets.map((each) => each.metadata.name))
    const active = pods.filter(
      (pod) => owners.has(pod.metadata.ownerReferences?.[0]?.name ?? '') && !pod.status.terminating,
    )
    expect(active).toHaveLength(spec.replicas)
  }
  for (const { metadata } of pods) {
    expect(
      getObject(cluster, 'ReplicaSet', metadata.namespace, metadata.ownerReferences?.[0]?.name ?? ''),
    ).toBeDefined()
  }
  const services = listObjects(cluster, 'Service')
  const ips = services.flatMap(({ spec }) => spec.clusterIPs)
  expect(new Set(ips).size).toBe(services.length)
  const ports = services.flatMap(({ spec }) => spec.ports.flatMap(({ nodePort }) => nodePort || []))
  expect(new Set(ports).size).toBe(ports.length)
  const slices = listObjects(cluster, 'EndpointSlice')
  for (const { metadata, spec } of services) {
    const own = slices.filter(
      (slice) => slice.metadata.labels['kubernetes.io/service-name'] === metadata.name,
    )
    const expected = pods
      .filter((pod) => matchesSelector(spec.selector, pod.metadata.labels))
      .filter((pod) =>
        pod.spec.containers.some((container) => container.ports.some((port) => port.name === 'http')),
      )
      .map(
        ({ metadata: { name }, status }) =>
          `${name} ${status.ready && !status.terminating} ${status.ready} ${status.terminating}`,
      )
    const found = own.flatMap(({ endpoints }) =>
      endpoints.map(
        ({ targetRef, conditions }) =>
          `${targetRef?.name} ${conditions.ready} ${conditions.serving} ${conditions.terminating}`,
      ),
    )
    expect(found.sort()).toEqual(expected.sort())
    expect(own.length).toBeGreaterThan(0)
  }
  for (const slice of slices) {
    expect(services.map(({ metadata }) => metadata.name)).toContain(
      slice.metadata.labels['kubernetes.io/service-name'],
    )
  }
}

describe('whatever a person does', () => {
  it('leaves replicas, addresses and endpoints as they must be, and the earlier cluster untouched', () => {
    fc.assert(
      fc.property(steps, (all) => {
        let cluster = newCluster()
        for (const step of all) {
          const before = JSON.stringify(listObjects(cluster, 'Pod'))
          const { cluster: after } = take(cluster, step)
          expect(JSON.stringify(listObjects(cluster, 'Pod'))).toBe(before)
          const diff = diffClusters(cluster, after).Pod
          expect(listObjects(after, 'Pod').length - listObjects(cluster, 'Pod').length).toBe(
            diff.added.length - diff.removed.length,
          )
          cluster = after
          checkInvariants(cluster)
        }
      }),
      { numRuns: 60, seed: 20260301 },
    )
  })
})
