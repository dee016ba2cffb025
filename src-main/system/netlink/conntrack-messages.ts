import { parseIpAddress } from '../kernel/ip-address.ts'
import {
  type BodyWriter,
  messageFlags,
  type NetlinkRequest,
  readIpAddress,
  readU8,
  readU16be,
  readU32be,
  readU64be,
  walkAttributes,
  writeBody,
} from './codec.ts'
import { nfnetlinkFamilies, nfnetlinkGroups, nfnetlinkHeaderLength, subsystem } from './nfnetlink.ts'
import { type NetlinkSocket, openNetlinkSocket } from './socket.ts'
import { type NetlinkWatch, watchNetlink } from './watch.ts'

// Numbers of include/uapi/linux/netfilter/nfnetlink_conntrack.h and nf_conntrack_common.h.
const IPCTNL_MSG_CT_NEW = subsystem.conntrack | 0
const IPCTNL_MSG_CT_GET = subsystem.conntrack | 1
const IPCTNL_MSG_CT_DELETE = subsystem.conntrack | 2

const CTA = {
  original: 1,
  reply: 2,
  status: 3,
  protocolInfo: 4,
  timeout: 7,
  mark: 8,
  countersOriginal: 9,
  countersReply: 10,
  id: 12,
} as const
const CTA_TUPLE_IP = 1
const CTA_TUPLE_PROTO = 2
const CTA_IP = { v4Source: 1, v4Destination: 2, v6Source: 3, v6Destination: 4 } as const
const CTA_PROTO = {
  number: 1,
  sourcePort: 2,
  destinationPort: 3,
  icmpId: 4,
  icmpType: 5,
  icmpCode: 6,
  icmp6Id: 7,
  icmp6Type: 8,
  icmp6Code: 9,
} as const
const CTA_PROTOINFO_TCP = 1
const CTA_PROTOINFO_TCP_STATE = 1
const CTA_COUNTERS_PACKETS = 1
const CTA_COUNTERS_BYTES = 2

/** One direction of a connection. */
export interface ConnectionTuple {
  readonly source: string
  readonly destination: string
  /** IP protocol number: 6 TCP, 17 UDP, 1 ICMP. */
  readonly protocol: number
  /** 0 where the protocol has no ports. */
  readonly sourcePort: number
  readonly destinationPort: number
  /** Identifier, type and code of ICMP and ICMPv6. */
  readonly icmp: { readonly id: number; readonly type: number; readonly code: number } | undefined
}

/** In the kernel's order (enum tcp_conntrack), named as conntrack(8) does. */
const tcpStates = [
  'NONE',
  'SYN_SENT',
  'SYN_RECV',
  'ESTABLISHED',
  'FIN_WAIT',
  'CLOSE_WAIT',
  'LAST_ACK',
  'TIME_WAIT',
  'CLOSE',
  'SYN_SENT2',
] as const
export type TcpState = (typeof tcpStates)[number]

/** Bits of `Connection.status`. */
export const connectionStatus = {
  expected: 0x1,
  seenReply: 0x2,
  assured: 0x4,
  confirmed: 0x8,
  sourceNat: 0x10,
  destinationNat: 0x20,
  dying: 0x200,
  offload: 0x4000,
} as const

export interface Connection {
  readonly family: 4 | 6
  /** Names the entry in its namespace as long as it lives; `ct id` of nft and of trace events. */
  readonly id: number
  readonly original: ConnectionTuple
  /** What answers look like: after DNAT its source is the chosen endpoint. */
  readonly reply: ConnectionTuple
  readonly status: number
  readonly tcpState: TcpState | undefined
  readonly mark: number
  /** Seconds until the entry goes, unless packets come; undefined where a message does not say. */
  readonly timeoutSeconds: number | undefined
  /** Where net.netfilter.nf_conntrack_acct is on. */
  readonly originalCounters: { readonly packets: bigint; readonly bytes: bigint } | undefined
  readonly replyCounters: { readonly packets: bigint; readonly bytes: bigint } | undefined
}

export interface ConnectionEvent {
  readonly change: 'new' | 'update' | 'destroy'
  readonly connection: Connection
}

const noTuple: ConnectionTuple = {
  source: '',
  destination: '',
  protocol: 0,
  sourcePort: 0,
  destinationPort: 0,
  icmp: undefined,
}

/** The namespace's connections, of both families. */
export function getConnections(socket: NetlinkSocket): Connection[] {
  const body = writeBody((w) => w.zeros(nfnetlinkHeaderLength))
  return socket.dump({ type: IPCTNL_MSG_CT_GET, flags: 0, body, what: 'list connections' }, decodeConnection)
}

