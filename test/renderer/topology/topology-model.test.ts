import { expect, test } from 'vitest'
import { describeLink } from '../../../src-renderer/topology/describe-link.ts'
import { topologyActions } from '../../../src-renderer/topology/topology-actions.ts'
import { buildTopology, cablesOf, splitPodName } from '../../../src-renderer/topology/topology-model.ts'
import { linksOf, manyPods, NODES, pod } from './sample-cluster.ts'

test('every pod hangs on its node by the cable that the kernel has', () => {
  const pods = manyPods(4)
  const model = buildTopology(linksOf(pods), pods, NODES)
  expect(model.nodes.map(({ name, address, pods: own }) => [name, address, own.length])).toEqual([
    ['control-plane', '172.18.0.2/16', 0],
    ['worker1', '172.18.0.3/16', 2],
    ['worker2', '172.18.0.4/16', 2],
  ])
  expect(model.nodes[1]?.pods[0]?.cable?.id).toBe('node/worker1 veth0001')
  expect(cablesOf(model)).toHaveLength(1 + 3 + 4)
  expect(model.nodes.flatMap(({ extra }) => extra)).toEqual([])
})

test('pods stand in the order of their addresses', () => {
  const pods = [pod('late', 'worker1', '10.244.1.10'), pod('early', 'worker1', '10.244.1.9')]
  const [, worker] = buildTopology(linksOf(pods), pods, NODES).nodes
  expect(worker?.pods.map(({ name }) => name)).toEqual(['early', 'late'])
})

test('a pod whose cable is not there yet, or whose network is the node’s, has none', () => {
  const host = pod('on-node', 'worker1', '172.18.0.3')
  const pods = [
    pod('coming', 'worker1', '10.244.1.2'),
    { ...host, spec: { ...host.spec, hostNetwork: true } },
  ]
  const [, worker] = buildTopology(linksOf([]), pods, NODES).nodes
  expect(worker?.pods.map(({ cable, hostNetwork }) => [cable, hostNetwork])).toEqual([
    [undefined, false],
    [undefined, true],
  ])
})

test('states are said in words', () => {
  const pods = [
    pod('a', 'worker1', '10.244.1.2'),
    pod('b', 'worker1', '10.244.1.3', { ready: false }),
    pod('c', 'worker1', '10.244.1.4', { terminating: true }),
  ]
  const [, worker] = buildTopology(linksOf(pods), pods, NODES).nodes
  expect(worker?.pods.map(({ state }) => state)).toEqual(['ready', 'not ready', 'terminating'])
})

test('links that somebody made by hand are told apart, those of a pod that has just gone are not', () => {
  const links = [
    ...linksOf(manyPods(1)),
    {
      id: 'node/worker1 dummy0',
      host: 'node/worker1',
      name: 'dummy0',
      kind: 'other',
      up: false,
      addresses: [],
    } as const,
  ]
  expect(buildTopology(links, [], NODES).nodes[1]?.extra.map(({ name }) => name)).toEqual(['dummy0'])
})

test('routed links are drawn as routed', () => {
  const pods = manyPods(2)
  expect(
    buildTopology(linksOf(pods, { routed: true }), pods, NODES).nodes.map(({ routed }) => routed),
  ).toEqual([false, true, true])
})

test('a pod name is cut before its own end', () => {
  expect(splitPodName('http-server-7b59b8c6d-bxcvs')).toEqual({
    head: 'http-server-7b59b8c6d',
    tail: '-bxcvs',
  })
  expect(splitPodName('web')).toEqual({ head: 'web', tail: '' })
})

test('each thing has its actions', () => {
  const pods = [pod('a', 'worker1', '10.244.1.2'), pod('b', 'worker1', '10.244.1.3', { ready: false })]
  const model = buildTopology(linksOf(pods), pods, NODES)
  const labels = (selection: Parameters<typeof topologyActions>[0]): string[] =>
    topologyActions(selection, model).map(({ label }) => label)
  expect(labels({ kind: 'pod', namespace: 'default', name: 'a' })).toEqual([
    'Terminal',
    'Capture',
    'At node',
    'Not ready',
    'Terminating',
    'Delete',
  ])
  expect(labels({ kind: 'pod', namespace: 'default', name: 'b' })).toContain('Ready')
  expect(labels({ kind: 'pod', namespace: 'default', name: 'gone' })).toEqual([])
  expect(labels({ kind: 'node', node: 'worker1' })).toEqual(['Terminal', 'Rules', 'Capture'])
  expect(labels({ kind: 'client' })).toEqual(['Terminal', 'Capture'])
  expect(topologyActions({ kind: 'link', id: 'node/worker1 veth0001' }, model)).toMatchObject([
    { effect: { kind: 'capture', host: 'node/worker1', link: 'veth0001' } },
    { effect: { kind: 'terminal', target: 'node/worker1', command: 'bridge -d link show dev veth0001' } },
  ])
  // The switch is no host with a terminal: its cables are captured at the other end.
  expect(topologyActions({ kind: 'link', id: 'switch sw-node1' }, model)).toMatchObject([
    { effect: { kind: 'capture', host: 'node/worker1', link: 'eth0' } },
  ])
  expect(topologyActions({ kind: 'link', id: 'switch switch0' }, model)).toEqual([])
})

test('links are described as what they are', () => {
  const pods = manyPods(1)
  const find = (links: ReturnType<typeof linksOf>, id: string) => {
    const found = links.find((link) => link.id === id)
    if (!found) throw new Error(id)
    return found
  }
  const words = (id: string, routed: boolean, ports = 0): string => {
    const links = linksOf(pods, { routed })
    const link = find(links, id)
    return describeLink(link, link.peer === undefined ? undefined : find(links, link.peer), ports)
  }
  expect(words('node/worker1 cni0', false, 1)).toContain('one port')
  expect(words('node/worker1 cni0', true)).toContain('without ports')
  expect(words('node/worker1 veth0001', false)).not.toContain('route')
  expect(words(`pod/default/${pods[0]?.metadata.name} eth0`, true)).toContain('route for the one pod')
  expect(words('node/worker1 eth0', false)).not.toContain('route')
})
