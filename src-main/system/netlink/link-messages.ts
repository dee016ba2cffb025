import type { NamespaceFd } from '../kernel/namespace.ts'
import {
  type BodyWriter,
  messageFlags,
  type NetlinkRequest,
  readS32,
  readString,
  readU8,
  readU32,
  readU64,
  walkAttributes,
  writeBody,
} from './codec.ts'
import { AF_BRIDGE, AF_UNSPEC, formatMacAddress, parseMacAddress } from './rtnetlink.ts'
import type { NetlinkSocket } from './socket.ts'

// Numbers of include/uapi/linux: rtnetlink.h, if_link.h, veth.h.
const RTM_NEWLINK = 16
const RTM_DELLINK = 17
const RTM_GETLINK = 18
const RTM_SETLINK = 19
const RTM_NEWSTATS = 92
const RTM_GETSTATS = 94

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
