import type { LinkInfo } from '../../src-main/contract/lab-contract.ts'
import type { Pod } from '../../src-main/domain/kubernetes/objects.ts'
import { type PodState, podState } from '../frame/lab-words.ts'

/** A veth pair; `far` is the end that hangs on a bridge or in the pod's node, `near` that of the pod, node or client. */
export interface Cable {
  /** The link id of `far`: that is what a selection names. */
  readonly id: string
  readonly near: LinkInfo
  readonly far: LinkInfo
}

export interface PodItem {
  /** `pod/NAMESPACE/NAME`. */
  readonly id: string
  readonly namespace: string
  readonly name: string
  readonly node: string
  readonly address: string
  readonly state: PodState
  /** Missing while a pod begins or ends, and for pods in their node's own network. */
  readonly cable: Cable | undefined
  readonly hostNetwork: boolean
}

export interface NodeItem {
  readonly name: string
  /** Of `eth0`, with prefix length; empty while unknown. */
  readonly address: string
  readonly cable: Cable | undefined
  readonly bridge: LinkInfo | undefined
  /** Pods hang on links of their own, with a route each, not on ports of the bridge. */
  readonly routed: boolean
  readonly pods: readonly PodItem[]
  /** Links that the lab did not lay: somebody made them by hand. */
  readonly extra: readonly LinkInfo[]
}

export interface TopologyModel {
  readonly switch: LinkInfo | undefined
  readonly client: { readonly address: string; readonly cable: Cable | undefined }
  readonly nodes: readonly NodeItem[]
}

export const podId = (namespace: string, name: string): string => `pod/${namespace}/${name}`

/** What the picture shows, from the links that really stand in the kernel and the pods that the lab knows. */
export function buildTopology(
  links: readonly LinkInfo[],
  pods: readonly Pod[],
  nodeNames: readonly string[],
): TopologyModel {
  const byId = new Map(links.map((link) => [link.id, link]))
  const farEnds = new Map(links.flatMap((link) => (link.peer === undefined ? [] : [[link.peer, link]])))
  const cableOf = (host: string): Cable | undefined => {
    const near = byId.get(`${host} eth0`)
    const far = near && farEnds.get(near.id)
    return far ? { id: far.id, near, far } : undefined
  }
  const podItems = pods.map((pod): PodItem => {
    const { namespace, name } = pod.metadata
    const id = podId(namespace, name)
    return {
      id,
      namespace,
      name,
      node: pod.spec.nodeName,
      address: pod.status.podIPs[0] ?? '',
      state: podState(pod),
      cable: pod.spec.hostNetwork ? undefined : cableOf(id),
      hostNetwork: pod.spec.hostNetwork,
    }
  })
  const nodes = nodeNames.map((name): NodeItem => {
    const host = `node/${name}`
    const placed = podItems.filter(({ node }) => node === name).toSorted(byAddress)
    const known = new Set(['eth0', 'lo', 'cni0', ...placed.flatMap(({ cable }) => cable?.far.name ?? [])])
    const cables = placed.flatMap(({ cable }) => cable ?? [])
    return {
      name,
      address: byId.get(`${host} eth0`)?.addresses[0] ?? '',
      cable: cableOf(host),
      bridge: byId.get(`${host} cni0`),
      routed: cables.length > 0 && cables.every(({ far }) => far.bridge === undefined),
      pods: placed,
      // A veth whose pod is about to come or has just gone is not somebody's own.
      extra: links.filter(
        (link) =>
          link.host === host &&
          !known.has(link.name) &&
          !(link.kind === 'veth' && link.peer?.startsWith('pod/')),
      ),
    }
  })
  return {
    switch: links.find(({ host, kind }) => host === 'switch' && kind === 'bridge'),
    client: { address: byId.get('client eth0')?.addresses[0] ?? '', cable: cableOf('client') },
    nodes,
  }
}

/** Every cable in the picture. */
export function cablesOf(model: TopologyModel): Cable[] {
  const { client, nodes } = model
  return [
    client.cable,
    ...nodes.flatMap(({ cable, pods }) => [cable, ...pods.map((pod) => pod.cable)]),
  ].filter((cable) => cable !== undefined)
}

export function findPodItem(model: TopologyModel, namespace: string, name: string): PodItem | undefined {
  const id = podId(namespace, name)
  return model.nodes.flatMap(({ pods }) => pods).find((pod) => pod.id === id)
}

/** `http-server-7b59b8c6d-bxcvs` in the part that may be cut and the part that tells it from its siblings. */
export function splitPodName(name: string): { readonly head: string; readonly tail: string } {
  const match = /^(.+)(-[a-z0-9]{5})$/.exec(name)
  return match?.[1] && match[2] ? { head: match[1], tail: match[2] } : { head: name, tail: '' }
}

function byAddress(one: PodItem, other: PodItem): number {
  return addressNumber(one.address) - addressNumber(other.address) || one.id.localeCompare(other.id)
}

/** Addresses in their own order, not that of their letters; what is none comes first. */
function addressNumber(address: string): number {
  const octets = address.split('.').map(Number)
  return octets.length === 4 ? octets.reduce((sum, octet) => sum * 256 + octet, 0) : -1
}
