import { parseIpAddress } from '../kernel/ip-address.ts'
import type { NamespaceFd } from '../kernel/namespace.ts'
import {
  type BodyWriter,
  messageFlags,
  type NetlinkRequest,
  readIpAddress,
  readS32,
  readString,
  readU8,
  readU16,
  readU32,
  readU64,
  walkAttributes,
  writeBody,
} from './codec.ts'
import type { NetlinkSocket } from './socket.ts'

// Numbers of include/uapi/linux: rtnetlink.h, if_link.h, if_addr.h, neighbour.h, veth.h.
const RTM_NEWLINK = 16
const RTM_DELLINK = 17
const RTM_GETLINK = 18
const RTM_SETLINK = 19
const RTM_NEWADDR = 20
const RTM_DELADDR = 21
const RTM_GETADDR = 22
const RTM_NEWROUTE = 24
const RTM_DELROUTE = 25
const RTM_GETROUTE = 26
const RTM_NEWNEIGH = 28
const RTM_DELNEIGH = 29
const RTM_GETNEIGH = 30
const RTM_NEWSTATS = 92
const RTM_GETSTATS = 94

const AF_UNSPEC = 0
const AF_INET = 2
const AF_BRIDGE = 7
const AF_INET6 = 10

const IFF_UP = 0x1
const IFF_LOOPBACK = 0x8
const IFF_LOWER_UP = 0x10000

const IFLA = {
  address: 1,
  name: 3,
  mtu: 4,
  link: 5,
  master: 10,
  protocolInfo: 12,
  operationalState: 16,
  linkInfo: 18,
  statistics64: 23,
  netnsFd: 28,
  extensionMask: 29,
  transmitQueues: 31,
  receiveQueues: 32,
  linkNetnsId: 37,
} as const
const IFLA_INFO_KIND = 1
const IFLA_INFO_DATA = 2
const IFLA_INFO_SLAVE_DATA = 5
const VETH_INFO_PEER = 1
const IFLA_BR = { forwardDelay: 1, stpState: 5, multicastSnooping: 23, callIptables: 36 } as const
const IFLA_BRPORT_MODE = 4
const RTEXT_FILTER_SKIP_STATS = 8
const IFLA_STATS_LINK_64 = 1

const IFA = { address: 1, local: 2, label: 3, broadcast: 4, flags: 8 } as const
const IFA_F_NODAD = 0x02
const IFA_F_NOPREFIXROUTE = 0x200

const RTA = { dst: 1, oif: 4, gateway: 5, priority: 6, preferredSource: 7, table: 15 } as const
const RTNH_F_ONLINK = 4
const RTPROT_BOOT = 3
const RTM_F_CLONED = 0x200

const NDA_DST = 1
const NDA_LLADDR = 2
const NUD_PERMANENT = 0x80

/** A link by name or by index. */
export type LinkRef = string | number

export interface LinkOptions {
  readonly name: string
  /** Chosen index; the kernel chooses one when absent. */
  readonly index?: number
  readonly mtu?: number
  /** `02:00:0a:f4:01:07`; the kernel draws one when absent. */
  readonly macAddress?: string
  /** Create it directly in that network namespace instead of the socket's. */
  readonly netns?: NamespaceFd
}

/**
 * `ip link add NAME type veth peer name PEER netns …`. One queue each way: more would cost memory and time per
 * processor, and software links gain nothing by them.
 */
export function addVethPair(link: LinkOptions & { readonly peer: LinkOptions }): NetlinkRequest {
  const body = writeBody((w) => {
    writeNewLink(w, link)
    w.nested(IFLA.linkInfo, () => {
      w.attributeString(IFLA_INFO_KIND, 'veth')
      w.nested(IFLA_INFO_DATA, () => w.nested(VETH_INFO_PEER, () => writeNewLink(w, link.peer)))
    })
  })
  return {
    type: RTM_NEWLINK,
    flags: messageFlags.create | messageFlags.exclusive,
    body,
    what: `add veth pair ${link.name} and ${link.peer.name}`,
  }
}

