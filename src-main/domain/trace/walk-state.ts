import type { Question } from './match-outcome.ts'
import { CERTAIN, complement, type Fraction, times, toChance } from './walk-chance.ts'
import type { LivePacket } from './walk-packet.ts'
import type { Choice, Outcome, WalkStep } from './walk-path.ts'
import type { NatBinding } from './walk-target.ts'

/** A list that grows at its end and shares its beginning with others. */
export interface Chain<T> {
  readonly before: Chain<T> | undefined
  readonly item: T
  readonly length: number
}

export function append<T>(chain: Chain<T> | undefined, item: T): Chain<T> {
  return { before: chain, item, length: (chain?.length ?? 0) + 1 }
}

/** In order; the first `most` alone where that is given. */
export function toArray<T>(chain: Chain<T> | undefined, most = Number.POSITIVE_INFINITY): T[] {
  const length = Math.min(chain?.length ?? 0, most)
  const items = new Array<T>(length)
  for (let at = chain; at; at = at.before) if (at.length <= length) items[at.length - 1] = at.item
  return items
}

/** One alternative, somewhere on its way. Never changed, so alternatives can share what is behind them. */
export interface WalkState {
  readonly packet: LivePacket
  readonly steps: Chain<WalkStep> | undefined
  readonly chance: Fraction
  readonly isConditional: boolean
  readonly choices: Chain<Choice> | undefined
  /** By the keys of questions. */
  readonly answers: ReadonlyMap<string, boolean>
  /** Decided in the nat table and not carried out yet. */
  readonly binding: NatBinding | undefined
  /** Whether the nat table has been asked for this side, now or when the connection began. */
  readonly isDestinationSettled: boolean
  readonly isSourceSettled: boolean
  /**
   * The way out that a packet of the node's own got by being routed anew. The rest of OUTPUT still sees the old one: the
   * kernel asks a hook's rules with the interfaces that the packet had when it came to the hook.
   */
  readonly rerouted: { readonly out: string | undefined } | undefined
  /** Set where the way has ended. */
  readonly outcome: Outcome | undefined
}

export function startState(packet: LivePacket, isSettled: boolean): WalkState {
  return {
    packet,
    steps: undefined,
    chance: CERTAIN,
    isConditional: false,
    choices: undefined,
    answers: new Map(),
    binding: undefined,
    rerouted: undefined,
    isDestinationSettled: isSettled,
    isSourceSettled: isSettled,
    outcome: undefined,
  }
}

export function addStep(state: WalkState, step: WalkStep): WalkState {
  return { ...state, steps: append(state.steps, step) }
}

export function end(state: WalkState, outcome: Outcome): WalkState {
  return { ...state, outcome }
}

export function settle(state: WalkState, key: string, answer: boolean): WalkState {
  return { ...state, answers: new Map(state.answers).set(key, answer) }
}

export function answered(state: WalkState, question: Question, holds: boolean): WalkState {
  const { key, chance } = question
  const part = chance && (holds ? chance : complement(chance))
  const choice: Choice = {
    question: `whether ${question.fact}`,
    answer: holds ? question.fact : question.denial,
    ...(part ? { chance: toChance(part) } : {}),
  }
  return {
    ...state,
    chance: part ? times(state.chance, part) : state.chance,
    isConditional: state.isConditional || !part,
    choices: append(state.choices, choice),
    answers: key === undefined ? state.answers : new Map(state.answers).set(key, holds),
  }
}
