import { IN_PAGE, WorkerLine } from '../worker-line.ts'
import { indexRules, type RuleIndex } from './rule-index.ts'
import type { WorkerAnswer, WorkerRequest } from './rule-worker.ts'
import { lowerCase, searchRules } from './search.ts'

/** Reads a rule text and looks through the last one that it read. */
export class RuleEngine {
  readonly #line = new WorkerLine<WorkerRequest, WorkerAnswer>(
    () => new Worker(new URL('./rule-worker.ts', import.meta.url), { type: 'module' }),
  )
  #isInWorker = false
  #lowered: string | undefined
  #text = ''
  #index: RuleIndex = { tables: [], problems: [] }

  async index(text: string): Promise<RuleIndex> {
    if (text.length <= IN_PAGE) {
      this.#text = text
      this.#lowered = undefined
      this.#index = indexRules(text)
      this.#isInWorker = false
      return this.#index
    }
    const answer = await this.#line.ask((id) => ({ kind: 'index', id, text }))
    this.#isInWorker = true
    return answer.kind === 'index' ? answer.index : this.#index
  }

  /** The rules of each table of the last text, in the order of the text. */
  async search(query: string): Promise<readonly Int32Array[]> {
    if (this.#isInWorker) {
      const answer = await this.#line.ask((id) => ({ kind: 'search', id, query }))
      return answer.kind === 'search' ? answer.hits : []
    }
    this.#lowered ??= lowerCase(this.#text)
    return searchRules(this.#lowered, this.#index, query)
  }
}
