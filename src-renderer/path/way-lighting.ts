import type { Hook } from '../../src-main/domain/iptables/check-jumps.ts'
import type { PlaceId } from './netfilter-map.ts'

export type WayName = 'received' | 'forwarded' | 'sent'

/** One of the three ways that a packet can take through a node. */
export interface Way {
  readonly name: WayName
  readonly label: string
  /** One or two sentences for somebody who has never seen iptables. */
  readonly sentence: string
  /** Places and hooks in the order in which the packet comes to them. */
  readonly stations: readonly (PlaceId | Hook)[]
}

export const WAYS: readonly Way[] = [
  {
    name: 'received',
    label: 'Received',
    sentence:
      'The packet is for this node itself: routing finds one of the node’s own addresses, and INPUT lets a process have it.',
    stations: ['in', 'PREROUTING', 'routing', 'INPUT', 'process'],
  },
  {
    name: 'forwarded',
    label: 'Forwarded',
    sentence:
      'The packet is for somebody else, a pod for example. What DNAT in PREROUTING sends to an endpoint goes this way, too.',
    stations: ['in', 'PREROUTING', 'routing', 'FORWARD', 'POSTROUTING', 'out'],
  },
  {
    name: 'sent',
    label: 'Sent',
    sentence:
      'A process of this node sends the packet. nat at OUTPUT may change its destination, so it is routed once more.',
    stations: ['process', 'OUTPUT', 'rerouting', 'POSTROUTING', 'out'],
  },
]

/** Undefined for no way. */
export function wayNamed(name: WayName | undefined): Way | undefined {
  return WAYS.find((way) => way.name === name)
}

/** `lit` and `dimmed` only while a way is chosen. */
export function stationLight(way: Way | undefined, station: PlaceId | Hook): 'plain' | 'lit' | 'dimmed' {
  if (!way) return 'plain'
  return way.stations.includes(station) ? 'lit' : 'dimmed'
}

/** A link is on the way when it joins two stations that follow each other. */
export function linkLight(
  way: Way | undefined,
  link: { readonly from: PlaceId | Hook; readonly to: PlaceId | Hook },
): 'plain' | 'lit' | 'dimmed' {
  if (!way) return 'plain'
  const at = way.stations.indexOf(link.from)
  return at !== -1 && way.stations[at + 1] === link.to ? 'lit' : 'dimmed'
}

/** From 1; undefined where the way does not come to the hook. Places between hooks are not numbered. */
export function stepOf(way: Way | undefined, hook: Hook): number | undefined {
  const hooks = way?.stations.filter((station) => station === station.toUpperCase()) ?? []
  const at = hooks.indexOf(hook)
  return at === -1 ? undefined : at + 1
}
