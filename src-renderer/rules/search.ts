import type { RuleIndex } from './rule-index.ts'

/** The rules of each table whose line holds the words, in the order of the text; counters do not count. */
export function searchRules(lowered: string, index: RuleIndex, query: string): Int32Array[] {
  const wanted = query.toLowerCase()
  return index.tables.map(({ line, body, end, inText }) => {
    const hits: number[] = []
    if (wanted === '') return new Int32Array(0)
    let next = 0
    const first = inText[0]
    const last = inText[inText.length - 1]
    if (first === undefined || last === undefined) return new Int32Array(0)
    const stop = end[last] ?? 0
    let at = lowered.indexOf(wanted, line[first])
    while (at !== -1 && at < stop) {
      next = ruleNear(inText, end, next, at)
      const rule = inText[next]
      if (rule === undefined) break
      const from = body[rule] ?? 0
      const to = end[rule] ?? 0
      if (at < from) at = lowered.indexOf(wanted, from)
      else {
        if (at + wanted.length <= to) hits.push(rule)
        at = lowered.indexOf(wanted, to)
      }
    }
    return Int32Array.from(hits)
  })
}

/** The first rule of the text, from the one given on, whose line ends behind `at`. */
function ruleNear(inText: Int32Array, end: Int32Array, from: number, at: number): number {
  let low = from
  let high = inText.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((end[inText[middle] ?? 0] ?? 0) > at) high = middle
    else low = middle + 1
  }
  return low
}

/** In small letters and of the same length, so that offsets stay right. */
export function lowerCase(text: string): string {
  const lowered = text.toLowerCase()
  return lowered.length === text.length ? lowered : text.replace(/[A-Z]+/g, (word) => word.toLowerCase())
}

/** Where the words stand in a text that is shown. */
export function matchRanges(text: string, query: string): { from: number; to: number }[] {
  if (query === '') return []
  const lowered = lowerCase(text)
  const wanted = query.toLowerCase()
  const ranges: { from: number; to: number }[] = []
  for (let at = lowered.indexOf(wanted); at !== -1; at = lowered.indexOf(wanted, at + wanted.length))
    ranges.push({ from: at, to: at + wanted.length })
  return ranges
}

/** The hit to go to from a row, round at the ends; `hits` are rows in rising order. */
export function nextHit(hits: ArrayLike<number>, from: number, step: 1 | -1): number | undefined {
  if (hits.length === 0) return undefined
  if (step === 1) {
    for (let at = 0; at < hits.length; at += 1) if ((hits[at] ?? 0) > from) return at
    return 0
  }
  for (let at = hits.length - 1; at >= 0; at -= 1) if ((hits[at] ?? 0) < from) return at
  return hits.length - 1
}
