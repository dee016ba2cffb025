import type { ChainName, Rule, Table } from '../iptables/rule-set.ts'
import { rulesByChain } from '../iptables/rule-set.ts'
import { type MatchSpec, type RuleSpec, readRule, type TargetSpec } from '../iptables/rule-spec.ts'
import { readConntrack, readMark, readState } from './match-connection.ts'
import {
  optionText,
  readHopLimit,
  readIcmp,
  readIprange,
  readLength,
  readMultiport,
  readPlainConditions,
  readTos,
  readTransport,
} from './match-header.ts'
import { readAddrtype, readOwner, readPhysdev, readPolicy, readRpfilter, readSet } from './match-node.ts'
import {
  type Check,
  MATCHED,
  type MatchEffect,
  type MatchPlace,
  notKnown,
  type Question,
} from './match-outcome.ts'
import { readPast, readRecent, readStatistic } from './match-rate.ts'
import type { NodeFacts } from './walk-context.ts'
import type { LivePacket } from './walk-packet.ts'

/** A rule with its conditions made ready, for rule sets that many packets are walked over. */
export interface ReadyRule {
  /** From 1 within its chain. */
  readonly number: number
  readonly rule: Rule
  readonly checks: readonly Check[]
  readonly target: TargetSpec | undefined
}

type ReadMatch = (match: MatchSpec) => Check[]

const READERS: Readonly<Record<string, ReadMatch>> = {
  comment: () => [],
  tcp: readTransport,
  udp: readTransport,
  udplite: readTransport,
  sctp: readTransport,
  dccp: readTransport,
  multiport: readMultiport,
  icmp: readIcmp,
  icmp6: readIcmp,
  iprange: readIprange,
  ttl: readHopLimit,
  hl: readHopLimit,
  length: readLength,
  tos: readTos,
  dscp: readTos,
  conntrack: readConntrack,
  state: readState,
  mark: readMark,
  connmark: readMark,
  addrtype: readAddrtype,
  set: readSet,
  owner: readOwner,
  physdev: readPhysdev,
  rpfilter: readRpfilter,
  policy: readPolicy,
  statistic: readStatistic,
  recent: readRecent,
  limit: readPast,
  hashlimit: readPast,
  connlimit: readPast,
  time: readPast,
  quota: readPast,
  nfacct: (match) => {
    const name = match.options[0]?.values[0] ?? ''
    return [() => ({ kind: 'match', effect: { text: `counts in the account ${name}` } })]
  },
}

function readMatch(match: MatchSpec): Check[] {
  const read = Object.hasOwn(READERS, match.name) ? READERS[match.name] : undefined
  if (read) return read(match)
  return [notKnown([`-m ${match.name}`, ...match.options.map(optionText)].join(' '))]
}

function readChecks(spec: RuleSpec): Check[] {
  const odd = [...spec.unknown, ...spec.problems]
  return [
    ...readPlainConditions(spec),
    ...spec.matches.flatMap(readMatch),
    ...(odd.length === 0 ? [] : [notKnown(odd.join(' '))]),
  ]
}

const ready = new WeakMap<Rule, Omit<ReadyRule, 'number'>>()
const chainsOf = new WeakMap<Table, Map<ChainName, ReadyRule[] | readonly Rule[]>>()

/** The rules of a chain, read at its first visit; undefined where the table has no such chain. */
export function readyRules(table: Table, chain: string): readonly ReadyRule[] | undefined {
  let chains = chainsOf.get(table)
  if (!chains) {
    chains = rulesByChain(table)
    chainsOf.set(table, chains)
  }
  const name = chain as ChainName
  const rules = chains.get(name)
  if (!rules || isReady(rules)) return rules
  const made = rules.map((rule, index): ReadyRule => ({ ...readyRule(rule), number: index + 1 }))
  chains.set(name, made)
  return made
}

function isReady(rules: readonly (Rule | ReadyRule)[]): rules is readonly ReadyRule[] {
  return rules.length === 0 || 'checks' in (rules[0] as object)
}

function readyRule(rule: Rule): Omit<ReadyRule, 'number'> {
  const known = ready.get(rule)
  if (known) return known
  const spec = readRule(rule)
  const made = { rule, checks: readChecks(spec), target: spec.target }
  ready.set(rule, made)
  return made
}

export type RuleOutcome =
  | { readonly kind: 'miss'; readonly why: string }
  | {
      readonly kind: 'match'
      /** All must be answered with yes. */
      readonly questions: readonly Question[]
      readonly effects: readonly MatchEffect[]
    }

const PLAIN_MATCH: RuleOutcome = { kind: 'match', questions: [], effects: [] }

/** A condition that certainly fails decides, wherever it stands; questions are only asked where none does. */
export function matchRule(
  { checks }: Pick<ReadyRule, 'checks'>,
  packet: LivePacket,
  facts: NodeFacts,
  place: MatchPlace,
): RuleOutcome {
  let questions: Question[] | undefined
  let effects: MatchEffect[] | undefined
  for (const check of checks) {
    const outcome = check(packet, facts, place)
    if (outcome === MATCHED) continue
    if (outcome.kind === 'miss') return outcome
    if (outcome.kind === 'open') {
      questions ??= []
      questions.push(outcome.question)
    } else if (outcome.effect) {
      effects ??= []
      effects.push(outcome.effect)
    }
  }
  return questions || effects
    ? { kind: 'match', questions: questions ?? [], effects: effects ?? [] }
    : PLAIN_MATCH
}
