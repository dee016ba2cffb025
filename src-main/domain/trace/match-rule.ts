import type { Rule, Table } from '../iptables/rule-set.ts'
import { rulesByChain } from '../iptables/rule-set.ts'
import { type MatchSpec, type RuleSpec, readRule, type TargetSpec } from '../iptables/rule-spec.ts'
import { ownValue } from '../own-value.ts'
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
export class ReadyRule {
  /** From 1 within its chain. */
  readonly number: number
  readonly rule: Rule
  /** `10.96.0.10` where the rule begins with `-d 10.96.0.10/32`: tells most rules of a dispatching chain apart unread. */
  readonly onlyTo: string | undefined
  #read: { readonly checks: readonly Check[]; readonly target: TargetSpec | undefined } | undefined

  constructor(number: number, rule: Rule) {
    this.number = number
    this.rule = rule
    this.onlyTo = /^-d ([\d.]+)\/32 /.exec(rule.text)?.[1]
  }

  get checks(): readonly Check[] {
    return this.#ready().checks
  }

  get target(): TargetSpec | undefined {
    return this.#ready().target
  }

  #ready() {
    if (!this.#read) {
      const spec = readRule(this.rule)
      this.#read = { checks: readChecks(spec), target: spec.target }
    }
    return this.#read
  }
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
  const read = ownValue(READERS, match.name)
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

const chainsOf = new WeakMap<Table, Map<string, readonly ReadyRule[]>>()

/** The rules of a chain, kept for the next packet; undefined where the table has no such chain. */
export function readyRules(table: Table, chain: string): readonly ReadyRule[] | undefined {
  let chains = chainsOf.get(table)
  if (!chains) {
    chains = new Map(
      [...rulesByChain(table)].map(([name, rules]) => [
        name,
        rules.map((rule, index) => new ReadyRule(index + 1, rule)),
      ]),
    )
    chainsOf.set(table, chains)
  }
  return chains.get(chain)
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
  rule: ReadyRule,
  packet: LivePacket,
  facts: NodeFacts,
  place: MatchPlace,
): RuleOutcome {
  if (rule.onlyTo !== undefined && rule.onlyTo !== packet.dst.text)
    return { kind: 'miss', why: `destination is ${packet.dst.text}, the rule wants ${rule.onlyTo}` }
  let questions: Question[] | undefined
  let effects: MatchEffect[] | undefined
  for (const check of rule.checks) {
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
