import type { TargetId } from '../contract/lab-contract.ts'
import type { Client } from '../contract/rpc.ts'
import type { HostId } from '../domain/topology/plan-network.ts'
import type { RuleReader } from './rule-reader.ts'

/** Nobody's eye is faster, and the kernel's walk is not free. */
const SHORTEST_INTERVAL_MS = 50

interface Subscription {
  readonly stop: () => void
}

export interface SampleWish {
  readonly target: TargetId
  readonly table: string
  /** Empty means every chain of the table. */
  readonly chains: readonly string[]
  readonly intervalMs: number
}

/** Counter subscriptions. Without one, nothing is read; a client that reads slowly gets fewer samples, not a queue. */
export class Samplers {
  readonly #readerOf: (target: HostId) => RuleReader
  readonly #subscriptions = new Map<number, Subscription>()
  #last = 0

  constructor(readerOf: (target: HostId) => RuleReader) {
    this.#readerOf = readerOf
  }

  /** The first sample comes at once, the next ones when something in them is different. */
  subscribe(client: Client, wish: SampleWish): number {
    this.#last += 1
    const id = this.#last
    const reader = this.#readerOf(wish.target as HostId)
    const intervalMs = Math.max(wish.intervalMs, SHORTEST_INTERVAL_MS)
    let running = true
    let shown = ''
    let timer: NodeJS.Timeout | undefined
    const sample = async (): Promise<void> => {
      try {
        if (client.channel.writable) {
          const chains = await reader.chains(wish.table, wish.chains.length > 0 ? wish.chains : undefined)
          const text = JSON.stringify(chains)
          if (running && text !== shown) {
            shown = text
            client.emit('counters/sample', {
              subscription: id,
              target: wish.target,
              table: wish.table,
              atMs: performance.now(),
              chains,
            })
          }
        }
      } finally {
        if (running) timer = setTimeout(next, intervalMs)
      }
    }
    const next = (): void => {
      // A read that fails (rules in motion, the host gone) is tried again at the next tick.
      sample().catch(() => undefined)
    }
    next()
    this.#subscriptions.set(id, {
      stop: () => {
        running = false
        clearTimeout(timer)
      },
    })
    client.onGone(() => this.unsubscribe(id))
    return id
  }

  unsubscribe(id: number): void {
    this.#subscriptions.get(id)?.stop()
    this.#subscriptions.delete(id)
  }
}
