import { type ExplanationPart, part, words } from './explain-parts.ts'
import type { Rule } from './rule-set.ts'
import { optionOf, type RuleSpec, readRule } from './rule-spec.ts'

/** Where a rule stands on a ladder of random rules (1 in 3, 1 in 2, the rest). */
export interface LadderStep {
  /** The share of the packets that the ladder's rules before this one leave over, above 0 and below 1. */
  readonly leftover: number
}

/**
 * For each rule of one chain, in order, its place on a ladder; undefined on no ladder and on the first step. A
 * ladder is made of neighbours with the same conditions whose packets do not come back; it ends with a rule that
 * has those conditions without a chance.
 */
export function readLadders(rules: readonly Pick<Rule, 'text'>[]): (LadderStep | undefined)[] {
  let ladder: { conditions: string; leftover: number } | undefined
  return rules.map((rule) => {
    if (!ladder && !rule.text.includes('statistic')) return undefined
    const spec = readRule(rule)
    const chance = chanceOf(spec)
    const conditions = conditionsText(spec)
    const before = ladder?.conditions === conditions ? ladder.leftover : undefined
    const goesOn = chance !== undefined && chance < 1 && keepsPackets(spec)
    ladder = goesOn ? { conditions, leftover: (before ?? 1) * (1 - chance) } : undefined
    const isPlace = chance !== undefined || spec.target !== undefined
    return before !== undefined && before > 0 && isPlace && !hasOtherStatistic(spec)
      ? { leftover: before }
      : undefined
  })
}

/** Between 0 and 1; undefined for a rule without `--mode random`. */
export function chanceOf(spec: Pick<RuleSpec, 'matches'>): number | undefined {
  const statistic = spec.matches.filter((match) => match.name === 'statistic')
  const [match] = statistic
  if (!match || statistic.length > 1) return undefined
  const option = optionOf(match, '--probability')
  const written = option?.values[0]
  if (option === undefined || written === undefined || written === '') return undefined
  const chance = Number(written)
  if (!(chance >= 0 && chance <= 1)) return undefined
  return option.negated ? 1 - chance : chance
}

/** `1 in 3 (33 %)`; without a simple fraction the percentage alone. `written` is the rule's own number. */
export function chanceWords(chance: number, written?: string): ExplanationPart[] {
  const fraction = fractionText(chance)
  if (fraction === undefined) return [part('probability', percentText(chance), written)]
  return words`${part('probability', fraction, written)} (${part('probability', percentText(chance))})`
}

/** `overall 1 in 3`. */
export function overallWords(chance: number): ExplanationPart[] {
  return words`overall ${part('probability', fractionText(chance) ?? percentText(chance))}`
}

/** The kernel holds a chance in parts of 2^-31 and kube-proxy writes ten decimals. */
const EXACT = 1e-9

/** `1 in 3`, or `about 1 in 3` for 0.333; undefined where no fraction is near. */
function fractionText(chance: number): string | undefined {
  if (!(chance > 0 && chance < 1)) return undefined
  const denominators = [Math.round(1 / chance), Math.round(1 / (1 - chance)), ...SMALL]
  for (const denominator of denominators) {
    const count = Math.round(chance * denominator)
    const isProper = denominator <= 10_000 && count > 0 && count < denominator
    if (isProper && Math.abs(chance - count / denominator) <= EXACT) return `${count} in ${denominator}`
  }
  const near = SMALL.find((n) => Math.abs(chance - Math.round(chance * n) / n) <= chance / 500)
  const count = near === undefined ? 0 : Math.round(chance * near)
  return count > 0 && count !== near ? `about ${count} in ${near}` : undefined
}

const SMALL = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

/** `33 %`, `6.7 %`, `0.83 %`: two digits, more near 100 and where a person wrote more. */
export function percentText(chance: number): string {
  const percent = chance * 100
  const digits = percent > 99 && percent < 100 ? 4 : percent === 100 ? 3 : 2
  const isFraction = fractionText(chance)?.startsWith('about') === false
  return `${Number(percent.toPrecision(isFraction ? digits : 4))} %`
}

function conditionsText(spec: RuleSpec): string {
  const { target: _, problems: __, matches, ...rest } = spec
  return JSON.stringify([rest, matches.filter(({ name }) => name !== 'statistic' && name !== 'comment')])
}

function hasOtherStatistic(spec: RuleSpec): boolean {
  return chanceOf(spec) === undefined && spec.matches.some(({ name }) => name === 'statistic')
}

const FINAL_TARGETS = new Set([
  'ACCEPT',
  'DROP',
  'REJECT',
  'RETURN',
  'QUEUE',
  'NFQUEUE',
  'DNAT',
  'SNAT',
  'MASQUERADE',
  'REDIRECT',
  'NETMAP',
])

/** A jump may come back; only a chain of kube-proxy's that ends with DNAT is known not to. */
function keepsPackets({ target }: RuleSpec): boolean {
  if (!target) return false
  return target.goto || FINAL_TARGETS.has(target.name) || target.name.startsWith('KUBE-SEP-')
}
