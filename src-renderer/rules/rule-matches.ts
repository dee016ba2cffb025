import { explainMatches } from '../../src-main/domain/iptables/explain-matches.ts'
import { capitalised, type ExplanationPart } from '../../src-main/domain/iptables/explain-parts.ts'
import {
  type MatchSpec,
  type Option,
  type RuleSpec,
  readRule,
} from '../../src-main/domain/iptables/rule-spec.ts'
import { quoteWord } from '../../src-main/domain/iptables/rule-words.ts'

/** One condition of a rule: its words as iptables-save writes them, and what they ask for. */
export interface RuleMatch {
  readonly written: string
  /** Empty where the words ask for nothing more, as `-m tcp` behind `-p tcp`. */
  readonly parts: readonly ExplanationPart[]
}

const CONDITIONS = [
  ['source', '-s'],
  ['destination', '-d'],
  ['inInterface', '-i'],
  ['outInterface', '-o'],
  ['protocol', '-p'],
] as const

/** The matches of a rule one by one, each with its own meaning. */
export function readMatches(text: string): RuleMatch[] {
  const spec = readRule({ text })
  const found: RuleMatch[] = []
  for (const [field, option] of CONDITIONS) {
    const condition = spec[field]
    if (!condition) continue
    const written = `${condition.negated ? '! ' : ''}${option} ${condition.value}`
    found.push({ written, parts: meaningOf({ [field]: condition }) })
  }
  if (spec.fragment) {
    const { fragment } = spec
    found.push({ written: fragment.negated ? '! -f' : '-f', parts: meaningOf({ fragment }) })
  }
  for (const match of spec.matches) {
    // Somebody's words about the rule, which ask nothing of a packet.
    if (match.name === 'comment') continue
    // `-m tcp --dport 80` names no protocol of its own, and `-m tcp` alone says what `-p tcp` has said.
    const isImplied = match.name === spec.protocol?.value && match.options.length === 0
    const parts = isImplied ? [] : meaningOf({ matches: [match] })
    found.push({ written: matchText(match), parts })
  }
  return found
}

function meaningOf(some: Partial<RuleSpec>): ExplanationPart[] {
  const phrases = explainMatches({ matches: [], unknown: [], problems: [], ...some }, undefined)
  const condition = phrases.condition()
  return capitalised(condition.length > 0 ? condition : phrases.effects.flat())
}

function matchText({ name, options }: MatchSpec): string {
  return ['-m', name, ...options.map(optionText)].join(' ')
}

function optionText({ name, negated, values }: Option): string {
  return [...(negated ? ['!'] : []), name, ...values.map(quoteWord)].join(' ')
}
