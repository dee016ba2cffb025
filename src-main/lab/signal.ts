/** A value that is told to whoever listens. */
export class Signal<T> {
  readonly #listeners = new Set<(value: T) => void>()

  /** Returns the function that stops listening. */
  readonly listen = (listener: (value: T) => void): (() => void) => {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  get isHeard(): boolean {
    return this.#listeners.size > 0
  }

  emit(value: T): void {
    for (const listener of this.#listeners) listener(value)
  }
}
