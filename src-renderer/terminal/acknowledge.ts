/** The lab is told in steps of this many characters; it pauses a terminal that is 256 Ki characters ahead. */
const STEP = 16 * 1024

/** Counts what a terminal has drawn; gives the amount to acknowledge each time that a step is full, else 0. */
export class Acknowledger {
  #drawn = 0

  drew(characters: number): number {
    this.#drawn += characters
    if (this.#drawn < STEP) return 0
    const amount = this.#drawn
    this.#drawn = 0
    return amount
  }

  /** For a new stream, or a new connection to the same one. */
  reset(): void {
    this.#drawn = 0
  }
}