function writeNewLink(w: BodyWriter, link: LinkOptions): void {
  writeLinkHeader(w, AF_UNSPEC, link.index ?? 0, 0, 0)
  w.attributeString(IFLA.name, link.name)
  if (link.mtu !== undefined) w.attributeU32(IFLA.mtu, link.mtu)
  if (link.macAddress !== undefined) w.attributeBytes(IFLA.address, parseMacAddress(link.macAddress))
  if (link.netns) w.attributeU32(IFLA.netnsFd, link.netns.fd)
  w.attributeU32(IFLA.transmitQueues, 1).attributeU32(IFLA.receiveQueues, 1)
}

// struct ifinfomsg: family, padding, device type, index, flags, which flags to change
function writeLinkHeader(w: BodyWriter, family: number, index: number, flags: number, change: number): void {
  w.u8(family).u8(0).u16(0).u32(index).u32(flags).u32(change)
}

export interface BridgeOptions extends LinkOptions {
  /** Pass bridged packets to iptables on this bridge alone (needs br_netfilter; absent: as the sysctl says). */
  readonly callIptables?: boolean
}

/** A bridge without spanning tree, forward delay and multicast snooping: its ports forward at once. */
export function addBridge(bridge: BridgeOptions): NetlinkRequest {
  const body = writeBody((w) => {
    writeNewLink(w, bridge)
    w.nested(IFLA.linkInfo, () => {
      w.attributeString(IFLA_INFO_KIND, 'bridge')
      w.nested(IFLA_INFO_DATA, () => {
        w.attributeU32(IFLA_BR.forwardDelay, 0)
        w.attributeU32(IFLA_BR.stpState, 0)
        w.attributeU8(IFLA_BR.multicastSnooping, 0)
        if (bridge.callIptables !== undefined) {
          w.attributeU8(IFLA_BR.callIptables, bridge.callIptables ? 1 : 0)
        }
      })
    })
  })
  return {
    type: RTM_NEWLINK,
    flags: messageFlags.create | messageFlags.exclusive,
    body,
    what: `add bridge ${bridge.name}`,
  }
}

export interface LinkChange {
  readonly up?: boolean
  /** Index of the bridge to join; 0 leaves it. In one message with `up`, the kernel joins first. */
  readonly master?: number
  readonly netns?: NamespaceFd
  readonly name?: string
  readonly mtu?: number
  readonly macAddress?: string
}

/** `ip link set LINK …`. A rename needs the link's index. */
export function setLink(link: LinkRef, change: LinkChange): NetlinkRequest {
  if (change.name !== undefined && typeof link === 'string') throw new Error('a link is renamed by its index')
  const body = writeBody((w) => {
    const mask = change.up === undefined ? 0 : IFF_UP
    writeLinkHeader(w, AF_UNSPEC, typeof link === 'number' ? link : 0, change.up ? IFF_UP : 0, mask)
    if (typeof link === 'string') w.attributeString(IFLA.name, link)
    if (change.name !== undefined) w.attributeString(IFLA.name, change.name)
    if (change.mtu !== undefined) w.attributeU32(IFLA.mtu, change.mtu)
    if (change.macAddress !== undefined) w.attributeBytes(IFLA.address, parseMacAddress(change.macAddress))
    if (change.master !== undefined) w.attributeU32(IFLA.master, change.master)
    if (change.netns) w.attributeU32(IFLA.netnsFd, change.netns.fd)
  })
  return { type: RTM_NEWLINK, flags: 0, body, what: `set link ${link} ${describe(change)}` }
}

function describe(change: LinkChange): string {
  return Object.entries(change)
    .map(([key, value]) => (typeof value === 'object' ? key : `${key} ${value}`))
    .join(', ')
}

