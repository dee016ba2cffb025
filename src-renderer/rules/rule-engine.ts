import { indexRules, type RuleIndex } from './rule-index.ts'
import type { WorkerAnswer, WorkerRequest } from './rule-worker.ts'
import { lowerCase, searchRules } from './search.ts'

/** Texts of up to so many characters (some 400 rules) are read in the page: quicker than the way to a worker. */
const IN_PAGE = 60_000

/** Reads a rule text and looks through the last one that it read. */
export class RuleEngine {
  #worker: Worker | undefined
  #isInWorker = false
  #lowered: string | undefined
  #text = ''
  #index: RuleIndex = { tables: [], problems: [] }
  #last = 0
  readonly #waiting = new Map<number, (answer: WorkerAnswer) => void>()

  async index(text: string): Promise<RuleIndex> {
    if (text.length <= IN_PAGE) {
      this.#text = text
      this.#lowered = undefined
      this.#index = indexRules(text)
      this.#isInWorker = false
      return this.#index
    }
    const answer = await this.#ask((id) => ({ kind: 'index', id, text }))
    this.#isInWorker = true
    return answer.kind === 'index' ? answer.index : this.#index
  }

  /** The rules of each table of the last text, in the order of the text. */
  async search(query: string): Promise<readonly Int32Array[]> {
    if (this.#isInWorker) {
      const answer = await this.#ask((id) => ({ kind: 'search', id, query }))
      return answer.kind === 'search' ? answer.hits : []
    }
    this.#lowered ??= lowerCase(this.#text)
    return searchRules(this.#lowered, this.#index, query)
  }

  #ask(request: (id: number) => WorkerRequest): Promise<WorkerAnswer> {
    this.#last += 1
    const id = this.#last
    const worker = this.#open()
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, resolve)
      worker.onerror = (event) => reject(new Error(event.message || 'the rules cannot be read in a worker'))
      worker.postMessage(request(id))
    })
  }

  #open(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(new URL('./rule-worker.ts', import.meta.url), { type: 'module' })
    worker.onmessage = ({ data }: MessageEvent<WorkerAnswer>) => {
      this.#waiting.get(data.id)?.(data)
      this.#waiting.delete(data.id)
    }
    this.#worker = worker
    return worker
  }
}
