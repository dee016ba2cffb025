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

/** A rule that was asked and did not match. */
export interface Skip {
  /** From 1 within its chain. */
  readonly rule: number
  /** After `-A CHAIN`. */
  readonly text: string
  /** The first match that failed: "destination is 10.96.0.10, the rule wants 10.107.38.142". */
  readonly why: string
}

export interface Hop {
  readonly node: string
  readonly hook: string
  /** `conntrack` for NAT that is done without asking the nat table again. */
  readonly table: string
  readonly chain: string
  /** Counts from 1; null for a policy, for a chain's end, for conntrack, and for a rule that has gone meanwhile. */
  readonly rule: number | null
  /** The rule after `-A CHAIN`; a policy as `-P FORWARD DROP`; conntrack's work and a chain's end in words. */
  readonly text: string
  /** The end of a chain that somebody jumped to: no rule of it decided, and the packet goes back. */
  readonly isChainEnd?: true
  /** The rule's target where it decides (ACCEPT, DROP, REJECT, DNAT, MASQUERADE …), else JUMP, GOTO, RETURN, CONTINUE. */
  readonly verdict: string
  readonly packet: HopPacket
  /** What conntrack said of the packet; absent before it has looked (raw), and where the kernel does not tell. */
  readonly ctState?: ConnectionState
  /** The packet behind this hop, where the hop changed it. */
  readonly becomes?: HopPacket
  /** The rules of this chain since the last hop in it that did not match, in order. */
  readonly skipped?: readonly Skip[]
  /** How many there were; more than `skipped` holds where that was cut. */
  readonly skippedCount?: number
}

/** Whether a built-in chain's policy decided; a rule that has gone meanwhile has no number either. */
export const isPolicy = ({ text }: Pick<Hop, 'text'>): boolean => text.startsWith('-P ')

/** `KUBE-SERVICES 1`; `FORWARD policy`; `KUBE-FORWARD end`. */
export function hopPlace(hop: Pick<Hop, 'table' | 'chain' | 'rule' | 'text' | 'isChainEnd'>): string {
  const { table, chain, rule, isChainEnd } = hop
  if (table === 'conntrack') return 'conntrack'
  if (rule !== null) return `${chain} ${rule}`
  if (isChainEnd) return `${chain} end`
  return `${chain} ${isPolicy(hop) ? 'policy' : 'rule gone'}`
}

/** How a chain's end reads as a hop; `caller` is the chain that the packet goes back to. */
export const chainEnd = (chain: string, caller: string) =>
  ({
    chain,
    rule: null,
    text: `end of ${chain}, back to ${caller}`,
    verdict: 'RETURN',
    isChainEnd: true,
  }) as const satisfies Partial<Hop>

/** As `-m conntrack --ctstate` names them, in small letters. */
export type ConnectionState = 'new' | 'established' | 'related' | 'invalid' | 'untracked'

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

/** Why a command failed. */
export interface Finding {
  readonly kind:
    | 'dropped-by-rule'
    | 'dropped-by-policy'
    | 'no-endpoints'
    | 'no-local-endpoint'
    | 'rejected-by-rule'
    | 'hairpin-off'
    | 'bridge-netfilter-off'
    | 'reverse-path-filter'
    | 'no-route'
    | 'closed-port'
    | 'stale-conntrack'
    | 'lost'
  /** One sentence that names the culprit and where it is. */
  readonly sentence: string
  /** What proves it, one sentence each: the packets' way, a rule, a setting, a table's entry. */
  readonly proof: readonly string[]
  /** What to do about it, where something can be done. */
  readonly remedy?: string
  /** The hop that shows it: a journey's id and an index into its hops. */
  readonly at?: { readonly journey: number; readonly hop: number }
}

export interface TraceResult {
  /** Absent where the packets came through. */
  readonly finding?: Finding
  readonly journeys: readonly Journey[]
  /** What the trace could not see, in sentences: lost events, a flood that was cut, rules changed meanwhile. */
  readonly gaps: readonly string[]
}