/** Whether the bridge may send a frame back out of the port that it came in by. */
export function setHairpin(portIndex: number, isOn: boolean): NetlinkRequest {
  const body = writeBody((w) => {
    writeLinkHeader(w, AF_BRIDGE, portIndex, 0, 0)
    w.nested(IFLA.protocolInfo, () => w.attributeU8(IFLA_BRPORT_MODE, isOn ? 1 : 0))
  })
  return {
    type: RTM_SETLINK,
    flags: 0,
    body,
    what: `set hairpin ${isOn ? 'on' : 'off'} on port ${portIndex}`,
  }
}

export function deleteLink(link: LinkRef): NetlinkRequest {
  const body = writeBody((w) => {
    writeLinkHeader(w, AF_UNSPEC, typeof link === 'number' ? link : 0, 0, 0)
    if (typeof link === 'string') w.attributeString(IFLA.name, link)
  })
  return { type: RTM_DELLINK, flags: 0, body, what: `delete link ${link}` }
}

export interface LinkAddress {
  /** Index of the link. */
  readonly link: number
  readonly address: string
  readonly prefixLength: number
  readonly broadcast?: string
  /** False: no route to the prefix is made. */
  readonly hasPrefixRoute?: boolean
}

/** IPv6 addresses are usable at once (no duplicate address detection). */
export function addAddress(address: LinkAddress): NetlinkRequest {
  return {
    type: RTM_NEWADDR,
    flags: messageFlags.create | messageFlags.exclusive,
    body: writeAddress(address),
    what: `add address ${address.address}/${address.prefixLength} to link ${address.link}`,
  }
}

export function deleteAddress(address: LinkAddress): NetlinkRequest {
  return {
    type: RTM_DELADDR,
    flags: 0,
    body: writeAddress(address),
    what: `delete address ${address.address}/${address.prefixLength} from link ${address.link}`,
  }
}

function writeAddress(address: LinkAddress): Uint8Array {
  const { family, bytes } = parseIpAddress(address.address)
  return writeBody((w) => {
    // struct ifaddrmsg: family, prefix length, flags, scope, link index
    w.u8(family === 4 ? AF_INET : AF_INET6)
      .u8(address.prefixLength)
      .u8(0)
      .u8(isHostScope(family, bytes) ? routeScopes.host : routeScopes.universe)
    w.u32(address.link)
    w.attributeBytes(IFA.local, bytes).attributeBytes(IFA.address, bytes)
    if (address.broadcast !== undefined) {
      w.attributeBytes(IFA.broadcast, parseIpAddress(address.broadcast).bytes)
    }
    const flags =
      (family === 6 ? IFA_F_NODAD : 0) | (address.hasPrefixRoute === false ? IFA_F_NOPREFIXROUTE : 0)
    if (flags !== 0) w.attributeU32(IFA.flags, flags)
  })
}

function isHostScope(family: 4 | 6, bytes: Uint8Array): boolean {
  return family === 4 && bytes[0] === 127
}

export const routeScopes = { universe: 0, site: 200, link: 253, host: 254, nowhere: 255 } as const
export type RouteScope = keyof typeof routeScopes
export const routeTypes = {
  unicast: 1,
  local: 2,
  broadcast: 3,
  anycast: 4,
  multicast: 5,
  blackhole: 6,
  unreachable: 7,
  prohibit: 8,
} as const
export type RouteType = keyof typeof routeTypes
export const routeTables = { default: 253, main: 254, local: 255 } as const

export interface RouteOptions {
  /** `10.244.1.0/24`; `0.0.0.0/0` or `::/0` for the default route. */
  readonly destination: string
  readonly gateway?: string
  /** Index of the link that it leads out of. */
  readonly link?: number
  /** The gateway is on the link although no prefix says so. */
  readonly isOnLink?: boolean
  /** Absent: link without a gateway, universe with one, as `ip route` does. */
  readonly scope?: RouteScope
  readonly source?: string
  readonly table?: number
  readonly type?: RouteType
  readonly metric?: number
}

export function addRoute(route: RouteOptions): NetlinkRequest {
  return routeRequest('add', RTM_NEWROUTE, messageFlags.create | messageFlags.exclusive, route)
}

export function replaceRoute(route: RouteOptions): NetlinkRequest {
  return routeRequest('replace', RTM_NEWROUTE, messageFlags.create | messageFlags.replace, route)
}

