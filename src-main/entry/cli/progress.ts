const SHOW_AFTER_MS = 1000

/** Where the text goes to a file or a pipe, no more than one line in this time. */
const LINE_EVERY_MS = 2000

/** Says on stderr what long work is doing, once it has taken a second; on a terminal in one line that goes away. */
export class Progress {
  readonly #started = Date.now()
  readonly #onTerminal = process.stderr.isTTY
  #shown = false
  #lastLine = 0
  #text = ''
  readonly #timer: NodeJS.Timeout

  constructor(text: string) {
    this.#text = text
    this.#timer = setTimeout(() => {
      this.#draw()
    }, SHOW_AFTER_MS)
    this.#timer.unref()
  }

  update(text: string): void {
    if (text === this.#text) return
    this.#text = text
    if (Date.now() - this.#started >= SHOW_AFTER_MS) this.#draw()
  }

  end(): void {
    clearTimeout(this.#timer)
    if (this.#shown && this.#onTerminal) process.stderr.write('\r\u001b[K')
    this.#shown = false
  }

  #draw(): void {
    this.#shown = true
    if (this.#onTerminal) process.stderr.write(`\r\u001b[K${this.#text} …`)
    else if (Date.now() - this.#lastLine >= LINE_EVERY_MS) {
      this.#lastLine = Date.now()
      process.stderr.write(`${this.#text} …\n`)
    }
  }
}

/** Runs `work`, saying what it does if it takes longer than a second. */
export async function withProgress<T>(text: string, work: (progress: Progress) => Promise<T>): Promise<T> {
  const progress = new Progress(text)
  try {
    return await work(progress)
  } finally {
    progress.end()
  }
}
