import type { Counters } from '../../src-main/domain/iptables/rule-set.ts'
import { type CountState, countSample, LIT_MS } from './count-burst.ts'

/** The last change stays to be read for so long. */
const RECENT_MS = 4000

/** One counter on the screen; only what shows this one is drawn again when it moves. */
export class LiveCount {
  state = $state.raw<CountState | undefined>()
  /** Was hit just now. */
  isLit = $state(false)
  /** Was hit so lately that the change is still shown. */
  isRecent = $state(false)
  /** The rule that is counted: another one at the same place starts anew. Undefined before the first sample. */
  text: string | undefined
}

/** Counters by the id of the cell or row that shows them. */
export class LiveCounts {
  readonly #counts = new Map<string, LiveCount>()
  readonly #lively = new Set<LiveCount>()
  #timer: ReturnType<typeof setTimeout> | undefined

  of(id: string): LiveCount {
    const known = this.#counts.get(id)
    if (known) return known
    const count = new LiveCount()
    this.#counts.set(id, count)
    return count
  }

  /** Whether anything shows it. */
  has(id: string): boolean {
    return this.#counts.has(id)
  }

  /** The next sample of these is no hit: nobody looked since the last one. */
  rebase(prefix = ''): void {
    for (const [id, count] of this.#counts) if (id.startsWith(prefix)) count.text = undefined
  }

  take(id: string, counters: Counters, text = ''): void {
    const count = this.of(id)
    const nowMs = performance.now()
    const before = count.text === text ? count.state : undefined
    const next = countSample(before, counters, nowMs)
    count.text = text
    if (next === count.state) return
    count.state = next
    if (next.hitAtMs !== nowMs) return
    count.isLit = true
    count.isRecent = true
    this.#lively.add(count)
    this.#schedule()
  }

  /** What shows a count keeps it: the next sample is as if the first. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#lively.clear()
    for (const count of this.#counts.values()) {
      count.state = undefined
      count.isLit = false
      count.isRecent = false
      count.text = undefined
    }
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      const nowMs = performance.now()
      for (const count of this.#lively) {
        const ageMs = nowMs - (count.state?.hitAtMs ?? 0)
        if (ageMs >= LIT_MS) count.isLit = false
        if (ageMs < RECENT_MS) continue
        count.isRecent = false
        this.#lively.delete(count)
      }
      if (this.#lively.size > 0) this.#schedule()
    }, 150)
  }
}
