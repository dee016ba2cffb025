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
    }
    this.#worker = worker
    return worker
  }
}
