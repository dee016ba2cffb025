import type { Hook } from '../iptables/check-jumps.ts'
import type { RuleSet } from '../iptables/rule-set.ts'
import { tableNamed } from '../iptables/rule-set.ts'
import { readRule } from '../iptables/rule-spec.ts'
import { type Hop, isPolicy, type Journey, type Skip } from './journey.ts'
import { matchRule, type ReadyRule, readyRules } from './match-rule.ts'
import { NodeFacts } from './walk-context.ts'
import { type LivePacket, startPacket, type TcpFlag } from './walk-packet.ts'

/** What is known of a node besides its packets. */
export interface SkipFacts {
  readonly ruleSet: RuleSet
  /** The node's own addresses. */
  readonly localAddresses: readonly string[]
}

/** Of a chain of thousands, so many rules are told; all are counted. */
const MAX_TOLD = 50

/** Behind these no more rules of the chain are asked; a built-in chain's policy decides all the same. */
const LEAVING: ReadonlySet<string> = new Set(['RETURN', 'GOTO'])

const NOT_TOLD = 'the trace does not tell: the payload, a list or the past decides'

/**
 * Tells for each hop which rules of its chain were asked before it and did not match, and why not. `factsOf` knows
 * the nodes by the names that hops have; hops elsewhere stay as they are.
 */
export function explainSkips(
  journeys: readonly Journey[],
  factsOf: (node: string) => SkipFacts | undefined,
): Journey[] {
  const known = new Map<string, { ruleSet: RuleSet; facts: NodeFacts } | undefined>()
  const of = (node: string) => {
    if (!known.has(node)) {
      const found = factsOf(node)
      known.set(
        node,
        found && {
          ruleSet: found.ruleSet,
          facts: new NodeFacts({ node, localAddresses: found.localAddresses }),
        },
      )
    }
    return known.get(node)
  }
  return journeys.map((journey) => ({ ...journey, hops: explainJourney(journey, of) }))
}

function explainJourney(
  journey: Journey,
  of: (node: string) => { ruleSet: RuleSet; facts: NodeFacts } | undefined,
): Hop[] {
  /** Where the packet stands in each chain of the table that it is in: the last rule that matched. */
  let places = new Map<string, number>()
  let before: Hop | undefined
  return journey.hops.map((hop) => {
    if (hop.node !== before?.node || hop.hook !== before.hook || hop.table !== before.table)
      places = new Map()
    else {
      if (before.rule !== null) places.delete(readRule(before).target?.name ?? '') // entered anew
      if (LEAVING.has(before.verdict)) places.set(before.chain, Number.POSITIVE_INFINITY)
    }
    before = hop
    const node = of(hop.node)
    const table = node && tableNamed(node.ruleSet, hop.table)
    const rules = table && readyRules(table, hop.chain)
    if (!node || !rules || (hop.rule === null && !hop.isChainEnd && !isPolicy(hop))) return hop
    const from = places.get(hop.chain) ?? 0
    const to = hop.rule === null ? rules.length : hop.rule - 1
    places.set(hop.chain, to + 1)
    if (to <= from) return hop
    const packet = livePacket(journey, hop)
    if (!packet) return hop
    const asked = rules.slice(from, Math.min(to, from + MAX_TOLD))
    return {
      ...hop,
      skipped: asked.map((rule) => skipOf(rule, whyNot(rule, packet, node.facts, hop))),
      skippedCount: to - from,
    }
  })
}

function skipOf({ number, rule }: ReadyRule, why: string): Skip {
  return { rule: number, text: rule.text, why }
}

/** What chance or the past decides was decided against the rule: it did not match. */
function whyNot(rule: ReadyRule, packet: LivePacket, facts: NodeFacts, hop: Hop): string {
  const outcome = matchRule(rule, packet, facts, { hook: hop.hook as Hook, table: hop.table })
  if (outcome.kind === 'miss') return outcome.why
  const told = outcome.questions.map(({ negated, fact, denial }) => (negated ? fact : denial))
  return told.length === 0 ? NOT_TOLD : told.join(', or ')
}

const FLAGS: readonly TcpFlag[] = ['FIN', 'SYN', 'RST', 'PSH', 'ACK', 'URG']

/** The packet as it came to the hop, with what the journey tells of its connection. */
function livePacket(
  { protocol, summary, direction, kind, hops }: Journey,
  { packet, table, ctState }: Hop,
): LivePacket | undefined {
  const words = new Set(summary.split(/[ ,]+/))
  const start = startPacket({
    protocol,
    src: packet.src,
    dst: packet.dst,
    sport: packet.sport,
    dport: packet.dport,
    mark: packet.mark,
    ...(packet.in === '' ? {} : { in: packet.in }),
    tcpFlags: FLAGS.filter((flag) => words.has(flag)),
  })
  if (typeof start === 'string') return undefined
  // Where the kernel does not tell: the nat table is asked for the first packet of a connection alone.
  const isNew = kind === 'first' || hops.some((hop) => hop.table === 'nat')
  const state = ctState ?? (isNew ? 'new' : 'established')
  return {
    ...start,
    out: packet.out === '' ? undefined : packet.out,
    isRouted: packet.out !== '',
    ctState: table === 'raw' ? undefined : state,
    connmark: undefined,
    direction: direction === 'reply' ? 'reply' : 'original',
    dnat: undefined,
    snat: undefined,
    original: undefined,
  }
}
