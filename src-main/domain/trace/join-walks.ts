import type { TracedConnection, TracedPacket, TraceEvent } from './trace-event.ts'

/** The nft table that switches tracing on; its own events say how a packet came to a host and left it. */
export const TRACE_TABLE = 'chainwalk_trace'

/** Chains of the trace table. `sent` sees only packets of the traced command, in the sender's namespace. */
export const traceChains = {
  sent: 'sent',
  arrived: 'arrived',
  tracked: 'tracked',
  left: 'left',
} as const

/** One packet's walk through one base chain, and the chains that it was sent to from there. */
export interface Walk {
  /** Host id: `node/worker1`, or the sender's `pod/…` or `client`. */
  readonly host: string
  readonly table: string
  /** The base chain. */
  readonly chain: string
  readonly hook: string
  /** Grows along a packet's way through a host. */
  readonly stage: number
  /** When it began, counted in events over all hosts. */
  readonly order: number
  readonly packet: TracedPacket
  readonly events: readonly TraceEvent[]
  readonly isOwn: boolean
}

/** An event, and where in the order of all events it was read. */
export interface SeenEvent {
  readonly order: number
  readonly event: TraceEvent
}

export interface Walks {
  readonly walks: readonly Walk[]
  /** Events of walks whose beginning was not seen. */
  readonly orphans: number
}

const HOOK_STAGES: Readonly<Record<string, number>> = {
  PREROUTING: 0,
  OUTPUT: 0,
  INPUT: 1,
  FORWARD: 1,
  POSTROUTING: 2,
}
const TABLE_STAGES: Readonly<Record<string, number>> = { raw: 2, mangle: 4, nat: 5, filter: 6, security: 7 }
const SOURCE_NAT_STAGE = 8
const OWN_STAGES: Readonly<Record<string, number>> = { arrived: 1, tracked: 3, sent: 3.5, left: 9 }

const NFPROTO_INET = 1

/** Puts the events of one host back together; each walk begins with the event that carries the packet. */
export function joinWalks(host: string, events: readonly SeenEvent[]): Walks {
  interface OpenWalk extends Walk {
    readonly events: TraceEvent[]
  }
  const open = new Map<number, OpenWalk | 'foreign'>()
  const walks: OpenWalk[] = []
  let orphans = 0
  for (const { event, order } of events) {
    if (event.packet) {
      const place = placeOf(event)
      if (!place) {
        open.set(event.traceId, 'foreign')
        continue
      }
      const walk: OpenWalk = { host, ...place, order, packet: event.packet, events: [event] }
      open.set(event.traceId, walk)
      walks.push(walk)
      continue
    }
    const walk = open.get(event.traceId)
    if (walk === undefined) orphans += 1
    else if (walk !== 'foreign') walk.events.push(event)
  }
  return { walks, orphans }
}

type Place = Pick<Walk, 'table' | 'chain' | 'hook' | 'stage' | 'isOwn'>

/** Undefined for nft tables that are neither iptables' nor the lab's. */
function placeOf({ family, table, chain, verdict }: TraceEvent): Place | undefined {
  if (table === TRACE_TABLE && family === NFPROTO_INET) {
    const [kind = '', hook = ''] = chain.split('_')
    const stage = (HOOK_STAGES[hook] ?? 0) * 10 + (OWN_STAGES[kind] ?? 0)
    return { table, chain: kind, hook, stage, isOwn: true }
  }
  const hookStage = HOOK_STAGES[chain]
  const tableStage = TABLE_STAGES[table]
  if (hookStage !== undefined && tableStage !== undefined) {
    const isSourceNat = table === 'nat' && (chain === 'POSTROUTING' || chain === 'INPUT')
    const stage = hookStage * 10 + (isSourceNat ? SOURCE_NAT_STAGE : tableStage)
    return { table, chain, hook: chain, stage, isOwn: false }
  }
  // A table of somebody else's matters where it ends the packet's way.
  return verdict === 'DROP'
    ? { table, chain, hook: '', stage: Number.POSITIVE_INFINITY, isOwn: false }
    : undefined
}

/** What conntrack said of the packet at any of these walks. */
export function connectionOf(walks: readonly Walk[]): TracedConnection | undefined {
  return walks.find(({ packet }) => packet.connection)?.packet.connection
}
