import type { ConnectionState, HopPacket } from './journey.ts'
import { type Address, parseAddress } from './walk-address.ts'

export interface Endpoint {
  readonly address: string
  readonly port?: number
}

/**
 * What conntrack knows of a packet's connection from earlier packets. Its presence says that the nat table has been
 * asked already: it is not asked again, and the packet is translated as was decided then.
 */
export interface KnownConnection {
  /** The destination that this packet gets (DNAT, or a reply whose request was SNATed). Absent: it keeps its own. */
  readonly destination?: Endpoint
  readonly source?: Endpoint
  /** Whether the connection as a whole has been translated, whichever way this packet goes. */
  readonly dnat?: boolean
  readonly snat?: boolean
  readonly mark?: number
  readonly direction?: 'original' | 'reply'
}

/** The packet to be walked, as the node meets it. */
export interface WalkPacket {
  /** `tcp`, `udp`, `icmp`, …; a number for what has no name. */
  readonly protocol: string
  readonly src: string
  readonly dst: string
  readonly sport?: number
  readonly dport?: number
  /** The interface that it comes in by, the bridge for a bridge's port. Absent: a process of the node sends it. */
  readonly in?: string
  /** The bridge port that it comes in by. */
  readonly physIn?: string
  /** True for a frame to another port of the same bridge: the node switches it and does not route it. */
  readonly isBridged?: boolean
  readonly mark?: number
  /** `['SYN']` where absent in TCP. */
  readonly tcpFlags?: readonly TcpFlag[]
  readonly icmp?: { readonly type: number; readonly code: number }
  /** Absent: `new`, or `invalid` for TCP packets that cannot begin a connection. */
  readonly ctState?: ConnectionState
  readonly connection?: KnownConnection
  readonly ttl?: number
  /** In bytes, IP header included. */
  readonly length?: number
  /** The whole TOS byte. */
  readonly tos?: number
  /** True for second and further fragments, which carry no ports. */
  readonly isLaterFragment?: boolean
  /** The user and group of the sending process. */
  readonly owner?: { readonly uid: number; readonly gid: number }
}

export type TcpFlag = 'FIN' | 'SYN' | 'RST' | 'PSH' | 'ACK' | 'URG'

/** The packet on its way. `undefined` stands for what is not known. */
export interface LivePacket {
  readonly protocol: string
  /** Undefined after a MASQUERADE whose interface has no known address. */
  readonly src: Address | undefined
  readonly dst: Address
  readonly sport: number | undefined
  readonly dport: number | undefined
  readonly in: string | undefined
  readonly out: string | undefined
  readonly physIn: string | undefined
  /** True once routing has said where it leaves, known or not; `-o` matches nothing before. */
  readonly isRouted: boolean
  readonly mark: number
  readonly connmark: number | undefined
  readonly tcpFlags: ReadonlySet<string>
  readonly icmp: { readonly type: number; readonly code: number } | undefined
  /** Undefined before conntrack has seen it: the raw table. */
  readonly ctState: ConnectionState | undefined
  readonly dnat: boolean | undefined
  readonly snat: boolean | undefined
  readonly direction: 'original' | 'reply'
  /** The destination and source before any translation, for `--ctorigdst`; undefined where they are not known. */
  readonly original:
    | { readonly src: Address | undefined; readonly dst: Address; readonly dport: number | undefined }
    | undefined
  readonly ttl: number | undefined
  readonly length: number | undefined
  readonly tos: number | undefined
  readonly isLaterFragment: boolean
  /** Undefined for a forwarded packet, which has no sender here. */
  readonly owner: { readonly uid: number; readonly gid: number } | 'not known' | undefined
}

/** A problem in words instead, for a packet that has no address where one must be. */
export function startPacket(packet: WalkPacket): LivePacket | string {
  const src = parseAddress(packet.src)
  const dst = parseAddress(packet.dst)
  if (!src) return `${packet.src} is no IP address`
  if (!dst) return `${packet.dst} is no IP address`
  if (src.bits !== dst.bits) return `${packet.src} and ${packet.dst} are of different families`
  const { connection } = packet
  const direction = connection?.direction ?? 'original'
  return {
    protocol: packet.protocol.toLowerCase(),
    src,
    dst,
    sport: packet.sport,
    dport: packet.dport,
    in: packet.in,
    out: undefined,
    physIn: packet.physIn,
    isRouted: false,
    mark: (packet.mark ?? 0) >>> 0,
    connmark: connection ? connection.mark : 0,
    tcpFlags: new Set(packet.tcpFlags ?? ['SYN']),
    icmp: packet.icmp,
    ctState: undefined,
    dnat: connection ? connection.dnat : false,
    snat: connection ? connection.snat : false,
    direction,
    original: direction === 'original' ? { src, dst, dport: packet.dport } : undefined,
    ttl: packet.ttl,
    length: packet.length,
    tos: packet.tos,
    isLaterFragment: packet.isLaterFragment ?? false,
    owner: packet.in === undefined ? (packet.owner ?? 'not known') : undefined,
  }
}

/**
 * What conntrack says of a packet that it has no entry for. A TCP packet in the middle of a connection is taken for a new
 * one (nf_conntrack_tcp_loose); one that can only answer or end a connection fits nothing.
 */
export function stateOf(packet: WalkPacket): ConnectionState {
  if (packet.ctState) return packet.ctState
  if (packet.connection) return 'established'
  if (packet.protocol.toLowerCase() !== 'tcp' || !packet.tcpFlags) return 'new'
  const has = (flag: TcpFlag): boolean => packet.tcpFlags?.includes(flag) ?? false
  if (has('SYN')) return has('ACK') || has('RST') || has('FIN') ? 'invalid' : 'new'
  return has('ACK') && !has('RST') && !has('FIN') ? 'new' : 'invalid'
}

/** 0 stands for ports that are not known, too. */
export function headerOf(packet: LivePacket): HopPacket {
  return {
    src: packet.src?.text ?? `the address of ${packet.out ?? 'the outgoing interface'}`,
    dst: packet.dst.text,
    sport: packet.sport ?? 0,
    dport: packet.dport ?? 0,
    in: packet.in ?? '',
    out: packet.out ?? '',
    mark: packet.mark,
  }
}
