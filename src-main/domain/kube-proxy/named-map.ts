/**
 * Values by namespace and name. Two levels, because ten thousand joined keys must be made and hashed anew at every
 * sync while an object's own strings keep their hash.
 */
export interface ReadonlyNamedMap<T> {
  get(namespace: string, name: string): T | undefined
  values(): Iterable<{ readonly namespace: string; readonly name: string; readonly value: T }>
}

export class NamedMap<T> implements ReadonlyNamedMap<T> {
  readonly #namespaces = new Map<string, Map<string, T>>()

  get(namespace: string, name: string): T | undefined {
    return this.#namespaces.get(namespace)?.get(name)
  }

  set(namespace: string, name: string, value: T): void {
    let names = this.#namespaces.get(namespace)
    if (!names) {
      names = new Map()
      this.#namespaces.set(namespace, names)
    }
    names.set(name, value)
  }

  *values(): Iterable<{ readonly namespace: string; readonly name: string; readonly value: T }> {
    for (const [namespace, names] of this.#namespaces)
      for (const [name, value] of names) yield { namespace, name, value }
  }
}
