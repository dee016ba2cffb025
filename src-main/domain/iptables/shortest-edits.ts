/** A step from one list to another; places count from 0. */
export type Edit =
  | { readonly kind: 'kept'; readonly before: number; readonly after: number }
  | { readonly kind: 'removed'; readonly before: number }
  | { readonly kind: 'added'; readonly after: number }

/**
 * Steps of Myers' search that are spent on one stretch before it is cut at the best place found so far. Lists that
 * differ nearly everywhere would otherwise cost the square of their length; with it the script stays right and may
 * merely be longer than the shortest.
 */
const MAX_STEPS = 600

/** The edit script from one list to another, with as many items kept as can be (Myers, O(ND), linear space). */
export function shortestEdits(before: readonly string[], after: readonly string[]): Edit[] {
  const ids = new Map<string, number>()
  const idOf = (text: string): number => {
    const known = ids.get(text)
    if (known !== undefined) return known
    ids.set(text, ids.size)
    return ids.size - 1
  }
  const a = Int32Array.from(before, idOf)
  const b = Int32Array.from(after, idOf)
  return new EditSearch(a, b).run()
}

interface Range {
  readonly a0: number
  readonly a1: number
  readonly b0: number
  readonly b1: number
}

/** How far one end's search came on each diagonal, and how many diagonals left the grid below and above. */
interface Frontier {
  readonly reached: Int32Array
  low: number
  high: number
}

class EditSearch {
  readonly #a: Int32Array
  readonly #b: Int32Array
  /** 1 for an item without a partner. */
  readonly #removed: Uint8Array
  readonly #added: Uint8Array
  readonly #forward: Int32Array
  readonly #backward: Int32Array
  readonly #zero: number

  constructor(a: Int32Array, b: Int32Array) {
    this.#a = a
    this.#b = b
    this.#removed = new Uint8Array(a.length)
    this.#added = new Uint8Array(b.length)
    this.#zero = a.length + b.length + 2
    this.#forward = new Int32Array(2 * this.#zero + 1)
    this.#backward = new Int32Array(2 * this.#zero + 1)
  }

  run(): Edit[] {
    const open: Range[] = [{ a0: 0, a1: this.#a.length, b0: 0, b1: this.#b.length }]
    for (let range = open.pop(); range; range = open.pop()) this.#divide(range, open)
    return this.#script()
  }

  #divide({ a0, a1, b0, b1 }: Range, open: Range[]): void {
    while (a0 < a1 && b0 < b1 && this.#a[a0] === this.#b[b0]) {
      a0++
      b0++
    }
    while (a0 < a1 && b0 < b1 && this.#a[a1 - 1] === this.#b[b1 - 1]) {
      a1--
      b1--
    }
    if (a0 === a1) this.#added.fill(1, b0, b1)
    else if (b0 === b1) this.#removed.fill(1, a0, a1)
    else {
      const [x, y] = this.#cut({ a0, a1, b0, b1 })
      open.push({ a0: x, a1, b0: y, b1 }, { a0, a1: x, b0, b1: y })
    }
  }

  /** A point that a shortest way passes; where the search is cut short, the farthest one that it came to. */
  #cut(range: Range): [number, number] {
    const n = range.a1 - range.a0
    const m = range.b1 - range.b0
    const most = Math.ceil((n + m) / 2)
    const forward = this.#frontier(this.#forward, most)
    const backward = this.#frontier(this.#backward, most)
    for (let d = 0; d <= most; d++) {
      const met =
        this.#advance(range, d, forward, backward, false) ?? this.#advance(range, d, backward, forward, true)
      if (met) return met
      if (d === MAX_STEPS) return this.#farthest(range, d, forward.reached)
    }
    return [range.a1, range.b0]
  }

  #frontier(reached: Int32Array, most: number): Frontier {
    reached.fill(-1, this.#zero - most - 1, this.#zero + most + 2)
    reached[this.#zero + 1] = 0
    return { reached, low: 0, high: 0 }
  }

  /** One more step from one end, on every diagonal that is still inside; a point when it meets the other end's. */
  #advance(
    { a0, a1, b0, b1 }: Range,
    d: number,
    own: Frontier,
    other: Frontier,
    isBackward: boolean,
  ): [number, number] | undefined {
    const n = a1 - a0
    const m = b1 - b0
    const { reached } = own
    for (let k = -d + own.low; k <= d - own.high; k += 2) {
      const place = this.#zero + k
      const less = at(reached, place - 1)
      const more = at(reached, place + 1)
      let x = k === -d || (k !== d && less < more) ? more : less + 1
      let y = x - k
      while (
        x < n &&
        y < m &&
        this.#isEqualAt(isBackward ? a1 - 1 - x : a0 + x, isBackward ? b1 - 1 - y : b0 + y)
      ) {
        x++
        y++
      }
      reached[place] = x
      if (x > n) own.high += 2
      else if (y > m) own.low += 2
      else {
        const opposite = n - m - k
        const steps = isBackward ? d : d - 1
        if (Math.abs(opposite) > steps || (opposite - steps) % 2 !== 0) continue
        const theirs = at(other.reached, this.#zero + opposite)
        if (theirs === -1 || x < n - theirs) continue
        return isBackward ? [a1 - x, b1 - y] : [a0 + x, b0 + y]
      }
    }
    return undefined
  }

  #isEqualAt(a: number, b: number): boolean {
    return this.#a[a] === this.#b[b]
  }

  #farthest({ a0, a1, b0, b1 }: Range, d: number, reached: Int32Array): [number, number] {
    let best = 0
    let point: [number, number] = [a1, b0]
    for (let k = -d; k <= d; k += 2) {
      const x = at(reached, this.#zero + k)
      const y = x - k
      if (x < 0 || y < 0 || x > a1 - a0 || y > b1 - b0 || x + y <= best) continue
      best = x + y
      point = [a0 + x, b0 + y]
    }
    return point
  }

  #script(): Edit[] {
    const edits: Edit[] = []
    let before = 0
    let after = 0
    while (before < this.#a.length || after < this.#b.length) {
      if (this.#removed[before] === 1) edits.push({ kind: 'removed', before: before++ })
      else if (this.#added[after] === 1) edits.push({ kind: 'added', after: after++ })
      else edits.push({ kind: 'kept', before: before++, after: after++ })
    }
    return edits
  }
}

function at(array: Int32Array, index: number): number {
  return array[index] ?? 0
}
