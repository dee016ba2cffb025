import type { ConnectionState } from './journey.ts'

/** One step of the kernel's own trace of a packet, as NFNLGRP_NFTRACE tells it. */

export type TraceVerdict =
  | 'ACCEPT'
  | 'DROP'
  | 'QUEUE'
  | 'STOLEN'
  | 'CONTINUE'
  | 'RETURN'
  | 'BREAK'
  | { readonly jump: string }
  | { readonly goto: string }

export interface TraceEvent {
  /** Same for the steps of one walk through a base chain; changes on a packet's way and is used again. */
  readonly traceId: number
  /** nfnetlink's number of the table's family: 1 inet, 2 ip, 10 ip6. */
  readonly family: number
  readonly table: string
  readonly chain: string
  /** `return`: the chain ended without a verdict; `policy`: so did the base chain. */
  readonly type: 'rule' | 'return' | 'policy'
  /** Of rules; 0 otherwise. */
  readonly handle: number
  /** Of policies: the policy. REJECT reads DROP; DNAT, SNAT and MASQUERADE read ACCEPT. */
  readonly verdict: TraceVerdict
  /** With the first event of each walk through a base chain. */
  readonly packet?: TracedPacket
}

export interface TracedPacket {
  /** Link indexes; 0 where the hook has none. */
  readonly inLink: number
  readonly outLink: number
  /** 0 where the kernel gives none. */
  readonly mark: number
  readonly header: PacketHeader
  /** Kernels before 6.13 do not tell, and nobody before conntrack has looked (raw). */
  readonly connection?: TracedConnection
}

export interface TracedConnection {
  /** Names the entry in its namespace as long as it lives. */
  readonly id: number
  readonly direction: 'original' | 'reply'
  readonly state: ConnectionState
}

export interface PacketHeader {
  readonly source: string
  readonly destination: string
  /** IP protocol number. */
  readonly protocol: number
  /** IPv4's identification; 0 with IPv6. */
  readonly ipId: number
  readonly ttl: number
  /** Bytes, IP header included. */
  readonly length: number
  /** 0 where the protocol has no ports. */
  readonly sourcePort: number
  readonly destinationPort: number
  /** Bytes behind the transport header; 0 where the kernel shows too little to tell. */
  readonly payloadLength: number
  readonly tcp?: { readonly sequence: number; readonly acknowledgement: number; readonly flags: number }
  readonly icmp?: {
    readonly type: number
    readonly code: number
    readonly id: number
    readonly sequence: number
  }
  /** What of a UDP datagram's or ICMP message's content the kernel shows (12 bytes at most), as hex. */
  readonly content: string
}

export const tcpFlags = { fin: 1, syn: 2, rst: 4, psh: 8, ack: 16 } as const

const PROTOCOL_NAMES: Readonly<Record<number, string>> = {
  1: 'icmp',
  6: 'tcp',
  17: 'udp',
  58: 'icmpv6',
  132: 'sctp',
}

/** `tcp`, `udp` …; the number where it has no name here. */
export const protocolName = (protocol: number): string => PROTOCOL_NAMES[protocol] ?? String(protocol)

/** `SYN`, `SYN ACK`, `FIN ACK` …, in the order in which people say them. */
export function formatTcpFlags(flags: number): string {
  const names = (['syn', 'fin', 'rst', 'psh', 'ack'] as const).filter((name) => flags & tcpFlags[name])
  return names.join(' ').toUpperCase()
}