export function deleteRoute(route: RouteOptions): NetlinkRequest {
  return routeRequest('delete', RTM_DELROUTE, 0, route)
}

function routeRequest(verb: string, type: number, flags: number, route: RouteOptions): NetlinkRequest {
  const [network = '', length = ''] = route.destination.split('/')
  const { family, bytes } = parseIpAddress(network)
  const prefixLength = length === '' ? bytes.length * 8 : Number(length)
  const table = route.table ?? routeTables.main
  const routeType = route.type ?? 'unicast'
  const isLinkRoute = route.gateway === undefined && routeType === 'unicast' && family === 4
  // A deletion without a scope matches routes of any.
  const scope =
    route.scope ??
    (type === RTM_DELROUTE ? 'nowhere' : isLinkRoute ? 'link' : routeType === 'local' ? 'host' : 'universe')
  const body = writeBody((w) => {
    // struct rtmsg: family, destination and source length, tos, table, protocol, scope, type, flags
    w.u8(family === 4 ? AF_INET : AF_INET6)
      .u8(prefixLength)
      .u8(0)
      .u8(0)
    w.u8(table < 256 ? table : 0).u8(type === RTM_DELROUTE ? 0 : RTPROT_BOOT)
    w.u8(routeScopes[scope]).u8(type === RTM_DELROUTE && route.type === undefined ? 0 : routeTypes[routeType])
    w.u32(route.isOnLink ? RTNH_F_ONLINK : 0)
    if (prefixLength > 0) w.attributeBytes(RTA.dst, bytes)
    if (route.gateway !== undefined) w.attributeBytes(RTA.gateway, parseIpAddress(route.gateway).bytes)
    if (route.link !== undefined) w.attributeU32(RTA.oif, route.link)
    if (route.source !== undefined) w.attributeBytes(RTA.preferredSource, parseIpAddress(route.source).bytes)
    if (route.metric !== undefined) w.attributeU32(RTA.priority, route.metric)
    if (table > 255) w.attributeU32(RTA.table, table)
  })
  const via = route.gateway === undefined ? '' : ` via ${route.gateway}`
  const out = route.link === undefined ? '' : ` on link ${route.link}`
  return { type, flags, body, what: `${verb} route ${route.destination}${via}${out}` }
}

export interface NeighbourOptions {
  readonly link: number
  readonly address: string
  readonly macAddress: string
}

/** A permanent entry: no ARP for this address. An entry that exists is replaced. */
export function setNeighbour(neighbour: NeighbourOptions): NetlinkRequest {
  return {
    type: RTM_NEWNEIGH,
    flags: messageFlags.create | messageFlags.replace,
    body: writeNeighbour(neighbour.link, neighbour.address, neighbour.macAddress),
    what: `set neighbour ${neighbour.address} on link ${neighbour.link}`,
  }
}

export function deleteNeighbour(link: number, address: string): NetlinkRequest {
  return {
    type: RTM_DELNEIGH,
    flags: 0,
    body: writeNeighbour(link, address, undefined),
    what: `delete neighbour ${address} on link ${link}`,
  }
}

function writeNeighbour(link: number, address: string, macAddress: string | undefined): Uint8Array {
  const { family, bytes } = parseIpAddress(address)
  return writeBody((w) => {
    // struct ndmsg: family, padding, link index, state, flags, type
    w.u8(family === 4 ? AF_INET : AF_INET6)
      .zeros(3)
      .u32(link)
    w.u16(macAddress === undefined ? 0 : NUD_PERMANENT)
      .u8(0)
      .u8(0)
    w.attributeBytes(NDA_DST, bytes)
    if (macAddress !== undefined) w.attributeBytes(NDA_LLADDR, parseMacAddress(macAddress))
  })
}

export function parseMacAddress(text: string): Uint8Array {
  if (!/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(text)) throw new Error(`not a MAC address: ${text}`)
  return Uint8Array.from(text.split(':'), (byte) => Number.parseInt(byte, 16))
}

