import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  appliedObjects,
  applyObjects,
  deleteObjects,
  scale,
  setPodCondition,
} from '../../../src-main/domain/kubernetes/cluster.ts'
import { createClusterFromManifests } from '../../../src-main/domain/kubernetes/cluster-from-manifests.ts'
import { getObject, listObjects } from '../../../src-main/domain/kubernetes/cluster-objects.ts'
import { defaultClusterConfig } from '../../../src-main/domain/kubernetes/default-cluster.ts'
import { changedServiceNames, diffClusters } from '../../../src-main/domain/kubernetes/diff-clusters.ts'
import { parseManifests } from '../../../src-main/domain/kubernetes/parse-manifests.ts'
import {
  applied,
  apply,
  deployment,
  endpointsOf,
  errorsOf,
  items,
  later,
  newCluster,
  now,
  podAt,
  pods,
  service,
  serviceNamed,
  warningsOf,
} from './cluster-fixture.ts'

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const webDeployment = { kind: 'Deployment', namespace: 'default', name: 'web' } as const

describe('namespaces', () => {
  const inShop = service('web', '{ports: [{port: 80}]}').replace(
    '{name: web}',
    '{name: web, namespace: shop}',
  )
  const shop = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n'

  it('must exist', () => {
    const result = apply(newCluster(), inShop)
    expect(errorsOf(result)).toEqual([
      'test.yaml:2: Service "shop/web": metadata.namespace: namespaces "shop" not found: apply a Namespace of this name with it, or before it',
    ])
  })

  it('may come in any order within one apply', () => {
    expect(errorsOf(apply(newCluster(), `${inShop}---\n${shop}`))).toEqual([])
  })

  it('take their contents with them, and the built-in ones stay', () => {
    const cluster = applied(newCluster(), `${inShop}---\n${shop}`)
    const gone = deleteObjects(cluster, [{ kind: 'Namespace', namespace: '', name: 'shop' }], later)
    expect(listObjects(gone.cluster, 'Service')).toEqual([])
    const refused = deleteObjects(cluster, [{ kind: 'Namespace', namespace: '', name: 'default' }], later)
    expect(errorsOf(refused)).toEqual([
      'Namespace "default": namespaces "default" is forbidden: this namespace may not be deleted',
    ])
  })
})

describe('nodes', () => {
  const node = (name: string) =>
    `apiVersion: v1\nkind: Node\nmetadata: {name: ${name}, labels: {topology.kubernetes.io/zone: z1}}\n`

  it('take labels over', () => {
    const worker = getObject(applied(newCluster(), node('worker1')), 'Node', '', 'worker1')
    expect(worker?.metadata.labels).toMatchObject({
      'kubernetes.io/hostname': 'worker1',
      'topology.kubernetes.io/zone': 'z1',
    })
    expect(worker?.spec.podCIDRs).toEqual(['10.244.1.0/24'])
  })

  it('of another name are refused', () => {
    expect(errorsOf(apply(newCluster(), node('node-a')))).toEqual([
      'test.yaml:1: Node "node-a": metadata.name: this lab has no node "node-a", only control-plane, worker1, worker2; a lab\'s nodes come from --workers, not from manifests',
    ])
  })

  it('up to 250 have addresses of their own', () => {
    const { nodes } = defaultClusterConfig({ workers: 250 })
    expect(nodes.at(-1)).toEqual({
      name: 'worker250',
      podCIDRs: ['10.244.250.0/24'],
      internalIP: '172.18.0.252',
      role: 'worker',
    })
    expect(() => defaultClusterConfig({ workers: 251 })).toThrow(RangeError)
  })
})

