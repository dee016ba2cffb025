import { sharedChainTitle } from './explain-chain-titles.ts'
import type { LadderStep } from './explain-chance.ts'
import { explainMatches } from './explain-matches.ts'
import { unknownWords } from './explain-options.ts'
import { capitalised, type Explanation, type ExplanationPart, joined, part, words } from './explain-parts.ts'
import type { Phrases } from './explain-phrases.ts'
import { explainExtension } from './explain-targets.ts'
import { durationWords } from './explain-values.ts'
import type { Family } from './rule-set.ts'
import { type Option, optionOf, type RuleSpec, readRule } from './rule-spec.ts'

export interface RuleContext {
  readonly table: string
  readonly family: Family
  /** What a chain stands for (`http-svc cluster IP`), said behind its name. */
  readonly chainTitle?: (chain: string) => string | undefined
  /** From `readLadders` on the rules of the chain: adds the overall share to a rule's chance. */
  readonly precedingStatistics?: LadderStep | undefined
}

/** One sentence without a full stop: which packets, a colon, what happens to them. Never throws. */
export function explainRule(
  rule: { readonly chain: string; readonly text: string },
  context: RuleContext,
): Explanation {
  const spec = withoutCounters(readRule(rule))
  const comments = spec.matches
    .filter(({ name }) => name === 'comment')
    .flatMap((match) => match.options.flatMap(({ values }) => values))
  const affinity = affinityOf(spec)
  const phrases = explainMatches(affinity ? { ...spec, matches: [] } : spec, context.precedingStatistics)
  const condition = affinity ?? phrases.condition()
  const acts = actions(spec, phrases, rule.chain, context)
  const sentence = condition.length === 0 ? acts : words`${condition}: ${acts}`
  const unread = [...spec.unknown, ...spec.problems]
  const rest = unread.length === 0 ? [] : words`, not understood: ${unknownWords(...unread)}`
  return { parts: capitalised(words`${sentence}${rest}`), comments }
}

/** `iptables -S -v` writes the counters among the words (`-c 1204 98765`); they say nothing on what the rule does. */
function withoutCounters(spec: RuleSpec): RuleSpec {
  const without = <T extends { readonly options: readonly Option[] }>(owner: T): T => ({
    ...owner,
    options: owner.options.filter(({ name, values }) => name !== '-c' || values.length !== 2),
  })
  const [first, packets = '', bytes = ''] = spec.unknown
  const isCounted = first === '-c' && /^\d+ \d+$/.test(`${packets} ${bytes}`)
  return {
    ...spec,
    matches: spec.matches.map(without),
    ...(spec.target ? { target: without(spec.target) } : {}),
    unknown: isCounted ? spec.unknown.slice(3) : spec.unknown,
  }
}

/** `-m recent --rcheck --seconds 10800 --reap --name KUBE-SEP-X … -j KUBE-SEP-X`: session affinity of a Service. */
function affinityOf(spec: RuleSpec): ExplanationPart[] | undefined {
  const matches = spec.matches.filter(({ name }) => name !== 'comment')
  const [recent] = matches
  const { matches: _, target, unknown, problems, ...others } = spec
  if (recent?.name !== 'recent' || matches.length > 1 || Object.keys(others).length > 0) return undefined
  const seconds = optionOf(recent, '--seconds')?.values[0]
  const isOfEndpoint =
    target?.name.startsWith('KUBE-SEP-') === true &&
    optionOf(recent, '--name')?.values[0] === target.name &&
    seconds !== undefined
  const isUsual = recent.options.every(({ name, negated }) => AFFINITY_OPTIONS.has(name) && !negated)
  if (!isOfEndpoint || !isUsual || !optionOf(recent, '--rcheck')) return undefined
  const written = recent.options.map(({ name, values }) => [name, ...values].join(' ')).join(' ')
  return words`senders that used this endpoint within the last ${durationWords(seconds, written)} stay with it`
}

const AFFINITY_OPTIONS = new Set(['--rcheck', '--seconds', '--reap', '--name', '--mask', '--rsource'])

/** What matches do besides matching, then the target. */
function actions(spec: RuleSpec, phrases: Phrases, chain: string, context: RuleContext): ExplanationPart[] {
  const { effects, namesPackets } = phrases
  const target = targetWords(spec, namesPackets, chain, context)
  const steps = target ? [...effects, target] : effects
  if (steps.length === 0) return words`only counts ${namesPackets ? 'them' : 'packets'}`
  return joined(steps.flatMap((step, at) => (at === 0 ? [step] : [', then ', step])))
}

function targetWords(
  { target }: RuleSpec,
  namesPackets: boolean,
  chain: string,
  context: RuleContext,
): ExplanationPart[] | undefined {
  if (!target) return undefined
  const { table, family } = context
  const said = target.goto ? undefined : explainExtension(target, { chain, table, family, namesPackets })
  if (said) return said
  const title = context.chainTitle?.(target.name) ?? sharedChainTitle(target.name, table)
  const name = words`${part('chain', target.name)}${title === undefined ? '' : ` (${title})`}`
  if (!target.goto) return words`go to ${name}`
  const options = target.options.flatMap((option) => [option.name, ...option.values])
  const rest = options.length === 0 ? [] : words`, with ${unknownWords(...options)}`
  return words`go to ${name} and do not come back to this chain (goto)${rest}`
}
