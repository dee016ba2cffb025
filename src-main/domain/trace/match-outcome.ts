import type { Hook } from '../iptables/check-jumps.ts'
import type { Fraction } from './walk-chance.ts'
import type { NodeFacts } from './walk-context.ts'
import type { LivePacket } from './walk-packet.ts'
import type { Fact } from './walk-path.ts'

/** What one condition of a rule says of a packet. */
export type MatchOutcome =
  | { readonly kind: 'match'; readonly effect?: MatchEffect }
  | { readonly kind: 'miss'; readonly why: string }
  /** Chance, the past or something unknown decides. */
  | { readonly kind: 'open'; readonly question: Question }

/** What a match does besides matching. */
export interface MatchEffect {
  readonly text: string
  /** The key of a question whose answer is yes from here on. */
  readonly settles?: string
}

/** A fact that may hold or not. */
export interface Question {
  /** Equal keys get equal answers on one path; absent for what is drawn anew each time. */
  readonly key?: string
  readonly fact: string
  readonly denial: string
  /** True where the rule wants the fact not to hold. */
  readonly negated: boolean
  /** That the fact holds; absent where nobody can say. */
  readonly chance?: Fraction
}

export interface MatchPlace {
  readonly hook: Hook
  readonly table: string
}

export type Check = (packet: LivePacket, facts: NodeFacts, place: MatchPlace) => MatchOutcome

export const MATCHED: MatchOutcome = { kind: 'match' }

export function miss(why: string): MatchOutcome {
  return { kind: 'miss', why }
}

/** `destination is 10.96.0.10, the rule wants 10.107.38.142`; `wanted` in the words of a rule that is not negated. */
export function compare(
  holds: boolean,
  negated: boolean,
  what: string,
  actual: string,
  wanted: string,
): MatchOutcome {
  if (holds !== negated) return MATCHED
  return miss(`${what} is ${actual}, the rule wants ${negated ? 'anything but ' : ''}${wanted}`)
}

/** A condition that turns on something not known. */
export function open(facts: NodeFacts, kind: Fact['kind'], question: Question): MatchOutcome {
  facts.note(kind, `whether ${question.fact}`)
  return { kind: 'open', question }
}

/** A condition of a kind that the walk cannot judge. */
export function notKnown(written: string): Check {
  const question: Question = {
    key: `unknown ${written}`,
    fact: `the packet matches \`${written}\`, which this walk cannot judge`,
    denial: `the packet does not match \`${written}\`, which this walk cannot judge`,
    negated: false,
  }
  return (_, facts) => open(facts, 'other', question)
}