describe('pinned addresses', () => {
  const path = 'spec.template.metadata.annotations[chainwalk.dev/pod-ips]'

  it("go to the first replicas; the rest gets ordinary ones, never somebody's pin", () => {
    const cluster = applied(
      newCluster(),
      `${deployment('web', 3, { pins: '10.244.2.2' })}---${deployment('api', 2)}`,
    )
    expect(pods(cluster).flatMap(({ status }) => status.podIPs)).toEqual([
      '10.244.2.2',
      '10.244.1.2',
      '10.244.1.3',
      '10.244.2.3',
      '10.244.1.4',
    ])
  })

  it.each([
    [
      '192.0.2.1',
      "lies in no node's podCIDR (control-plane has 10.244.0.0/24; worker1 has 10.244.1.0/24; worker2 has 10.244.2.0/24)",
    ],
    ['10.244.1.1', 'is not for pods: it is the network, bridge or broadcast address of node worker1'],
    ['10.244.1.255', 'is not for pods: it is the network, bridge or broadcast address of node worker1'],
  ])('refuse %s', (ip, why) => {
    expect(errorsOf(apply(newCluster(), deployment('web', 1, { pins: ip })))).toEqual([
      `test.yaml:2: Deployment "web": ${path}: Invalid value: "${ip}": ${why}`,
    ])
  })

  it('refuse an address that another pod has or another manifest pins', () => {
    const busy = applied(newCluster(), deployment('api', 1))
    expect(errorsOf(apply(busy, deployment('web', 1, { pins: '10.244.1.2' })))[0]).toContain(
      `${path}: Invalid value: "10.244.1.2": is taken by Deployment default/api`,
    )
    const both = `${deployment('web', 1, { pins: '10.244.1.9' })}---${deployment('api', 1, { pins: '10.244.1.9' })}`
    expect(errorsOf(apply(newCluster(), both))[0]).toContain('is taken by Deployment default/web')
  })

  it("stay the Deployment's own when it is applied again", () => {
    const cluster = applied(newCluster(), deployment('web', 2, { pins: '10.244.1.7,10.244.2.8' }))
    const more = applied(cluster, deployment('web', 3, { pins: '10.244.1.7,10.244.2.8,10.244.2.9' }))
    expect(pods(more).flatMap(({ status }) => status.podIPs)).toEqual([
      '10.244.1.7',
      '10.244.2.8',
      '10.244.2.9',
    ])
  })

  it('are free for the replacement of a deleted pod', () => {
    const cluster = applied(newCluster(), deployment('web', 2, { pins: '10.244.1.7,10.244.2.8' }))
    const after = setPodCondition(cluster, podAt(cluster, 0).metadata, 'deleted', later).cluster
    expect(pods(after).flatMap(({ status }) => status.podIPs)).toEqual(['10.244.2.8', '10.244.1.7'])
  })
})

describe('changes', () => {
  const cluster = applied(newCluster(), deployment('web', 2))

  it('are all refused when one is wrong, with all problems', () => {
    const yaml = `${deployment('api', 1)}---${service('a', '{ports: [{port: 80}], clusterIP: 10.0.0.1}')}---${service('b', '{ports: [{port: 80}], clusterIP: 10.0.0.2}')}`
    const result = apply(cluster, yaml)
    expect(errorsOf(result)).toHaveLength(2)
    expect(result.cluster).toBe(cluster)
  })

  it('of a selector are refused', () => {
    const changed = deployment('web', 2).replaceAll('app: web', 'app: site')
    expect(errorsOf(apply(cluster, changed))).toEqual([
      'test.yaml:2: Deployment "web": spec.selector: Invalid value: {"matchLabels":{"app":"site"}}: field is immutable',
    ])
  })

  it("of a pod's ports are refused, of its labels not", () => {
    const pod = (labels: string, port: number) =>
      `apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: ${labels}}\nspec: {containers: [{name: c, image: i, ports: [{containerPort: ${port}}]}]}\n`
    const first = applied(newCluster(), pod('{app: a}', 80))
    expect(errorsOf(apply(first, pod('{app: a}', 81)))[0]).toContain(
      'spec: Forbidden: pod updates may not change fields other than',
    )
    const relabelled = applied(first, pod('{app: b}', 80))
    expect(podAt(relabelled, 0)).toMatchObject({
      metadata: { labels: { app: 'b' } },
      status: podAt(first, 0).status,
    })
  })

  it('say configured, created and unchanged', () => {
    const again = apply(cluster, `${deployment('web', 3)}---${deployment('api', 1)}`, later)
    expect(again.changes.map(({ verb }) => verb)).toEqual(['configured', 'created'])
    expect(getObject(again.cluster, 'Deployment', 'default', 'web')?.metadata.creationTimestamp).toBe(now)
    expect(apply(again.cluster, deployment('web', 3)).changes[0]?.verb).toBe('unchanged')
  })

  it('count the later of two files', () => {
    const both = [...items(deployment('web', 1), 'a.yaml'), ...items(deployment('web', 4), 'b.yaml')]
    const result = applyObjects(newCluster(), both, now)
    expect(warningsOf(result)).toEqual([
      'b.yaml:2: Deployment "web": is given twice; this one counts, not the one at a.yaml:2',
    ])
    expect(pods(result.cluster)).toHaveLength(4)
  })

  it('of what there is not are errors', () => {
    expect(errorsOf(scale(cluster, { ...webDeployment, name: 'x' }, 1, now))).toEqual([
      'Deployment "x": deployments.apps "x" not found',
    ])
    expect(errorsOf(scale(cluster, webDeployment, -1, now))[0]).toContain(
      'must be greater than or equal to 0',
    )
    expect(
      errorsOf(scale(cluster, { kind: 'Service', namespace: 'default', name: 'x' }, 1, now)),
    ).toHaveLength(1)
    expect(errorsOf(setPodCondition(cluster, { namespace: 'default', name: 'x' }, 'ready', now))).toEqual([
      'Pod "x": pods "x" not found',
    ])
    const result = deleteObjects(
      cluster,
      [{ kind: 'Service', namespace: 'default', name: 'x' }, webDeployment],
      now,
    )
    expect(errorsOf(result)).toEqual(['Service "x": services "x" not found'])
    expect(result.changes).toHaveLength(1)
  })
})

