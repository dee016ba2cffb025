const SHOW_AFTER_MS = 1000

/** Says on stderr what long work is doing, once it has taken a second; on a terminal in one line that goes away. */
export class Progress {
  readonly #started = Date.now()
  readonly #onTerminal = process.stderr.isTTY
  #shown = false
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
    process.stderr.write(this.#onTerminal ? `\r\u001b[K${this.#text} …` : `${this.#text} …\n`)
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
