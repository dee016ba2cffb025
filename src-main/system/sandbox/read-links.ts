import type { LinkCounters, LinkInfo } from '../../contract/lab-contract.ts'
import type { HostId } from '../../domain/topology/plan-network.ts'
import { getAddresses } from '../netlink/address-messages.ts'
import { getLinkStatistics, getLinks, type Link } from '../netlink/link-messages.ts'
import type { NetlinkSocket } from '../netlink/socket.ts'

/** A namespace whose links are read. */
export interface LinkPlace {
  readonly host: HostId | 'switch'
  readonly socket: NetlinkSocket
}

/** The two ends of a veth pair. */
export interface CableEnds {
  readonly inner: LinkEnd
  readonly outer: LinkEnd
}

interface LinkEnd {
  readonly host: HostId | 'switch'
  readonly name: string
}

const linkId = ({ host, name }: LinkEnd): string => `${host} ${name}`

/** Every link of these namespaces; a socket is used before the next place is asked for. */
export function readLinks(places: Iterable<LinkPlace>, cables: readonly CableEnds[]): LinkInfo[] {
  const peers = new Map<string, string>()
  for (const cable of cables) {
    const [inner, outer] = [linkId(cable.inner), linkId(cable.outer)]
    peers.set(inner, outer).set(outer, inner)
  }
  const found: LinkInfo[] = []
  for (const { host, socket } of places) {
    const links = getLinks(socket)
    const addresses = getAddresses(socket)
    const names = new Map(links.map(({ index, name }) => [index, name]))
    for (const link of links) {
      const id = linkId({ host, name: link.name })
      const peer = peers.get(id)
      found.push({
        id,
        host,
        name: link.name,
        kind: kindOf(link),
        up: link.isUp,
        addresses: addresses
          .filter((address) => address.link === link.index && address.family === 4)
          .map(({ address, prefixLength }) => `${address}/${prefixLength}`),
        ...(link.master === undefined ? {} : { bridge: names.get(link.master) ?? '' }),
        ...(link.isHairpin === undefined ? {} : { hairpin: link.isHairpin }),
        ...(peer === undefined ? {} : { peer }),
      })
    }
  }
  return found
}

/**
 * Traffic by link. The inner ends of cables in other namespaces (pods) are not asked: what one end of a veth pair has
 * sent the other one has received.
 */
export function readLinkCounters(places: readonly LinkPlace[], cables: readonly CableEnds[]): LinkCounters[] {
  const counters = places.flatMap(({ host, socket }) => {
    const statistics = getLinkStatistics(socket)
    return getLinks(socket).flatMap(({ index, name }): LinkCounters[] => {
      const counted = statistics.get(index)
      if (!counted) return []
      return [
        {
          id: linkId({ host, name }),
          rxPackets: String(counted.rxPackets),
          txPackets: String(counted.txPackets),
          rxBytes: String(counted.rxBytes),
          txBytes: String(counted.txBytes),
        },
      ]
    })
  })
  const read = new Set<string>(places.map(({ host }) => host))
  const byId = new Map(counters.map((each) => [each.id, each]))
  for (const { inner, outer } of cables) {
    const seen = read.has(inner.host) ? undefined : byId.get(linkId(outer))
    if (seen)
      counters.push({
        id: linkId(inner),
        rxPackets: seen.txPackets,
        txPackets: seen.rxPackets,
        rxBytes: seen.txBytes,
        txBytes: seen.rxBytes,
      })
  }
  return counters
}

function kindOf(link: Link): LinkInfo['kind'] {
  if (link.isLoopback) return 'loopback'
  return link.kind === 'veth' || link.kind === 'bridge' ? link.kind : 'other'
}
