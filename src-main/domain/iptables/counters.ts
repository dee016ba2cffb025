import { type ChainName, type Counters, type RuleSet, rulesByChain, type Table } from './rule-set.ts'

/** What a rule has counted between two looks at it. */
export interface RuleCounterDiff extends Counters {
  readonly table: string
  readonly chain: ChainName
  /** From 1, in the later rule set. */
  readonly rule: number
  readonly text: string
  /** Absent in the earlier rule set: everything it counted is new. */
  readonly isNew: boolean
  /** It counts less than before: it was made again or zeroed, and counts from nothing. */
  readonly wasReset: boolean
}

export interface ChainCounterDiff {
  readonly table: string
  readonly chain: ChainName
  /** By the policy of a built-in chain; zero for a user-defined one. */
  readonly policy: Counters
  readonly rules: readonly RuleCounterDiff[]
}

export const NO_COUNTERS: Counters = { packets: 0n, bytes: 0n }

export function addCounters(a: Counters, b: Counters): Counters {
  return { packets: a.packets + b.packets, bytes: a.bytes + b.bytes }
}

/** Of any rules or chains; those without counters count nothing. Not wrapped at 2^64. */
export function sumCounters(counted: Iterable<{ readonly counters?: Counters }>): Counters {
  let packets = 0n
  let bytes = 0n
  for (const { counters = NO_COUNTERS } of counted) {
    packets += counters.packets
    bytes += counters.bytes
  }
  return { packets, bytes }
}

export function isZero(counters: Counters): boolean {
  return counters.packets === 0n && counters.bytes === 0n
}

/** The rule set as iptables-save without -c writes it: rules without counters, policies at [0:0]. */
export function withoutCounters(ruleSet: RuleSet): RuleSet {
  const tables = ruleSet.tables.map((table) => ({
    ...table,
    chains: table.chains.map((chain) => ({ ...chain, counters: NO_COUNTERS })),
    rules: table.rules.map(({ chain, text }) => ({ chain, text })),
  }))
  return { ...ruleSet, tables }
}

/**
 * What every rule of the later rule set has counted since the earlier one. A rule is found again by its text, the
 * n-th equal rule of a chain as the n-th, so rules may have come, gone and moved in between. Never negative: a
 * counter that went back has started anew.
 */
export function diffCounters(before: RuleSet, after: RuleSet): ChainCounterDiff[] {
  const earlier = new Map(before.tables.map((table) => [table.name, table]))
  return after.tables.flatMap((table) => diffTable(earlier.get(table.name), table))
}

function diffTable(before: Table | undefined, after: Table): ChainCounterDiff[] {
  const rulesBefore = before ? rulesByChain(before) : undefined
  const rulesAfter = rulesByChain(after)
  const chainsBefore = new Map(before?.chains.map((chain) => [chain.name, chain]))
  return after.chains.map((chain) => {
    const waiting = new Map<string, Counters[]>()
    for (const { text, counters = NO_COUNTERS } of rulesBefore?.get(chain.name) ?? []) {
      const equal = waiting.get(text)
      if (equal) equal.push(counters)
      else waiting.set(text, [counters])
    }
    const taken = new Map<string, number>()
    const rules = (rulesAfter.get(chain.name) ?? []).map((rule, index): RuleCounterDiff => {
      const occurrence = taken.get(rule.text) ?? 0
      taken.set(rule.text, occurrence + 1)
      const earlier = waiting.get(rule.text)?.[occurrence]
      const place = { table: after.name, chain: chain.name, rule: index + 1, text: rule.text }
      return { ...place, ...since(earlier ?? NO_COUNTERS, rule.counters ?? NO_COUNTERS), isNew: !earlier }
    })
    const policyBefore = chainsBefore.get(chain.name)?.counters ?? NO_COUNTERS
    const { packets, bytes } = since(policyBefore, chain.counters ?? NO_COUNTERS)
    return { table: after.name, chain: chain.name, policy: { packets, bytes }, rules }
  })
}

function since(before: Counters, now: Counters): Counters & { wasReset: boolean } {
  const wasReset = now.packets < before.packets || now.bytes < before.bytes
  if (wasReset) return { ...now, wasReset }
  return { packets: now.packets - before.packets, bytes: now.bytes - before.bytes, wasReset }
}
