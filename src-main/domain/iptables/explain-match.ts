import type { OptionReader } from './explain-options.ts'
import { type ExplanationPart, words } from './explain-parts.ts'
import type { Phrases } from './explain-phrases.ts'

/**
 * Says what it takes from the reader; what it leaves there is shown as it stands. False, with nothing said, when
 * the whole match is to be shown so.
 */
export type ExplainMatch = (options: OptionReader, phrases: Phrases) => false | undefined

export function notOf({ negated }: { negated: boolean }): string {
  return negated ? 'do not ' : ''
}

/** One option whose value reads as `whose … is (not) …`. */
export function property(
  option: string,
  head: string,
  say: (value: string) => ExplanationPart[],
): ExplainMatch {
  return (options, phrases) => {
    const condition = options.signed(option)
    if (condition) phrases.addClause(words`${head} ${condition.negated ? 'not ' : ''}${say(condition.value)}`)
  }
}