/** Forgets a connection: its next packet meets the nat rules again. ENOENT when it has gone by itself. */
export function deleteConnection(connection: Pick<Connection, 'family' | 'id' | 'original'>): NetlinkRequest {
  const { original, family, id } = connection
  const body = writeBody((w) => {
    w.u8(family === 4 ? nfnetlinkFamilies.ip : nfnetlinkFamilies.ip6)
      .u8(0)
      .u16be(0)
    w.nested(CTA.original, () => writeTuple(w, original, family))
    w.attributeU32be(CTA.id, id)
  })
  const what = `delete connection ${original.source}:${original.sourcePort} to ${original.destination}:${original.destinationPort}`
  return { type: IPCTNL_MSG_CT_DELETE, flags: 0, body, what }
}

/** Forgets them all; those that have gone by themselves meanwhile are passed over. */
export function deleteConnections(socket: NetlinkSocket, connections: readonly Connection[]): void {
  const failure = socket
    .tryRequest(connections.map(deleteConnection))
    .find(({ error }) => error.code !== 'ENOENT')
  if (failure) throw failure.error
}

function writeTuple(w: BodyWriter, tuple: ConnectionTuple, family: 4 | 6): void {
  w.nested(CTA_TUPLE_IP, () => {
    w.attributeBytes(family === 4 ? CTA_IP.v4Source : CTA_IP.v6Source, parseIpAddress(tuple.source).bytes)
    w.attributeBytes(
      family === 4 ? CTA_IP.v4Destination : CTA_IP.v6Destination,
      parseIpAddress(tuple.destination).bytes,
    )
  })
  w.nested(CTA_TUPLE_PROTO, () => {
    w.attributeU8(CTA_PROTO.number, tuple.protocol)
    if (tuple.icmp) {
      w.attribute(family === 4 ? CTA_PROTO.icmpId : CTA_PROTO.icmp6Id, () => w.u16be(tuple.icmp?.id ?? 0))
      w.attributeU8(family === 4 ? CTA_PROTO.icmpType : CTA_PROTO.icmp6Type, tuple.icmp.type)
      w.attributeU8(family === 4 ? CTA_PROTO.icmpCode : CTA_PROTO.icmp6Code, tuple.icmp.code)
    } else {
      w.attribute(CTA_PROTO.sourcePort, () => w.u16be(tuple.sourcePort))
      w.attribute(CTA_PROTO.destinationPort, () => w.u16be(tuple.destinationPort))
    }
  })
}

/** A message of the conntrack groups; undefined for what is no connection. */
export function decodeConnectionEvent(
  buffer: Buffer,
  start: number,
  end: number,
  type: number,
  flags: number,
): ConnectionEvent | undefined {
  const connection = decodeConnection(buffer, start, end, type)
  if (!connection) return undefined
  if (type === IPCTNL_MSG_CT_DELETE) return { change: 'destroy', connection }
  return { change: flags & messageFlags.create ? 'new' : 'update', connection }
}

export function decodeConnection(
  buffer: Buffer,
  start: number,
  end: number,
  type = IPCTNL_MSG_CT_NEW,
): Connection | undefined {
  if (type !== IPCTNL_MSG_CT_NEW && type !== IPCTNL_MSG_CT_DELETE) return undefined
  const family = readU8(buffer, start, end)
  if (family !== nfnetlinkFamilies.ip && family !== nfnetlinkFamilies.ip6) return undefined
  const connection: { -readonly [K in keyof Connection]: Connection[K] } = {
    family: family === nfnetlinkFamilies.ip ? 4 : 6,
    id: 0,
    original: noTuple,
    reply: noTuple,
    status: 0,
    tcpState: undefined,
    mark: 0,
    timeoutSeconds: undefined,
    originalCounters: undefined,
    replyCounters: undefined,
  }
  walkAttributes(buffer, start + nfnetlinkHeaderLength, end, (attribute, from, to) => {
    switch (attribute) {
      case CTA.original:
        connection.original = decodeTuple(buffer, from, to)
        break
      case CTA.reply:
        connection.reply = decodeTuple(buffer, from, to)
        break
      case CTA.status:
        connection.status = readU32be(buffer, from, to)
        break
      case CTA.protocolInfo:
        connection.tcpState = decodeTcpState(buffer, from, to)
        break
      case CTA.timeout:
        connection.timeoutSeconds = readU32be(buffer, from, to)
        break
      case CTA.mark:
        connection.mark = readU32be(buffer, from, to)
        break
      case CTA.countersOriginal:
        connection.originalCounters = decodeCounters(buffer, from, to)
        break
      case CTA.countersReply:
        connection.replyCounters = decodeCounters(buffer, from, to)
        break
      case CTA.id:
        connection.id = readU32be(buffer, from, to)
        break
    }
  })
  return connection
}