function formatMacAddress(buffer: Buffer, start: number, end: number): string {
  const hex = buffer.toString('hex', start, end)
  return hex.replace(/..(?!$)/g, '$&:')
}

export interface LinkStatistics {
  readonly rxPackets: bigint
  readonly txPackets: bigint
  readonly rxBytes: bigint
  readonly txBytes: bigint
  readonly rxErrors: bigint
  readonly txErrors: bigint
  readonly rxDropped: bigint
  readonly txDropped: bigint
}

const operationalStates = [
  'unknown',
  'notpresent',
  'down',
  'lowerlayerdown',
  'testing',
  'dormant',
  'up',
] as const
export type OperationalState = (typeof operationalStates)[number]

export interface Link {
  readonly index: number
  readonly name: string
  /** `veth`, `bridge`, …; undefined for hardware and loopback. */
  readonly kind: string | undefined
  readonly isUp: boolean
  /** Up, and the other end too. */
  readonly hasCarrier: boolean
  readonly isLoopback: boolean
  readonly operationalState: OperationalState
  readonly mtu: number
  readonly macAddress: string | undefined
  /** Index of the bridge that it is a port of. */
  readonly master: number | undefined
  /** Of a bridge's port: whether frames may leave by it that came in by it. */
  readonly isHairpin: boolean | undefined
  /** Index of a veth's other end, in the namespace that `peerNetnsId` numbers (undefined: this one). */
  readonly peer: number | undefined
  readonly peerNetnsId: number | undefined
  readonly statistics: LinkStatistics | undefined
}

/** The links of the socket's namespace, in index order. */
export function getLinks(socket: NetlinkSocket): Link[] {
  const body = writeBody((w) => {
    writeLinkHeader(w, AF_UNSPEC, 0, 0, 0)
    w.attributeU32(IFLA.extensionMask, RTEXT_FILTER_SKIP_STATS) // those of IPv6, which nobody reads here
  })
  return socket.dump({ type: RTM_GETLINK, flags: 0, body, what: 'list links' }, decodeLink)
}

/** The index of a link, or undefined when there is none of that name. */
export function findLinkIndex(socket: NetlinkSocket, name: string): number | undefined {
  return getLinks(socket).find((link) => link.name === name)?.index
}

const linkHeaderLength = 16

export function decodeLink(buffer: Buffer, start: number, end: number, type = RTM_NEWLINK): Link | undefined {
  if (type !== RTM_NEWLINK && type !== RTM_DELLINK) return undefined
  const flags = readU32(buffer, start + 8, end)
  const link: { -readonly [K in keyof Link]: Link[K] } = {
    index: readS32(buffer, start + 4, end),
    name: '',
    kind: undefined,
    isUp: (flags & IFF_UP) !== 0,
    hasCarrier: (flags & IFF_LOWER_UP) !== 0,
    isLoopback: (flags & IFF_LOOPBACK) !== 0,
    operationalState: 'unknown',
    mtu: 0,
    macAddress: undefined,
    master: undefined,
    peer: undefined,
    peerNetnsId: undefined,
    isHairpin: undefined,
    statistics: undefined,
  }
  walkAttributes(buffer, start + linkHeaderLength, end, (attribute, from, to) => {
    switch (attribute) {
      case IFLA.name:
        link.name = readString(buffer, from, to)
        break
      case IFLA.address:
        link.macAddress = formatMacAddress(buffer, from, to)
        break
      case IFLA.mtu:
        link.mtu = readU32(buffer, from, to)
        break
      case IFLA.master:
        link.master = readU32(buffer, from, to)
        break
      case IFLA.link:
        link.peer = readU32(buffer, from, to)
        break
      case IFLA.linkNetnsId:
        link.peerNetnsId = readS32(buffer, from, to)
        break
      case IFLA.operationalState:
        link.operationalState = operationalStates[readU8(buffer, from, to)] ?? 'unknown'
        break
      case IFLA.linkInfo:
        walkAttributes(buffer, from, to, (inner, innerFrom, innerTo) => {
          if (inner === IFLA_INFO_KIND) link.kind = readString(buffer, innerFrom, innerTo)
          else if (inner === IFLA_INFO_SLAVE_DATA)
            walkAttributes(buffer, innerFrom, innerTo, (port, portFrom, portTo) => {
              if (port === IFLA_BRPORT_MODE) link.isHairpin = readU8(buffer, portFrom, portTo) !== 0
            })
        })
        break
      case IFLA.statistics64:
        link.statistics = decodeStatistics(buffer, from, to)
        break
    }
  })
  return link
}

