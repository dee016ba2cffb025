import type { HookCell } from '../../src-main/contract/lab-contract.ts'
import type { LabConnection } from '../../src-main/contract/rpc.ts'
import { messageOf } from '../frame/message-of.ts'
import { subscribe } from '../subscribe.ts'
import { ChainEngine } from './chain-engine.ts'
import type { ChainGraph, GraphWish } from './chain-graph.ts'
import { LiveCounts } from './live-counts.svelte.ts'
import { cellId } from './netfilter-map.ts'

const INTERVAL_MS = 250

/** What the Path view knows of one node. Whoever shows it decides when it samples. */
export class PathFeed {
  /** By cell id. */
  readonly cells = new LiveCounts()
  /** By row id. */
  readonly rows = new LiveCounts()
  /** Rules in each cell's chain, by cell id; undefined until the first sample. */
  ruleCounts = $state.raw<ReadonlyMap<string, number> | undefined>()
  /** As it was wished for last. */
  graph = $state.raw<ChainGraph | undefined>()
  readonly #chains = new ChainEngine()
  /** Counts up with each set of rules that has been read; 0 while there is none of this node. */
  #rulesRead = $state(0)
  /** Why there are no rules or no numbers. */
  problem = $state<string | undefined>()
  /** Counts the nodes that were shown: an answer about another one is dropped. */
  #shown = 0
  #reading = false
  #wanted: { connection: LabConnection; target: string } | undefined

  /** Forgets everything: another node is shown. */
  clear(): void {
    this.cells.clear()
    this.rows.clear()
    this.ruleCounts = undefined
    this.#rulesRead = 0
    this.problem = undefined
    this.#shown += 1
  }

  /** Reads anew. While one reading is under way, any number of wishes make one more. */
  async readRules(connection: LabConnection, target: string): Promise<void> {
    const wanted = { connection, target }
    if (this.#reading) {
      this.#wanted = wanted
      return
    }
    this.#reading = true
    for (let next: typeof wanted | undefined = wanted; next; next = this.#wanted) {
      this.#wanted = undefined
      await this.#read(next.connection, next.target)
    }
    this.#reading = false
  }

  /** Draws the chains now, and again (in an effect) when other rules have been read. Gives back the end of it. */
  drawChains(wish: GraphWish): () => void {
    let isPast = false
    const drawn = this.#rulesRead === 0 ? undefined : this.#chains.draw(wish)
    if (drawn instanceof Promise)
      drawn.then(
        (graph) => {
          if (!isPast) this.graph = graph
        },
        (error: unknown) => {
          this.problem = messageOf(error)
        },
      )
    else this.graph = drawn
    return () => {
      isPast = true
    }
  }

  /** Gives back the end of it. */
  sampleHooks(connection: LabConnection, target: string): () => void {
    this.cells.rebase()
    return subscribe(connection, 'hooks/subscribe', { target, intervalMs: INTERVAL_MS }, 'hooks/sample', {
      take: ({ cells }) => this.#takeCells(cells),
      failed: (error) => {
        this.problem = messageOf(error)
      },
    })
  }

  /** Of the chains that are drawn, one table at a time. Gives back the end of it. */
  sampleChains(
    connection: LabConnection,
    target: string,
    table: string,
    chains: readonly string[],
  ): () => void {
    this.rows.rebase(`${table} `)
    const wish = { target, table, chains, intervalMs: INTERVAL_MS }
    return subscribe(connection, 'counters/subscribe', wish, 'counters/sample', {
      take: ({ chains: listings }) => {
        for (const { chain, rules } of listings)
          rules.forEach(({ text, counters: { packets, bytes } }, at) => {
            const id = `${table} ${chain} ${at + 1}`
            // KUBE-SERVICES may have 10,000 rules of which twelve are drawn.
            if (this.rows.has(id))
              this.rows.take(id, { packets: BigInt(packets), bytes: BigInt(bytes) }, text)
          })
      },
      failed: (error) => {
        this.problem = messageOf(error)
      },
    })
  }

  async #read(connection: LabConnection, target: string): Promise<void> {
    const shown = this.#shown
    try {
      const rules = await connection.request('rules/read', { target })
      if (shown !== this.#shown) return
      const problem = await this.#chains.read(rules)
      if (shown !== this.#shown) return
      this.problem = problem
      if (problem === undefined) this.#rulesRead += 1
    } catch (error) {
      if (shown === this.#shown) this.problem = messageOf(error)
    }
  }

  #takeCells(cells: readonly HookCell[]): void {
    for (const { hook, table, packets, bytes } of cells)
      this.cells.take(cellId(hook, table), { packets: BigInt(packets), bytes: BigInt(bytes) })
    const counts = new Map(cells.map(({ hook, table, rules }) => [cellId(hook, table), rules]))
    const before = this.ruleCounts
    if (!before || [...counts].some(([id, rules]) => before.get(id) !== rules)) this.ruleCounts = counts
  }
}
