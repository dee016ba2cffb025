import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { setPodCondition } from '../../../src-main/domain/kubernetes/cluster.ts'
import { listObjects } from '../../../src-main/domain/kubernetes/cluster-objects.ts'
import { formatObject, formatObjects } from '../../../src-main/domain/kubernetes/format-object.ts'
import { listShown } from '../../../src-main/domain/kubernetes/list-shown.ts'
import type { Kind, KubernetesObject } from '../../../src-main/domain/kubernetes/objects.ts'
import { parseManifests } from '../../../src-main/domain/kubernetes/parse-manifests.ts'
import { formatProblem } from '../../../src-main/domain/kubernetes/problem.ts'
import { resourceNames } from '../../../src-main/domain/kubernetes/resource-names.ts'
import { applied, deployment, later, newCluster, service, serviceNamed } from './cluster-fixture.ts'

const example = readFileSync(
  new URL('../../../lab-scripts/manifests/http-server.yaml', import.meta.url),
  'utf8',
)

const full = applied(
  newCluster({ loadBalancerPool: '172.18.255.200-172.18.255.210' }),
  [
    example,
    deployment('web', 2, { port: '{name: http, containerPort: 80}, {containerPort: 53, protocol: UDP}' }),
    service(
      'all',
      `{type: LoadBalancer, selector: {app: web}, externalTrafficPolicy: Local, internalTrafficPolicy: Local,
      sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 60}}, externalIPs: [192.0.2.7],
      loadBalancerSourceRanges: [192.0.2.0/24], publishNotReadyAddresses: true, trafficDistribution: PreferClose,
      ports: [{name: http, port: 80, targetPort: http, appProtocol: http}, {name: dns, port: 53, protocol: UDP}]}`,
    ),
    service('headless', '{clusterIP: None, selector: {app: web}, ports: [{port: 80}]}'),
    service('elsewhere', '{type: ExternalName, externalName: db.example.test}'),
    service('byhand', '{ports: [{port: 80}]}'),
    `apiVersion: v1
kind: Endpoints
metadata: {name: byhand, annotations: {a: 'on', b: '012', c: '1_000', d: '12:30:45', e: '~', f: "two\\nlines", g: ''}}
subsets: [{addresses: [{ip: 192.0.2.1, nodeName: n1}], notReadyAddresses: [{ip: 192.0.2.2}], ports: [{port: 8080}]}]
`,
    `apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: bare}
spec:
  replicas: 1
  selector: {matchLabels: {app: bare}, matchExpressions: [{key: tier, operator: In, values: [a, b]}, {key: x, operator: DoesNotExist}]}
  template:
    metadata: {labels: {app: bare, tier: a}}
    spec: {hostNetwork: true, nodeName: worker2, containers: [{name: c, image: i}]}
`,
    `apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {team: 'yes'}}
`,
  ].join('---\n'),
)

/** What a manifest cannot tell: when the object was made, and how a pod is. */
function withoutStored(object: KubernetesObject): unknown {
  const { creationTimestamp: _, ...metadata } = object.metadata
  const bare = { ...object, metadata }
  return object.kind === 'Pod' ? { ...bare, status: { podIPs: [], ready: false, terminating: false } } : bare
}

describe('formatObjects and parseManifests', () => {
  const kinds = Object.keys(resourceNames) as Kind[]

  it.each(kinds.flatMap((kind) => [[kind, 'yaml'] as const, [kind, 'json'] as const]))(
    'are inverse for %s as %s',
    (kind, format) => {
      const objects = listObjects(full, kind)
      expect(objects.length).toBeGreaterThan(0)
      const parsed = parseManifests('out', formatObjects(objects, format, { cluster: full, isListing: true }))
      expect(parsed.problems.map(formatProblem)).toEqual([])
      expect(parsed.objects).toEqual(objects.map(withoutStored))
    },
  )
})

describe('formatObject', () => {
  it('writes a Service as the API does', () => {
    expect(formatObject(serviceNamed(full, 'http-svc-node-port'))).toEqual({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        creationTimestamp: '2026-03-01T12:00:00Z',
        labels: { app: 'http-server' },
        name: 'http-svc-node-port',
        namespace: 'default',
      },
      spec: {
        clusterIP: '10.108.51.223',
        clusterIPs: ['10.108.51.223'],
        externalTrafficPolicy: 'Cluster',
        internalTrafficPolicy: 'Cluster',
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        ports: [{ nodePort: 32054, port: 80, protocol: 'TCP', targetPort: 80 }],
        selector: { app: 'http-server' },
        sessionAffinity: 'None',
        type: 'NodePort',
      },
      status: { loadBalancer: {} },
    })
  })

  it("counts the pods of a Deployment and shows a pod's state", () => {
    const pod = listObjects(full, 'Pod').find(({ status }) => status.podIPs[0] === '10.244.1.7')
    if (!pod) throw new Error('no pod has 10.244.1.7')
    const unready = setPodCondition(full, pod.metadata, 'not-ready', later).cluster
    const [web] = listObjects(unready, 'Deployment')
    if (!web) throw new Error('no Deployment')
    expect(formatObject(web, unready)['status']).toMatchObject({
      readyReplicas: 2,
      replicas: 3,
      unavailableReplicas: 1,
    })
    expect(formatObject(pod)['status']).toMatchObject({
      phase: 'Running',
      podIP: '10.244.1.7',
      podIPs: [{ ip: '10.244.1.7' }],
    })
  })

  it('prints one object by itself and several as a List, keys sorted as kubectl does', () => {
    const text = formatObjects([serviceNamed(full, 'http-svc')], 'yaml')
    expect(text.startsWith('apiVersion: v1\nkind: Service\nmetadata:\n  creationTimestamp: ')).toBe(true)
    expect(text).toContain('\n  ports:\n  - port: 80\n    protocol: TCP\n')
    expect(parse(formatObjects([], 'yaml'))).toEqual({
      apiVersion: 'v1',
      items: [],
      kind: 'List',
      metadata: { resourceVersion: '' },
    })
    expect(JSON.parse(formatObjects(listObjects(full, 'Service'), 'json'))).toMatchObject({ kind: 'List' })
  })

  it('shows the Endpoints that a cluster would keep', () => {
    const names = listShown(full, 'Endpoints', 'default').map(({ metadata }) => metadata.name)
    expect(names).toEqual(['all', 'byhand', 'headless', 'http-svc', 'http-svc-node-port'])
  })
})