// struct rtnl_link_stats64
function decodeStatistics(buffer: Buffer, start: number, end: number): LinkStatistics {
  const at = (place: number) => readU64(buffer, start + 8 * place, end)
  return {
    rxPackets: at(0),
    txPackets: at(1),
    rxBytes: at(2),
    txBytes: at(3),
    rxErrors: at(4),
    txErrors: at(5),
    rxDropped: at(6),
    txDropped: at(7),
  }
}

/** Statistics alone, by link index: the cheap read for sampling. */
export function getLinkStatistics(socket: NetlinkSocket): Map<number, LinkStatistics> {
  // struct if_stats_msg: family, padding, link index, mask of what is wanted
  const body = writeBody((w) =>
    w
      .zeros(4)
      .u32(0)
      .u32(1 << (IFLA_STATS_LINK_64 - 1)),
  )
  const entries = socket.dump(
    { type: RTM_GETSTATS, flags: 0, body, what: 'list link statistics' },
    (buffer, start, end, type): [number, LinkStatistics] | undefined => {
      if (type !== RTM_NEWSTATS) return undefined
      let statistics: LinkStatistics | undefined
      walkAttributes(buffer, start + 12, end, (attribute, from, to) => {
        if (attribute === IFLA_STATS_LINK_64) statistics = decodeStatistics(buffer, from, to)
      })
      return statistics ? [readU32(buffer, start + 4, end), statistics] : undefined
    },
  )
  return new Map(entries)
}

export interface Address {
  readonly link: number
  readonly family: 4 | 6
  readonly address: string
  readonly prefixLength: number
  readonly broadcast: string | undefined
  readonly scope: RouteScope | number
}

export function getAddresses(socket: NetlinkSocket): Address[] {
  const body = writeBody((w) => w.zeros(8))
  return socket.dump({ type: RTM_GETADDR, flags: 0, body, what: 'list addresses' }, decodeAddress)
}

export function decodeAddress(
  buffer: Buffer,
  start: number,
  end: number,
  type = RTM_NEWADDR,
): Address | undefined {
  if (type !== RTM_NEWADDR && type !== RTM_DELADDR) return undefined
  const family = ipFamily(readU8(buffer, start, end))
  if (!family) return undefined
  let address = ''
  let local: string | undefined
  let broadcast: string | undefined
  walkAttributes(buffer, start + 8, end, (attribute, from, to) => {
    if (attribute === IFA.address) address = readIpAddress(buffer, from, to)
    else if (attribute === IFA.local) local = readIpAddress(buffer, from, to)
    else if (attribute === IFA.broadcast) broadcast = readIpAddress(buffer, from, to)
  })
  return {
    link: readU32(buffer, start + 4, end),
    family,
    // On point-to-point links IFA_ADDRESS is the other side.
    address: local ?? address,
    prefixLength: readU8(buffer, start + 1, end),
    broadcast,
    scope: scopeOf(readU8(buffer, start + 3, end)),
  }
}

function ipFamily(family: number): 4 | 6 | undefined {
  if (family === AF_INET) return 4
  if (family === AF_INET6) return 6
  return undefined
}

const scopeNames = new Map<number, RouteScope>(
  Object.entries(routeScopes).map(([name, value]) => [value, name as RouteScope]),
)
const typeNames = new Map<number, RouteType>(
  Object.entries(routeTypes).map(([name, value]) => [value, name as RouteType]),
)

function scopeOf(value: number): RouteScope | number {
  return scopeNames.get(value) ?? value
}

