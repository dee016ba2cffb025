/** The last lines of a text that comes in pieces. */
export class KeptLines {
  readonly #most: number
  #lines: string[] = []
  /** What has no end yet. */
  #rest = ''
  /** Earlier lines have been given up. */
  isShortened = false

  constructor(most: number) {
    this.#most = most
  }

  add(piece: string): void {
    const lines = (this.#rest + piece).split('\n')
    this.#rest = lines.pop() ?? ''
    const all = [...this.#lines, ...lines]
    this.isShortened ||= all.length > this.#most
    this.#lines = all.slice(-this.#most)
  }

  get lines(): readonly string[] {
    return this.#rest === '' ? this.#lines : [...this.#lines, this.#rest]
  }
}
