import { addValue } from './multi-map.ts'
import type { Labels } from './objects.ts'
import { matchesSelector } from './select.ts'

/** Finds labelled things by an equality selector without looking at all of them. */
export class LabelIndex<T> {
  readonly #byPair = new Map<string, T[]>()
  readonly #labelsOf: (item: T) => Labels

  constructor(items: Iterable<T>, labelsOf: (item: T) => Labels) {
    this.#labelsOf = labelsOf
    for (const item of items) {
      for (const [key, value] of Object.entries(labelsOf(item)))
        addValue(this.#byPair, `${key}=${value}`, item)
    }
  }

  /** Those that have every pair of the selector, in the order in which they were given; none for an empty selector. */
  select(selector: Labels): readonly T[] {
    let fewest: readonly T[] | undefined
    for (const [key, value] of Object.entries(selector)) {
      const items = this.#byPair.get(`${key}=${value}`) ?? []
      if (!fewest || items.length < fewest.length) fewest = items
    }
    return (fewest ?? []).filter((item) => matchesSelector(selector, this.#labelsOf(item)))
  }
}

/** Finds selectors by the labels that they match, without looking at all of them. */
export class SelectorIndex<T> {
  readonly #byFirstPair = new Map<string, T[]>()
  readonly #selectorOf: (item: T) => Labels

  constructor(items: Iterable<T>, selectorOf: (item: T) => Labels) {
    this.#selectorOf = selectorOf
    for (const item of items) {
      const [first] = Object.entries(selectorOf(item))
      if (first) addValue(this.#byFirstPair, `${first[0]}=${first[1]}`, item)
    }
  }

  /** Those whose selector these labels satisfy; never those with an empty selector. */
  matching(labels: Labels): T[] {
    return Object.entries(labels).flatMap(([key, value]) =>
      (this.#byFirstPair.get(`${key}=${value}`) ?? []).filter((item) =>
        matchesSelector(this.#selectorOf(item), labels),
      ),
    )
  }
}
