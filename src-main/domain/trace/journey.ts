/** What a trace tells of one packet: its whole way through the lab, hop by hop. */

export type JourneyVerdict =
  | 'delivered'
  | 'dropped'
  | 'rejected'
  /** Delivered, but nobody listened there: answered by RST or ICMP port unreachable. */
  | 'refused'
  | 'no-route'
  /** Seen for the last time on a way that should have gone on. */
  | 'lost'

/** The packet as it came to a hop. */
export interface HopPacket {
  readonly src: string
  readonly dst: string
  /** 0 where the protocol has no ports. */
  readonly sport: number
  readonly dport: number
  /** Link names; empty where the hook has none. */
  readonly in: string
  readonly out: string
  readonly mark: number
}

export interface Hop {
  readonly node: string
  readonly hook: string
  /** `conntrack` for NAT that is done without asking the nat table again. */
  readonly table: string
  readonly chain: string
  /** Counts from 1; null for a policy, for conntrack, and for a rule that has gone meanwhile. */
  readonly rule: number | null
  /** The rule after `-A CHAIN`; a policy as `-P FORWARD DROP`; conntrack's work in words. */
  readonly text: string
  /** The rule's target where it decides (ACCEPT, DROP, REJECT, DNAT, MASQUERADE …), else JUMP, GOTO, RETURN, CONTINUE. */
  readonly verdict: string
  readonly packet: HopPacket
  /** The packet behind this hop, where the hop changed it. */
  readonly becomes?: HopPacket
}

/** `first`: the first of its connection, which alone consults the nat table. */
export type PacketKind = 'first' | 'later' | 'retransmission'

export interface Journey {
  readonly id: number
  /** Journeys of one connection, requests and replies, share it; counts from 1. */
  readonly connection: number
  /** `tcp`, `udp`, `icmp`, or a number. */
  readonly protocol: string
  readonly direction: 'request' | 'reply'
  readonly kind: PacketKind
  /** TCP flags, ICMP type, payload: `SYN`, `PSH ACK, 78 bytes`. */
  readonly summary: string
  readonly verdict: JourneyVerdict
  /** The verdict as a sentence: by what, where. */
  readonly reason: string
  readonly hops: readonly Hop[]
}

export interface TraceResult {
  readonly journeys: readonly Journey[]
  /** What the trace could not see, in sentences: lost events, a flood that was cut, rules changed meanwhile. */
  readonly gaps: readonly string[]
}
