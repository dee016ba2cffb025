import { hash32 } from './object-names.ts'

/** Whose a port is, for messages. */
export type PortOwner = string

/** The node ports of a cluster: each number belongs to one Service, which may use it for several protocols. */
export class NodePorts {
  readonly #range: { first: number; last: number }
  readonly #owners = new Map<number, PortOwner>()

  constructor(range: { first: number; last: number }) {
    this.#range = range
  }

  owner(port: number): PortOwner | undefined {
    return this.#owners.get(port)
  }

  isInRange(port: number): boolean {
    return port >= this.#range.first && port <= this.#range.last
  }

  describeRange(): string {
    return `${this.#range.first}-${this.#range.last}`
  }

  take(port: number, owner: PortOwner): void {
    this.#owners.set(port, owner)
  }

  /**
   * A free port that follows from `seed`; undefined when all are taken. As in Kubernetes the lower part of the range
   * is left to those who ask for a number, until the upper part is full.
   */
  allocate(seed: string, owner: PortOwner): number | undefined {
    const { first, last } = this.#range
    const size = last - first + 1
    const band = Math.min(Math.max(16, Math.floor(size / 32)), 128)
    const offset = size > band ? band : 0
    const port = this.#search(first + offset, last, seed) ?? this.#search(first, first + offset - 1, seed)
    if (port !== undefined) this.take(port, owner)
    return port
  }

  #search(first: number, last: number, seed: string): number | undefined {
    const size = last - first + 1
    const start = size > 0 ? hash32(seed) % size : 0
    for (let step = 0; step < size; step++) {
      const port = first + ((start + step) % size)
      if (!this.#owners.has(port)) return port
    }
    return undefined
  }
}
