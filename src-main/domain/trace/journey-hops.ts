import { optionOf, readRule } from '../iptables/rule-spec.ts'
import type { Path, Segment } from './join-segments.ts'
import type { Walk } from './join-walks.ts'
import type { ConnectionState, Hop, HopPacket } from './journey.ts'
import { OpenChains } from './open-chains.ts'
import type { TraceEvent } from './trace-event.ts'

/** A rule that a handle names. */
export interface TracedRule {
  /** Counts from 1. */
  readonly number: number
  /** After `-A CHAIN`. */
  readonly text: string
}

/** What a trace does not say by itself. */
export interface JourneyFacts {
  /** Undefined for rules that nobody knows (any more). */
  readonly ruleOf: (host: string, table: string, chain: string, handle: number) => TracedRule | undefined
  readonly linkName: (host: string, index: number) => string
  /** Host id by address, of nodes, running pods and the client. */
  readonly hostAt: (address: string) => string | undefined
  /** Whether this kernel tells what conntrack said of a packet (6.13 and newer): then silence means INVALID. */
  readonly tellsState: boolean
  /** Host id of the node that a pod runs on; undefined for all others. */
  readonly nodeOf: (host: string) => string | undefined
}

/** The rule's targets that a trace shows as ACCEPT or DROP, or as CONTINUE. */
const SHOWN_TARGETS = new Set([
  ...['REJECT', 'DNAT', 'SNAT', 'MASQUERADE', 'REDIRECT', 'NETMAP', 'MARK', 'CONNMARK', 'LOG', 'NFLOG'],
  ...['NOTRACK', 'CT', 'TPROXY', 'TCPMSS', 'TRACE'],
])

/** `worker1` of `node/worker1`. */
export const shortHost = (host: string): string => host.slice(host.lastIndexOf('/') + 1)

export function walkHops(path: Path, facts: JourneyFacts): Hop[] {
  return path.flatMap((segment) => segmentHops(segment, facts))
}

function segmentHops(segment: Segment, facts: JourneyFacts): Hop[] {
  const hops: Hop[] = []
  let last: { packet: HopPacket; hops: readonly Hop[] } | undefined
  for (const walk of segment.walks) {
    const packet = hopPacket(walk, facts)
    if (last) {
      const before = last
      const changer = before.hops.findLast((hop) => changes(hop, before.packet, packet))
      if (changer) hops[hops.indexOf(changer)] = { ...changer, becomes: packet }
      else hops.push(...conntrackHops(walk, segment, before.packet, packet))
    }
    const made = walk.isOwn ? [] : walkHopsOf(walk, packet, facts)
    hops.push(...made)
    last = { packet, hops: made }
  }
  return hops
}

const NAT_TARGETS = new Set(['DNAT', 'SNAT', 'MASQUERADE', 'REDIRECT', 'NETMAP'])

/** Whether the hop is the one that made the packet what it is at the next walk. */
function changes({ verdict, table }: Hop, before: HopPacket, after: HopPacket): boolean {
  const isMoved = addressText(before) !== addressText(after)
  // A rule that nobody knows any more shows as ACCEPT.
  if (NAT_TARGETS.has(verdict) || (table === 'nat' && verdict === 'ACCEPT')) return isMoved
  return verdict === 'MARK' && before.mark !== after.mark && !isMoved
}

const addressText = ({ src, dst, sport, dport }: HopPacket): string => `${src} ${sport} ${dst} ${dport}`

/**
 * NAT without the nat table. DNAT is done, and SNAT is taken back, where the packet comes in or is made; the opposite
 * where it goes out or is delivered.
 */
function conntrackHops(walk: Walk, segment: Segment, before: HopPacket, after: HopPacket): Hop[] {
  const between = { ...before, dst: after.dst, dport: after.dport }
  const isReply = segment.connection?.direction === 'reply'
  const why = isReply
    ? 'conntrack takes back what NAT did to the request'
    : 'conntrack does what the nat table decided for the first packet'
  const hop = (hook: string, change: string, packet: HopPacket, becomes: HopPacket): Hop => ({
    node: shortHost(segment.host),
    hook,
    table: 'conntrack',
    chain: hook,
    rule: null,
    text: `${why}: ${change}`,
    verdict: 'NAT',
    packet,
    becomes,
  })
  const hops: Hop[] = []
  if (addressText(before) !== addressText(between)) {
    const hook = segment.walks[0]?.hook === 'OUTPUT' ? 'OUTPUT' : 'PREROUTING'
    const change = `destination becomes ${after.dst}:${after.dport}`
    hops.push(hop(hook, change, before, between))
  }
  if (addressText(between) !== addressText(after)) {
    const change = `source becomes ${after.src}:${after.sport}`
    hops.push(hop(walk.hook, change, between, after))
  }
  return hops
}

function walkHopsOf(walk: Walk, packet: HopPacket, facts: JourneyFacts): Hop[] {
  const ctState = stateOf(walk, facts)
  const place = {
    node: shortHost(walk.host),
    hook: walk.hook,
    table: walk.table,
    ...(ctState ? { ctState } : {}),
  }
  const open = new OpenChains(walk.hook)
  return walk.events.flatMap((event): Hop[] => {
    // The ends of chains follow from what comes next, which all kernels tell alike.
    if (event.type === 'return') return []
    const ended = open.follow(event).map((end): Hop => ({ ...place, ...end, packet }))
    if (event.type === 'policy')
      return [
        ...ended,
        {
          ...place,
          chain: event.chain,
          rule: null,
          text: `-P ${event.chain} ${verdictText(event)}`,
          verdict: verdictText(event),
          packet,
        },
      ]
    const rule = facts.ruleOf(walk.host, walk.table, event.chain, event.handle)
    return [
      ...ended,
      {
        ...place,
        chain: event.chain,
        rule: rule?.number ?? null,
        text: rule?.text ?? 'a rule that has gone meanwhile',
        verdict: shownVerdict(event, rule),
        packet,
      },
    ]
  })
}

/** An invalid packet has no connection; neither has one that conntrack has not seen yet. */
function stateOf({ packet, table }: Walk, { tellsState }: JourneyFacts): ConnectionState | undefined {
  return packet.connection?.state ?? (tellsState && table !== 'raw' ? 'invalid' : undefined)
}

function verdictText({ verdict }: TraceEvent): string {
  if (typeof verdict === 'string') return verdict
  return 'jump' in verdict ? 'JUMP' : 'GOTO'
}

function shownVerdict(event: TraceEvent, rule: TracedRule | undefined): string {
  const verdict = verdictText(event)
  const target = rule && readRule(rule).target?.name
  return target !== undefined && verdict !== 'RETURN' && SHOWN_TARGETS.has(target) ? target : verdict
}

function hopPacket({ packet, host }: Walk, facts: JourneyFacts): HopPacket {
  const { header, inLink, outLink, mark } = packet
  return {
    src: header.source,
    dst: header.destination,
    sport: header.sourcePort,
    dport: header.destinationPort,
    in: inLink === 0 ? '' : facts.linkName(host, inLink),
    out: outLink === 0 ? '' : facts.linkName(host, outLink),
    mark,
  }
}

/** `icmp-port-unreachable` of a REJECT rule; undefined for any other. */
export function rejectionOf(rule: TracedRule): string | undefined {
  const { target } = readRule(rule)
  if (target?.name !== 'REJECT') return undefined
  return optionOf(target, '--reject-with')?.values[0] ?? 'icmp-port-unreachable'
}