describe('a cluster out of manifests', () => {
  const from = (yaml: string) =>
    createClusterFromManifests(appliedObjects(parseManifests('f.yaml', yaml)), now)

  it('has the Nodes of the manifests and believes what they give', () => {
    const result = from(read('test/golden/001-seed-http-svc/manifests.yaml'))
    expect(result.problems).toEqual([])
    expect(result.cluster.config.nodes.map(({ name, internalIP, zone }) => [name, internalIP, zone])).toEqual(
      [
        ['node-a', '192.168.0.2', 'zone-a'],
        ['node-b', '192.168.0.3', 'zone-b'],
        ['node-c', '192.168.0.4', 'zone-c'],
      ],
    )
    expect(endpointsOf(result.cluster, 'http-svc')).toHaveLength(3)
  })

  it('has the default nodes otherwise, and needs no Namespace', () => {
    const yaml = service('web', '{ports: [{port: 80}], clusterIP: 172.20.1.1}').replace(
      '{name: web}',
      '{name: web, namespace: shop}',
    )
    const { cluster, problems } = from(yaml)
    expect(problems).toEqual([])
    expect(serviceNamed(cluster, 'web', 'shop').spec.clusterIPs).toEqual(['172.20.1.1'])
    expect(cluster.config.nodes.map(({ name }) => name)).toEqual(['control-plane', 'worker1', 'worker2'])
  })

  it('keeps dual-stack Services', () => {
    const { cluster, problems } = from(read('test/golden/076-dual-stack/manifests.yaml'))
    expect(problems).toEqual([])
    expect(listObjects(cluster, 'Service')[0]?.spec.clusterIPs).toHaveLength(2)
  })
})

describe('diffClusters', () => {
  const before = applied(
    newCluster(),
    `${deployment('web', 2)}---${service('web', '{selector: {app: web}, ports: [{port: 80}]}')}---${service('other', '{selector: {app: other}, ports: [{port: 80}]}')}`,
  )

  it("finds what one pod's change touched, and nothing else", () => {
    const after = setPodCondition(before, podAt(before, 0).metadata, 'not-ready', later).cluster
    const diff = diffClusters(before, after)
    expect(diff.Pod.changed.map(({ after: pod }) => pod.metadata.name)).toEqual([
      podAt(before, 0).metadata.name,
    ])
    expect(diff.EndpointSlice.changed).toHaveLength(1)
    expect(diff.Service).toEqual({ added: [], removed: [], changed: [] })
    expect([...changedServiceNames(diff)]).toEqual(['default/web'])
  })

  it('finds what was added and removed', () => {
    const after = scale(before, webDeployment, 0, later).cluster
    expect(diffClusters(before, after).Pod.removed).toHaveLength(2)
    expect(diffClusters(after, before).Pod.added).toHaveLength(2)
    expect(changedServiceNames(diffClusters(before, before)).size).toBe(0)
  })
})
