import {
  type Address,
  formatAddress,
  isInRange,
  parseAddress,
  parseCidr,
  usableRange,
} from './allocate-address.ts'
import type { ClusterNode } from './cluster-objects.ts'
import type { Labels } from './objects.ts'

/** The annotation that pins pod addresses, and with them the nodes: `10.244.1.7,10.244.2.8`. */
export const podIpsAnnotation = 'chainwalk.dev/pod-ips'

/** A pinned address and the node whose podCIDR holds it. */
export interface PinnedAddress {
  readonly address: string
  readonly nodeName: string
}

/** What the annotation asks for, in order; `errors` are texts for a Problem at the annotation. */
export function parsePinnedAddresses(
  annotations: Labels,
  nodes: readonly ClusterNode[],
): { pins: readonly PinnedAddress[]; errors: readonly string[] } {
  const text = annotations[podIpsAnnotation]
  if (text === undefined) return { pins: [], errors: [] }
  const pins: PinnedAddress[] = []
  const errors: string[] = []
  for (const part of text.split(',')) {
    const written = part.trim()
    const refuse = (why: string) => errors.push(`Invalid value: ${JSON.stringify(written)}: ${why}`)
    const address = parseAddress(written)
    if (!address) {
      refuse('must be a valid IP address; the annotation holds addresses separated by commas')
      continue
    }
    const node = nodes.find(({ podCIDRs }) => podCIDRs.some((cidr) => holds(cidr, address)))
    const pin = formatAddress(address)
    if (!node) refuse(`lies in no node's podCIDR (${describePodCidrs(nodes)})`)
    else if (!node.podCIDRs.some((cidr) => isForPods(cidr, address))) {
      refuse(`is not for pods: it is the network, bridge or broadcast address of node ${node.name}`)
    } else if (pins.some((earlier) => earlier.address === pin)) refuse('is pinned twice')
    else pins.push({ address: pin, nodeName: node.name })
  }
  return { pins, errors }
}

/** The addresses of a podCIDR that pods may get: all but network, bridge (the first) and broadcast address. */
export function podRange(cidr: string) {
  const range = parseCidr(cidr)
  if (!range) return undefined
  const usable = usableRange(range)
  return { network: range.first, family: usable.family, first: usable.first + 1n, last: usable.last }
}

function holds(cidr: string, address: Address): boolean {
  const range = parseCidr(cidr)
  return range !== undefined && isInRange(range, address)
}

function isForPods(cidr: string, address: Address): boolean {
  const range = podRange(cidr)
  return range !== undefined && isInRange(range, address)
}

function describePodCidrs(nodes: readonly ClusterNode[]): string {
  const shown = nodes.slice(0, 5).map((node) => `${node.name} has ${node.podCIDRs.join(', ') || 'none'}`)
  return nodes.length > shown.length ? `${shown.join('; ')}; …` : shown.join('; ')
}
