/** An entry of a node's conntrack table, as conntrack(8) tells it. */

/** One direction of a connection: its packets' header. */
export interface ConnectionTuple {
  readonly source: string
  readonly destination: string
  /** 0 where the protocol has no ports. */
  readonly sourcePort: number
  readonly destinationPort: number
  /** Only of ICMP and ICMPv6. */
  readonly icmp?: { readonly id: number; readonly type: number; readonly code: number }
}

/**
 * UNREPLIED: no answer has come yet. ASSURED: both sides have talked; kept when the table is full. EXPECTED: begun by
 * another connection, such as FTP's data. OFFLOAD: packets pass by a flow table.
 */
export type ConnectionFlag = 'UNREPLIED' | 'ASSURED' | 'EXPECTED' | 'OFFLOAD'

export interface ConnectionEntry {
  /** Names the entry in its namespace as long as it lives; the same number as in traces. */
  readonly id: number
  readonly family: 4 | 6
  /** `tcp`, `udp`, `icmp` …; the number where it has no name. */
  readonly protocol: string
  readonly protocolNumber: number
  readonly original: ConnectionTuple
  /** What answers look like: behind DNAT its source is the chosen endpoint, behind SNAT its destination the node. */
  readonly reply: ConnectionTuple
  /** TCP's: SYN_SENT, ESTABLISHED, TIME_WAIT … */
  readonly state?: string
  /** Until the entry goes, unless packets come. */
  readonly timeoutSeconds: number
  readonly flags: readonly ConnectionFlag[]
  /** Whose address is translated: the destination's (DNAT), the source's (SNAT, MASQUERADE) or both. */
  readonly nat: 'none' | 'dnat' | 'snat' | 'both'
  readonly mark: number
}

/** What is left out fits everything. */
export interface ConnectionFilter {
  readonly ids?: readonly number[]
  /**
   * One of these must be a packet of the connection, in either direction and on either side of NAT's translation: the
   * packets of a journey find the entries that it left on each node.
   */
  readonly packets?: readonly PacketPattern[]
}

export interface PacketPattern {
  readonly protocol?: string
  readonly source?: string
  readonly destination?: string
  readonly sourcePort?: number
  readonly destinationPort?: number
}

export function matchesConnection(entry: ConnectionEntry, filter: ConnectionFilter): boolean {
  const { ids, packets } = filter
  if (ids && !ids.includes(entry.id)) return false
  return !packets || packets.some((pattern) => isPacketOf(entry, pattern))
}

function isPacketOf({ protocol, original, reply }: ConnectionEntry, pattern: PacketPattern): boolean {
  if (pattern.protocol !== undefined && pattern.protocol !== protocol) return false
  return [original, reply, turned(original), turned(reply)].some((tuple) =>
    (['source', 'destination', 'sourcePort', 'destinationPort'] as const).every(
      (field) => pattern[field] === undefined || pattern[field] === tuple[field],
    ),
  )
}

/** The reply's own request on the far side of NAT, or an answer on the near side. */
function turned({ source, destination, sourcePort, destinationPort }: ConnectionTuple): ConnectionTuple {
  return {
    source: destination,
    destination: source,
    sourcePort: destinationPort,
    destinationPort: sourcePort,
  }
}
