import type { LinkInfo } from '../../../src-main/contract/lab-contract.ts'
import type { Pod } from '../../../src-main/domain/kubernetes/objects.ts'

export const NODES = ['control-plane', 'worker1', 'worker2']

export function pod(name: string, node: string, address: string, status: Partial<Pod['status']> = {}): Pod {
  return {
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels: {}, annotations: {} },
    spec: { containers: [], nodeName: node, hostNetwork: false },
    status: { podIPs: address === '' ? [] : [address], ready: true, terminating: false, ...status },
  }
}

/** So many pods, in turn on worker1 and worker2. */
export function manyPods(count: number): Pod[] {
  return Array.from({ length: count }, (_, index) => {
    const worker = (index % 2) + 1
    const suffix = (index + 36 ** 4).toString(36).slice(-5)
    return pod(`web-7b59b8c6d-${suffix}`, `worker${worker}`, `10.244.${worker}.${2 + Math.floor(index / 2)}`)
  })
}

/** The links that a lab lays for these pods. */
export function linksOf(pods: readonly Pod[], { routed = false, nodes = NODES } = {}): LinkInfo[] {
  const switchPort = (host: string, name: string, address: string): LinkInfo[] => [
    {
      id: `switch ${name}`,
      host: 'switch',
      name,
      kind: 'veth',
      up: true,
      addresses: [],
      bridge: 'switch0',
      hairpin: false,
      peer: `${host} eth0`,
    },
    {
      id: `${host} eth0`,
      host,
      name: 'eth0',
      kind: 'veth',
      up: true,
      addresses: [address],
    },
  ]
  return [
    {
      id: 'switch switch0',
      host: 'switch',
      name: 'switch0',
      kind: 'bridge',
      up: true,
      addresses: ['172.18.0.1/16'],
    },
    ...switchPort('client', 'sw-client', '172.18.0.254/16'),
    ...nodes.flatMap((node, index): LinkInfo[] => [
      ...switchPort(`node/${node}`, `sw-node${index}`, `172.18.0.${index + 2}/16`),
      { id: `node/${node} lo`, host: `node/${node}`, name: 'lo', kind: 'loopback', up: true, addresses: [] },
      {
        id: `node/${node} cni0`,
        host: `node/${node}`,
        name: 'cni0',
        kind: 'bridge',
        up: true,
        addresses: [`10.244.${index}.1/24`],
      },
    ]),
    ...pods.flatMap(({ metadata, spec, status }, index): LinkInfo[] => {
      const host = `pod/${metadata.namespace}/${metadata.name}`
      const node = `node/${spec.nodeName}`
      const name = `veth${String(index + 1).padStart(4, '0')}`
      return [
        {
          id: `${node} ${name}`,
          host: node,
          name,
          kind: 'veth',
          up: true,
          addresses: [],
          ...(routed ? {} : { bridge: 'cni0', hairpin: true }),
          peer: `${host} eth0`,
        },
        {
          id: `${host} eth0`,
          host,
          name: 'eth0',
          kind: 'veth',
          up: true,
          addresses: status.podIPs.map((ip) => `${ip}/24`),
          peer: `${node} ${name}`,
        },
      ]
    }),
  ]
}
