import { type ExplanationPart, part } from './explain-parts.ts'
import type { Option } from './rule-spec.ts'
import { quoteWord } from './rule-words.ts'

/**
 * Hands out the options of one match or target, each once. What nobody asked for is left over, so that an option
 * can be shown as it stands but never gets lost.
 */
export class OptionReader {
  readonly #left: Option[]

  constructor(options: readonly Option[]) {
    this.#left = [...options]
  }

  /** Negated or not; only with exactly one value. */
  signed(...names: readonly string[]): { value: string; negated: boolean } | undefined {
    const option = this.#take((found) => names.includes(found.name) && found.values.length === 1)
    return option && { value: option.values[0] ?? '', negated: option.negated }
  }

  /** Negated or not; only with exactly two values. */
  pair(...names: readonly string[]): { values: readonly [string, string]; negated: boolean } | undefined {
    const option = this.#take((found) => names.includes(found.name) && found.values.length === 2)
    return option && { values: [option.values[0] ?? '', option.values[1] ?? ''], negated: option.negated }
  }

  /** The value of an option that is not negated. */
  value(...names: readonly string[]): string | undefined {
    const option = this.#take(
      (found) => names.includes(found.name) && found.values.length === 1 && !found.negated,
    )
    return option?.values[0]
  }

  /** Of an option without a value that is not negated. */
  flag(name: string): boolean {
    return this.signedFlag(name, false) !== undefined
  }

  /** Of an option without a value; `negated` asks for one of the two. */
  signedFlag(name: string, negated?: boolean): { negated: boolean } | undefined {
    return this.#take(
      (found) =>
        found.name === name &&
        found.values.length === 0 &&
        (negated === undefined || found.negated === negated),
    )
  }

  /** As they stand; empty when everything was asked for. */
  leftover(): string {
    return this.#left.map(optionText).join(' ')
  }

  #take(isWanted: (option: Option) => boolean): Option | undefined {
    const at = this.#left.findIndex(isWanted)
    return at === -1 ? undefined : this.#left.splice(at, 1)[0]
  }
}

export function unknownWords(...texts: readonly string[]): ExplanationPart {
  return part('unknown', texts.filter((text) => text !== '').join(' '))
}

function optionText({ name, negated, values }: Option): string {
  return [...(negated ? ['!'] : []), name, ...values.map(quoteWord)].join(' ')
}
