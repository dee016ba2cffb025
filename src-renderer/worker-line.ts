/** Rule texts of up to so many characters (some 400 rules) are read in the page: quicker than the way to a worker. */
export const IN_PAGE = 60_000

interface Numbered {
  readonly id: number
}

/** Asks a worker, which is started with the first question, and gives each answer to who asked. */
export class WorkerLine<Request extends Numbered, Answer extends Numbered> {
  readonly #start: () => Worker
  #worker: Worker | undefined
  #last = 0
  readonly #waiting = new Map<number, { resolve: (answer: Answer) => void; reject: (error: Error) => void }>()

  constructor(start: () => Worker) {
    this.#start = start
  }

  /** Rejects where the worker cannot be loaded or fails. */
  ask(request: (id: number) => Request): Promise<Answer> {
    this.#last += 1
    const id = this.#last
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#open().postMessage(request(id))
    })
  }

  #open(): Worker {
    if (this.#worker) return this.#worker
    const worker = this.#start()
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      this.#waiting.get(data.id)?.resolve(data)
      this.#waiting.delete(data.id)
    }
    worker.onerror = (event) => {
      for (const { reject } of this.#waiting.values())
        reject(new Error(event.message || 'the rules cannot be read in a worker'))
      this.#waiting.clear()
      // What could not be loaded or broke answers no more: the next question starts another.
      worker.terminate()
      this.#worker = undefined
    }
    this.#worker = worker
    return worker
  }
}

interface Answered<Answer> {
  readonly answer: Answer
  /** Moved to the page instead of copied. */
  readonly transfer?: Transferable[]
}

/** What a dedicated worker has; the page's own types speak of a window here. */
interface WorkerScope<Request, Answer> {
  onmessage: ((event: MessageEvent<Request>) => void) | null
  postMessage(answer: Answer, transfer: Transferable[]): void
}

/** The worker's side of the line. */
export function answerLine<Request, Answer>(answerTo: (request: Request) => Answered<Answer>): void {
  const scope = globalThis as unknown as WorkerScope<Request, Answer>
  scope.onmessage = ({ data }) => {
    const { answer, transfer = [] } = answerTo(data)
    scope.postMessage(answer, transfer)
  }
}
