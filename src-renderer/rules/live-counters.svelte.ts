import type { LabConnection } from '../../src-main/contract/rpc.ts'
import type { Counters } from '../../src-main/domain/iptables/rule-set.ts'
import { subscribe } from '../subscribe.ts'
import { CounterTrack, HIT_MS, type Hit } from './delta.ts'

const INTERVAL_MS = 300
/** A list that scrolls asks for its chains when it has come to rest. */
const SETTLE_MS = 120

export interface CounterWish {
  readonly connection: LabConnection
  readonly target: string
  readonly table: string
  readonly chains: readonly string[]
}

/** Counters of the chains that are on the screen, and of no others. */
export class LiveCounters {
  /** Moves with each sample and when hits have been seen for long enough; what shows counters reads it. */
  version = $state(0)
  readonly #track = new CounterTrack()
  #wished = ''
  #place = ''
  #settle: ReturnType<typeof setTimeout> | undefined
  #quiet: ReturnType<typeof setTimeout> | undefined
  #stop: (() => void) | undefined

  watch(wish: CounterWish | undefined): void {
    const wished = wish ? [wish.target, wish.table, ...wish.chains].join(' ') : ''
    if (wished === this.#wished) return
    this.#wished = wished
    clearTimeout(this.#settle)
    if (!wish) {
      this.#end()
      this.#track.clear()
      return
    }
    this.#settle = setTimeout(() => {
      const place = `${wish.target} ${wish.table}`
      if (place === this.#place) this.#track.keepOnly(new Set(wish.chains))
      else this.#track.clear()
      this.#place = place
      this.#end()
      this.#stop = this.#subscribe(wish)
    }, SETTLE_MS)
  }

  close(): void {
    this.watch(undefined)
    clearTimeout(this.#quiet)
  }

  /** Those of the last sample; undefined where none has come for that rule. */
  countersOf(chain: string, at: number, text: string): Counters | undefined {
    void this.version
    return this.#track.countersOf(chain, at, text)
  }

  policyOf(chain: string): Counters | undefined {
    void this.version
    return this.#track.policyOf(chain)
  }

  /** Packets that the chain's rules have just counted; 0 when it is quiet. */
  hitsIn(chain: string): bigint {
    void this.version
    return this.#track.hitsIn(chain, performance.now())
  }

  hitOf(chain: string, at: number): Hit | undefined {
    void this.version
    return this.#track.hitOf(chain, at, performance.now())
  }

  #subscribe({ connection, target, table, chains }: CounterWish): () => void {
    const wish = { target, table, chains, intervalMs: INTERVAL_MS }
    return subscribe(connection, 'counters/subscribe', wish, 'counters/sample', {
      take: (sample) => {
        this.#track.take(sample.chains, performance.now())
        this.version += 1
        this.#bequiet()
      },
      failed: () => undefined, // the lab is gone, which the frame says, or the table is, which the rules say
    })
  }

  /** Once more when the hits have been seen, so that they go. */
  #bequiet(): void {
    clearTimeout(this.#quiet)
    if (!this.#track.isLively(performance.now())) return
    this.#quiet = setTimeout(() => {
      this.version += 1
    }, HIT_MS + 50)
  }

  #end(): void {
    this.#stop?.()
    this.#stop = undefined
  }
}