function decodeTuple(buffer: Buffer, start: number, end: number): ConnectionTuple {
  const tuple: { -readonly [K in keyof ConnectionTuple]: ConnectionTuple[K] } = { ...noTuple }
  walkAttributes(buffer, start, end, (part, from, to) => {
    if (part === CTA_TUPLE_IP) {
      walkAttributes(buffer, from, to, (attribute, at, stop) => {
        const text = readIpAddress(buffer, at, stop)
        if (attribute === CTA_IP.v4Source || attribute === CTA_IP.v6Source) tuple.source = text
        else tuple.destination = text
      })
    } else if (part === CTA_TUPLE_PROTO) decodeProtocol(buffer, from, to, tuple)
  })
  return tuple
}

function decodeProtocol(
  buffer: Buffer,
  start: number,
  end: number,
  tuple: { -readonly [K in keyof ConnectionTuple]: ConnectionTuple[K] },
): void {
  let isIcmp = false
  const icmp = { id: 0, type: 0, code: 0 }
  walkAttributes(buffer, start, end, (attribute, from, to) => {
    switch (attribute) {
      case CTA_PROTO.number:
        tuple.protocol = readU8(buffer, from, to)
        break
      case CTA_PROTO.sourcePort:
        tuple.sourcePort = readU16be(buffer, from, to)
        break
      case CTA_PROTO.destinationPort:
        tuple.destinationPort = readU16be(buffer, from, to)
        break
      case CTA_PROTO.icmpId:
      case CTA_PROTO.icmp6Id:
        isIcmp = true
        icmp.id = readU16be(buffer, from, to)
        break
      case CTA_PROTO.icmpType:
      case CTA_PROTO.icmp6Type:
        icmp.type = readU8(buffer, from, to)
        break
      case CTA_PROTO.icmpCode:
      case CTA_PROTO.icmp6Code:
        icmp.code = readU8(buffer, from, to)
        break
    }
  })
  if (isIcmp) tuple.icmp = icmp
}

function decodeTcpState(buffer: Buffer, start: number, end: number): TcpState | undefined {
  let state: TcpState | undefined
  walkAttributes(buffer, start, end, (protocol, from, to) => {
    if (protocol !== CTA_PROTOINFO_TCP) return
    walkAttributes(buffer, from, to, (attribute, at, stop) => {
      if (attribute === CTA_PROTOINFO_TCP_STATE) state = tcpStates[readU8(buffer, at, stop)]
    })
  })
  return state
}

function decodeCounters(buffer: Buffer, start: number, end: number): { packets: bigint; bytes: bigint } {
  const counters = { packets: 0n, bytes: 0n }
  walkAttributes(buffer, start, end, (attribute, from, to) => {
    if (attribute === CTA_COUNTERS_PACKETS) counters.packets = readU64be(buffer, from, to)
    else if (attribute === CTA_COUNTERS_BYTES) counters.bytes = readU64be(buffer, from, to)
  })
  return counters
}

export interface ConnectionWatcher {
  onEvent(event: ConnectionEvent): void
  /** All events that were waiting have been given. */
  onPause?(): void
  /** Events were lost: read `getConnections` anew if the whole matters. */
  onOverrun(): void
  onError(error: Error): void
}

const groups = {
  new: nfnetlinkGroups.conntrackNew,
  update: nfnetlinkGroups.conntrackUpdate,
  destroy: nfnetlinkGroups.conntrackDestroy,
} as const

/**
 * Follows the connections of the calling thread's network namespace from now on. An entry is new when its first
 * packet has left or been delivered, all NAT done: dropped packets make no event.
 */
export function watchConnections(
  watcher: ConnectionWatcher,
  changes: readonly ConnectionEvent['change'][] = ['new', 'destroy'],
): NetlinkWatch {
  const socket = openNetlinkSocket('netfilter', { isBlocking: false, receiveBufferBytes: 4 * 1024 * 1024 })
  for (const change of changes) socket.join(groups[change])
  return watchNetlink(socket, {
    onMessage(buffer, start, end, type, flags) {
      const event = decodeConnectionEvent(buffer, start, end, type, flags)
      if (event) watcher.onEvent(event)
    },
    onPause: () => watcher.onPause?.(),
    onOverrun: () => watcher.onOverrun(),
    onError: (error) => watcher.onError(error),
  })
}
