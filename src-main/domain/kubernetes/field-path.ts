export type PathKey = string | number

/** The place of a field inside its object, printed as Kubernetes prints it: `spec.ports[0].nodePort`. */
export class FieldPath {
  static readonly root = new FieldPath(undefined, '')

  private readonly parent: FieldPath | undefined
  private readonly key: PathKey

  private constructor(parent: FieldPath | undefined, key: PathKey) {
    this.parent = parent
    this.key = key
  }

  child(...names: readonly PathKey[]): FieldPath {
    let path: FieldPath = this
    for (const name of names) path = new FieldPath(path, name)
    return path
  }

  /** From the root of the object to the field. */
  get keys(): readonly PathKey[] {
    const keys: PathKey[] = []
    for (let path: FieldPath = this; path.parent; path = path.parent) keys.push(path.key)
    return keys.reverse()
  }

  toString(): string {
    let text = ''
    for (const key of this.keys) {
      if (typeof key === 'number' || !/^\w+$/.test(key)) text += `[${key}]`
      else text += text === '' ? key : `.${key}`
    }
    return text
  }
}
