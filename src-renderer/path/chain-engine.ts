import type { TargetRules } from '../../src-main/contract/lab-contract.ts'
import { IN_PAGE, WorkerLine } from '../worker-line.ts'
import type { ChainGraph, GraphWish } from './chain-graph.ts'
import { ChainPicture } from './chain-picture.ts'
import type { ChainAnswer, ChainRequest } from './chain-worker.ts'

/** Draws the chains of the rules that it read last: small sets in the page, at once; large ones in a worker. */
export class ChainEngine {
  readonly #here = new ChainPicture()
  readonly #line = new WorkerLine<ChainRequest, ChainAnswer>(
    () => new Worker(new URL('./chain-worker.ts', import.meta.url), { type: 'module' }),
  )
  #isInWorker = false

  /** Resolves with what is wrong with the text, if anything is. */
  async read({ text, origins, handMade, missing }: TargetRules): Promise<string | undefined> {
    const rules = { origins, handMade, missing }
    if (text.length <= IN_PAGE) {
      this.#isInWorker = false
      return this.#here.read(text, rules)
    }
    const answer = await this.#line.ask((id) => ({ kind: 'read', id, text, rules }))
    this.#isInWorker = true
    return answer.kind === 'read' ? answer.problem : undefined
  }

  /** Undefined before rules were read. */
  draw(wish: GraphWish): ChainGraph | undefined | Promise<ChainGraph | undefined> {
    if (!this.#isInWorker) return this.#here.draw(wish)
    return this.#line
      .ask((id) => ({ kind: 'draw', id, wish }))
      .then((answer) => (answer.kind === 'draw' ? answer.graph : undefined))
  }
}
