import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { deleteObjects, scale, setPodCondition } from '../../../src-main/domain/kubernetes/cluster.ts'
import { listObjects } from '../../../src-main/domain/kubernetes/cluster-objects.ts'
import {
  applied,
  apply,
  deployment,
  endpointsOf,
  errorsOf,
  later,
  newCluster,
  now,
  podAt,
  pods,
  serviceNamed,
  warningsOf,
} from './cluster-fixture.ts'

const example = readFileSync(
  new URL('../../../lab-scripts/manifests/http-server.yaml', import.meta.url),
  'utf8',
)
const webDeployment = { kind: 'Deployment', namespace: 'default', name: 'web' } as const

describe('the teaching example', () => {
  const result = apply(newCluster(), example)

  it('is accepted without a word', () => {
    expect(result.problems).toEqual([])
    expect(result.changes.map(({ verb, kind, name }) => `${kind} ${name} ${verb}`)).toEqual([
      'Deployment http-server created',
      'Service http-svc created',
      'Service http-svc-node-port created',
    ])
  })

  it('puts three pods at the pinned addresses and their nodes', () => {
    expect(pods(result.cluster).map(({ spec, status }) => [spec.nodeName, ...status.podIPs])).toEqual([
      ['worker1', '10.244.1.7'],
      ['worker2', '10.244.2.8'],
      ['worker2', '10.244.2.9'],
    ])
  })

  it('names pods as Kubernetes does', () => {
    for (const pod of pods(result.cluster)) {
      expect(pod.metadata.name).toMatch(/^http-server-[bcdf4-9]{1,10}-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
      expect(pod.metadata.name).toContain(pod.metadata.labels['pod-template-hash'])
    }
    expect(new Set(pods(result.cluster).map(({ metadata }) => metadata.name)).size).toBe(3)
  })

  it('keeps the given cluster IPs and node port', () => {
    expect(serviceNamed(result.cluster, 'http-svc').spec.clusterIPs).toEqual(['10.107.38.142'])
    const nodePort = serviceNamed(result.cluster, 'http-svc-node-port').spec
    expect(nodePort.clusterIPs).toEqual(['10.108.51.223'])
    expect(nodePort.ports[0]?.nodePort).toBe(32054)
  })

  it('makes one slice a Service', () => {
    const slices = listObjects(result.cluster, 'EndpointSlice')
    expect(slices.map(({ metadata }) => metadata.name.replace(/.{5}$/, '?????')).sort()).toEqual([
      'http-svc-?????',
      'http-svc-node-port-?????',
    ])
    const pod = podAt(result.cluster, 0)
    expect(endpointsOf(result.cluster, 'http-svc')[0]).toEqual({
      addresses: ['10.244.1.7'],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: 'worker1',
      targetRef: { kind: 'Pod', name: pod.metadata.name, namespace: 'default' },
    })
  })

  it('changes nothing when applied again', () => {
    const again = apply(result.cluster, example, later)
    expect(again.cluster).toBe(result.cluster)
    expect(again.changes.map(({ verb }) => verb)).toEqual(['unchanged', 'unchanged', 'unchanged'])
  })

  it('comes out the same every time', () => {
    expect(apply(newCluster(), example).cluster).toEqual(result.cluster)
  })
})

describe('Deployments', () => {
  const cluster = applied(newCluster(), deployment('web', 3))

  it('own a ReplicaSet, which owns the pods', () => {
    const [replicaSet] = listObjects(cluster, 'ReplicaSet')
    expect(replicaSet?.metadata.ownerReferences).toEqual([{ kind: 'Deployment', name: 'web' }])
    expect(podAt(cluster, 0).metadata.ownerReferences).toEqual([
      { kind: 'ReplicaSet', name: replicaSet?.metadata.name },
    ])
  })

  it('spread their pods over the workers, from .2 upwards', () => {
    expect(pods(cluster).map(({ status }) => status.podIPs[0])).toEqual([
      '10.244.1.2',
      '10.244.2.2',
      '10.244.1.3',
    ])
  })

  it('replace all pods when the template changes, and reuse a ReplicaSet when it changes back', () => {
    const changed = applied(cluster, deployment('web', 3, { port: '{containerPort: 8080}' }), later)
    expect(pods(changed)).toHaveLength(3)
    const names = new Set(pods(cluster).map(({ metadata }) => metadata.name))
    expect(pods(changed).some(({ metadata }) => names.has(metadata.name))).toBe(false)
    expect(
      listObjects(changed, 'ReplicaSet')
        .map(({ spec }) => spec.replicas)
        .sort(),
    ).toEqual([0, 3])
    const back = applied(changed, deployment('web', 3), later)
    expect(listObjects(back, 'ReplicaSet')).toHaveLength(2)
    expect(pods(back)).toHaveLength(3)
  })

  it('keep the pinned addresses through a template change', () => {
    const pins = '10.244.1.7,10.244.2.8'
    const first = applied(newCluster(), deployment('web', 2, { pins }))
    const second = applied(first, deployment('web', 2, { pins, port: '{containerPort: 81}' }))
    expect(pods(second).flatMap(({ status }) => status.podIPs)).toEqual(['10.244.1.7', '10.244.2.8'])
  })

  it('scale up and down', () => {
    const up = scale(cluster, webDeployment, 5, later)
    expect(up.changes).toEqual([{ verb: 'scaled', ...webDeployment }])
    expect(pods(up.cluster)).toHaveLength(5)
    expect(pods(up.cluster).slice(0, 3)).toEqual(pods(cluster))
    expect(pods(scale(up.cluster, webDeployment, 0, later).cluster)).toEqual([])
  })

  it('give up the not ready pod first, then one of a doubled-up node, then the youngest', () => {
    const unready = setPodCondition(cluster, podAt(cluster, 1).metadata, 'not-ready', later).cluster
    const names = (from: typeof cluster, replicas: number) =>
      pods(scale(from, webDeployment, replicas, later).cluster).map(({ metadata }) => metadata.name)
    const [first, second, third] = pods(cluster).map(({ metadata }) => metadata.name)
    expect(names(unready, 2)).toEqual([first, third])
    expect(names(cluster, 2)).toEqual([first, second])
    expect(names(cluster, 1)).toEqual([second])
  })

  it('replace a pod deleted by hand by one with another name and address', () => {
    const gone = podAt(cluster, 0)
    const after = setPodCondition(cluster, gone.metadata, 'deleted', later).cluster
    expect(pods(after)).toHaveLength(3)
    expect(pods(after).map(({ metadata }) => metadata.name)).not.toContain(gone.metadata.name)
    expect(pods(after).at(-1)?.status.podIPs).toEqual(['10.244.1.4'])
  })

  it('do not count a terminating pod, which stays until it is deleted', () => {
    const dying = podAt(cluster, 0).metadata
    const after = setPodCondition(cluster, dying, 'terminating', later).cluster
    expect(pods(after)).toHaveLength(4)
    const done = setPodCondition(after, dying, 'deleted', later).cluster
    expect(pods(done)).toHaveLength(3)
    expect(pods(done).slice(0, 2)).toEqual(pods(cluster).slice(1))
  })

  it('take everything with them when deleted', () => {
    const { cluster: empty, changes } = deleteObjects(cluster, [webDeployment], later)
    expect(changes).toEqual([{ verb: 'deleted', ...webDeployment }])
    expect([...listObjects(empty, 'Pod'), ...listObjects(empty, 'ReplicaSet')]).toEqual([])
  })

  it('make a ReplicaSet again that was deleted', () => {
    const [replicaSet] = listObjects(cluster, 'ReplicaSet')
    if (!replicaSet) throw new Error('no ReplicaSet')
    const after = deleteObjects(cluster, [{ kind: 'ReplicaSet', ...replicaSet.metadata }], later).cluster
    expect(listObjects(after, 'ReplicaSet').map(({ metadata }) => metadata.name)).toEqual([
      replicaSet.metadata.name,
    ])
    expect(pods(after)).toHaveLength(3)
  })
})

describe('scheduling', () => {
  const pod = (name: string, spec = '') => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {app: ${name}}}
spec: {${spec} containers: [{name: web, image: 'example.test/web:1', ports: [{containerPort: 80}]}]}
`

  it('puts a pod on the control plane only when its nodeName says so', () => {
    const cluster = applied(
      newCluster(),
      `${pod('a', 'nodeName: control-plane,')}---${pod('b')}---${pod('c')}`,
    )
    expect(pods(cluster).map(({ spec }) => spec.nodeName)).toEqual(['control-plane', 'worker1', 'worker2'])
    expect(podAt(cluster, 0).status.podIPs).toEqual(['10.244.0.2'])
  })

  it('uses the control plane when there is nothing else', () => {
    const cluster = applied(newCluster({ workers: 0 }), pod('a'))
    expect(podAt(cluster, 0).spec.nodeName).toBe('control-plane')
  })

  it('leaves a pod of an unknown node Pending and says so', () => {
    const result = apply(newCluster(), pod('a', 'nodeName: node-9,'))
    expect(podAt(result.cluster, 0).status).toEqual({ podIPs: [], ready: false, terminating: false })
    expect(warningsOf(result)).toEqual([
      'test.yaml:2: Pod "a": spec.nodeName: node "node-9" does not exist: pod "a" stays Pending',
    ])
    expect(
      errorsOf(setPodCondition(result.cluster, podAt(result.cluster, 0).metadata, 'ready', now)),
    ).toHaveLength(1)
  })

  it("gives a pod of the host network its node's address", () => {
    const cluster = applied(newCluster(), pod('a', 'hostNetwork: true,'))
    expect(podAt(cluster, 0).status.podIPs).toEqual(['172.18.0.3'])
  })

  it('prefers emptier nodes among equals', () => {
    const busy = applied(newCluster(), deployment('web', 3))
    const cluster = applied(busy, deployment('api', 1))
    expect(pods(cluster).at(-1)?.spec.nodeName).toBe('worker2')
  })

  it('keeps pods Pending when a node is full, and places them once there is room', () => {
    const result = apply(newCluster({ workers: 1 }), deployment('web', 254))
    const pending = pods(result.cluster).filter(({ status }) => status.podIPs.length === 0)
    expect(pending).toHaveLength(1)
    expect(warningsOf(result)[0]).toContain('stays Pending')
    const after = scale(result.cluster, webDeployment, 253, later).cluster
    expect(pods(after).every(({ status }) => status.ready)).toBe(true)
  })
})