export interface Route {
  readonly family: 4 | 6
  /** With its length: `0.0.0.0/0` is the default route. */
  readonly destination: string
  readonly gateway: string | undefined
  readonly link: number | undefined
  readonly source: string | undefined
  readonly metric: number | undefined
  readonly table: number
  readonly type: RouteType | number
  readonly scope: RouteScope | number
  /** Who made it: 2 kernel, 3 boot, 4 static. */
  readonly protocol: number
  readonly isOnLink: boolean
}

/** The routes of one table of the socket's namespace, both families; all tables with `table` 0. */
export function getRoutes(socket: NetlinkSocket, { table = routeTables.main as number } = {}): Route[] {
  const body = writeBody((w) => w.zeros(12))
  const request: NetlinkRequest = { type: RTM_GETROUTE, flags: 0, body, what: 'list routes' }
  return socket.dump(request, decodeRoute).filter((route) => table === 0 || route.table === table)
}

export function decodeRoute(
  buffer: Buffer,
  start: number,
  end: number,
  type = RTM_NEWROUTE,
): Route | undefined {
  if (type !== RTM_NEWROUTE && type !== RTM_DELROUTE) return undefined
  const family = ipFamily(readU8(buffer, start, end))
  const flags = readU32(buffer, start + 8, end)
  if (!family || flags & RTM_F_CLONED) return undefined
  const prefixLength = readU8(buffer, start + 1, end)
  let network = family === 4 ? '0.0.0.0' : '::'
  let gateway: string | undefined
  let link: number | undefined
  let source: string | undefined
  let metric: number | undefined
  let table = readU8(buffer, start + 4, end)
  walkAttributes(buffer, start + 12, end, (attribute, from, to) => {
    switch (attribute) {
      case RTA.dst:
        network = readIpAddress(buffer, from, to)
        break
      case RTA.gateway:
        gateway = readIpAddress(buffer, from, to)
        break
      case RTA.oif:
        link = readU32(buffer, from, to)
        break
      case RTA.preferredSource:
        source = readIpAddress(buffer, from, to)
        break
      case RTA.priority:
        metric = readU32(buffer, from, to)
        break
      case RTA.table:
        table = readU32(buffer, from, to)
        break
    }
  })
  const routeType = readU8(buffer, start + 7, end)
  return {
    family,
    destination: `${network}/${prefixLength}`,
    gateway,
    link,
    source,
    metric,
    table,
    type: typeNames.get(routeType) ?? routeType,
    scope: scopeOf(readU8(buffer, start + 6, end)),
    protocol: readU8(buffer, start + 5, end),
    isOnLink: (flags & RTNH_F_ONLINK) !== 0,
  }
}

export interface Neighbour {
  readonly link: number
  readonly address: string
  readonly macAddress: string | undefined
  /** NUD_* bits: 0x02 reachable, 0x04 stale, 0x20 failed, 0x80 permanent. */
  readonly state: number
}

export function getNeighbours(socket: NetlinkSocket): Neighbour[] {
  const body = writeBody((w) => w.zeros(12))
  return socket.dump({ type: RTM_GETNEIGH, flags: 0, body, what: 'list neighbours' }, decodeNeighbour)
}

export function decodeNeighbour(
  buffer: Buffer,
  start: number,
  end: number,
  type = RTM_NEWNEIGH,
): Neighbour | undefined {
  if (type !== RTM_NEWNEIGH && type !== RTM_DELNEIGH) return undefined
  if (!ipFamily(readU8(buffer, start, end))) return undefined
  let address = ''
  let macAddress: string | undefined
  walkAttributes(buffer, start + 12, end, (attribute, from, to) => {
    if (attribute === NDA_DST) address = readIpAddress(buffer, from, to)
    else if (attribute === NDA_LLADDR && to > from) macAddress = formatMacAddress(buffer, from, to)
  })
  return {
    link: readU32(buffer, start + 4, end),
    address,
    macAddress,
    state: readU16(buffer, start + 8, end),
  }
}
