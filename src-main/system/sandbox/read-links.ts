import type { LinkCounters, LinkInfo } from '../../contract/lab-contract.ts'
import type { HostId } from '../../domain/topology/plan-network.ts'
import { getAddresses, getLinkStatistics, getLinks, type Link } from '../netlink/route-messages.ts'
import type { NetlinkSocket } from '../netlink/socket.ts'

/** A namespace whose links are read. */
export interface LinkPlace {
  readonly host: HostId | 'switch'
  readonly socket: NetlinkSocket
  /** The cables whose outer ends lie here, by name, and where their inner ends are. */
  cables?: readonly {
    readonly outer: string
    readonly inner: { readonly host: HostId; readonly name: string }
  }[]
}

const linkId = (host: string, name: string): string => `${host} ${name}`

/**
 * The links of these namespaces, and of those at the inner ends of their cables (pods, whose own sockets are
 * closed): such an end is told from its other end.
 */
export function readLinks(places: readonly LinkPlace[]): LinkInfo[] {
  const read = new Set<string>(places.map(({ host }) => host))
  return places.flatMap(({ host, socket, cables = [] }) => {
    const links = getLinks(socket)
    const addresses = getAddresses(socket)
    const names = new Map(links.map(({ index, name }) => [index, name]))
    return links.flatMap((link): LinkInfo[] => {
      const inner = cables.find(({ outer }) => outer === link.name)?.inner
      const own: LinkInfo = {
        id: linkId(host, link.name),
        host,
        name: link.name,
        kind: kindOf(link),
        up: link.isUp,
        addresses: addresses
          .filter((address) => address.link === link.index && address.family === 4)
          .map(({ address, prefixLength }) => `${address}/${prefixLength}`),
        ...(link.master === undefined ? {} : { bridge: names.get(link.master) ?? '' }),
        ...(link.isHairpin === undefined ? {} : { hairpin: link.isHairpin }),
        ...(inner ? { peer: linkId(inner.host, inner.name) } : {}),
      }
      if (!inner || read.has(inner.host)) return [own]
      const end = { id: linkId(inner.host, inner.name), host: inner.host, name: inner.name }
      return [own, { ...end, kind: 'veth', up: link.hasCarrier, addresses: [], peer: own.id }]
    })
  })
}

/** Traffic by link; a pod's end counts the other way round from its node's. */
export function readLinkCounters(places: readonly LinkPlace[]): LinkCounters[] {
  return places.flatMap(({ host, socket }) => {
    const statistics = getLinkStatistics(socket)
    return getLinks(socket).flatMap(({ index, name }) => {
      const counted = statistics.get(index)
      if (!counted) return []
      return [
        {
          id: linkId(host, name),
          rxPackets: String(counted.rxPackets),
          txPackets: String(counted.txPackets),
          rxBytes: String(counted.rxBytes),
          txBytes: String(counted.txBytes),
        },
      ]
    })
  })
}

function kindOf(link: Link): LinkInfo['kind'] {
  if (link.isLoopback) return 'loopback'
  return link.kind === 'veth' || link.kind === 'bridge' ? link.kind : 'other'
}
