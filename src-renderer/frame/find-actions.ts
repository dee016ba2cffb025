import { groupBy } from './group-by.ts'

/** What finding looks at. */
export interface Findable {
  readonly group: string
  readonly name: string
  /** Only found when it is looked for: there can be thousands. */
  readonly hidden?: boolean
}

/** More are never shown; a longer query finds the rest. */
const AT_MOST = 60

/** Every word of the query stands in the action's group or name; those whose name begins with it come first. */
export function findActions<T extends Findable>(actions: readonly T[], query: string): readonly T[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return actions.filter(({ hidden }) => !hidden).slice(0, AT_MOST)
  const scored = actions.flatMap((action) => {
    const score = scoreOf(action, words)
    return score === undefined ? [] : [{ action, score }]
  })
  return scored
    .sort((a, b) => a.score - b.score)
    .slice(0, AT_MOST)
    .map(({ action }) => action)
}

/** 0 where every word begins a word of the name, more for each that stands elsewhere; undefined where one is missing. */
function scoreOf({ group, name }: Findable, words: readonly string[]): number | undefined {
  const low = name.toLowerCase()
  let score = 0
  for (const word of words) {
    const at = low.indexOf(word)
    if (at < 0 && !group.toLowerCase().includes(word)) return undefined
    if (at < 0) score += 3
    else if (at > 0) score += /[\s/-]/.test(low.charAt(at - 1)) ? 1 : 2
  }
  return score
}

/** Those first whose name a word of the query is part of; else as they come. */
export function namedFirst<T>(
  values: readonly T[],
  nameOf: (value: T) => string,
  query: string,
): readonly T[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const isNamed = (value: T): boolean => words.some((word) => nameOf(value).toLowerCase().includes(word))
  return [...values.filter(isNamed), ...values.filter((value) => !isNamed(value))]
}

export interface ActionGroup<T> {
  readonly title: string
  readonly actions: readonly T[]
}

/** Groups in the order of their best action. */
export function groupActions<T extends Findable>(actions: readonly T[]): readonly ActionGroup<T>[] {
  return [...groupBy(actions, ({ group }) => group)].map(([title, own]) => ({ title, actions: own }))
}
