import type { Pod } from '../kubernetes/objects.ts'
import { gatewayOf, type NodePlace } from '../topology/plan-network.ts'

/** A namespace of the lab that an address belongs to. */
export interface LabHost {
  readonly kind: 'client' | 'node' | 'pod'
  /** A pod's name without its Kubernetes namespace. */
  readonly name: string
  /** Of a pod: the node it runs on. */
  readonly node?: string
}

/** Who has an address besides the pods. */
export interface LabAddresses {
  readonly nodes: readonly NodePlace[]
  readonly client: { readonly address: string }
}

/** By address; a node's are its own and its pod bridge's. */
export type LabHosts = ReadonlyMap<string, LabHost>

export function labHosts(lab: LabAddresses, pods: readonly Pod[]): LabHosts {
  const hosts = new Map<string, LabHost>([[lab.client.address, { kind: 'client', name: 'client' }]])
  for (const { name, address, podCIDR } of lab.nodes)
    for (const own of [address, gatewayOf(podCIDR)]) hosts.set(own, { kind: 'node', name })
  for (const { metadata, spec, status: state } of pods)
    if (!spec.hostNetwork)
      for (const address of state.podIPs)
        hosts.set(address, { kind: 'pod', name: metadata.name, node: spec.nodeName })
  return hosts
}

/** `the client`, `worker1`, `pod web-7b59-bxcvs`. */
export function hostWords({ kind, name }: LabHost): string {
  switch (kind) {
    case 'client':
      return 'the client'
    case 'node':
      return name
    case 'pod':
      return `pod ${name}`
    default:
      return kind satisfies never
  }
}
