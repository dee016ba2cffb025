import type { Client } from '../contract/rpc.ts'

/** Nobody's eye is faster, and the kernel's walk is not free. */
const SHORTEST_INTERVAL_MS = 50
/** A look that takes long is repeated so much later that looking costs at most a twentieth of one core. */
const REST_FOR_EACH_LOOK = 19
/** Weight of the newest look in the average cost: a single dear one (rules read anew) must not make the next wait. */
const NEWEST_LOOK_WEIGHT = 0.1

/** A look is taken so often though nothing seems to have moved: somebody may have set counters to zero. */
const LONGEST_STILL_MS = 5_000

export interface Look<T> {
  /** Cheap to ask, and another text whenever `read` may give another value; undefined where nothing tells. */
  readonly movement?: () => string | undefined
  /** The subscription's number comes with it. */
  readonly read: () => T | Promise<T>
  readonly show: (value: T, subscription: number) => void
  /** A look that fails; the next one is tried all the same. */
  readonly failed: (error: unknown) => void
  /** Nobody looks any more. */
  readonly ended?: () => void
}

/** Subscriptions to what changes in the kernel. Without one nothing is read; a client that is slow gets fewer looks. */
export class Samplers {
  readonly #stops = new Map<number, () => void>()
  #last = 0

  /** Something that comes by itself: `open` begins it and returns what ends it. Unsubscribed like looks. */
  follow(client: Client, open: (subscription: number) => () => void): number {
    const id = this.#number()
    this.#stops.set(id, open(id))
    client.onGone(() => this.unsubscribe(id))
    return id
  }

  /** The first value is shown at once, the next ones when they differ from the one before. */
  subscribe<T>(client: Client, intervalMs: number, look: Look<T>): number {
    const id = this.#number()
    const shortest = Math.max(intervalMs, SHORTEST_INTERVAL_MS)
    let running = true
    let shown = ''
    let costMs = 0
    let seen: { movement: string | undefined; atMs: number; again: boolean } | undefined
    /** One more look follows each movement: a link counts a packet a moment before the rules do. */
    const isStill = (): boolean => {
      const movement = look.movement?.()
      const now = performance.now()
      const same = movement !== undefined && movement === seen?.movement
      if (same && seen?.again && now - seen.atMs < LONGEST_STILL_MS) return true
      seen = { movement, atMs: now, again: same }
      return false
    }
    let timer: NodeJS.Timeout | undefined
    const lookOnce = async (): Promise<void> => {
      const before = process.cpuUsage()
      try {
        if (client.channel.writable && !isStill()) {
          const value = await look.read()
          const text = JSON.stringify(value)
          if (running && text !== shown) look.show(value, id)
          shown = text
        }
      } catch (error) {
        seen = undefined
        look.failed(error)
      }
      if (!running) return
      const { user, system } = process.cpuUsage(before)
      costMs += ((user + system) / 1000 - costMs) * NEWEST_LOOK_WEIGHT
      timer = setTimeout(next, Math.max(shortest, costMs * REST_FOR_EACH_LOOK))
    }
    const next = (): void => void lookOnce()
    next()
    this.#stops.set(id, () => {
      running = false
      clearTimeout(timer)
      look.ended?.()
    })
    client.onGone(() => this.unsubscribe(id))
    return id
  }

  unsubscribe(id: number): void {
    const stop = this.#stops.get(id)
    if (this.#stops.delete(id)) stop?.()
  }

  #number(): number {
    this.#last += 1
    return this.#last
  }
}
