import { invalidValue } from './field-messages.ts'
import type { FieldPath, PathKey } from './field-path.ts'
import type { Problem } from './problem.ts'
import type { ManifestDocument } from './read-documents.ts'

/** Where one object of a document stands. */
export interface ObjectPlace {
  readonly file: string
  readonly document: ManifestDocument
  /** From the document to the object: empty, or `items`, 3 in a List. */
  readonly keys: readonly PathKey[]
  readonly kind: string
  /** As problems name it: `namespace/name`, or the name alone. */
  readonly name: string
}

/** Collects the problems of one object, each with the line of its field. */
export class ObjectReport {
  readonly problems: Problem[] = []
  private readonly place: ObjectPlace

  constructor(place: ObjectPlace) {
    this.place = place
  }

  get hasErrors(): boolean {
    return this.problems.some(({ severity }) => severity === 'error')
  }

  /** `at` is the place to show where the path that Kubernetes names is wider (a label's mapping). */
  error(path: FieldPath, message: string, at: FieldPath = path): void {
    this.add('error', path, message, at)
  }

  warning(path: FieldPath, message: string): void {
    this.add('warning', path, message)
  }

  /** One `Invalid value` for each detail. */
  invalid(path: FieldPath, value: unknown, details: readonly string[], at: FieldPath = path): void {
    for (const detail of details) this.add('error', path, invalidValue(value, detail), at)
  }

  sourceOf(path: FieldPath): string | undefined {
    return this.place.document.sourceOf([...this.place.keys, ...path.keys])
  }

  lineOf(path: FieldPath): number {
    return this.place.document.lineOf([...this.place.keys, ...path.keys])
  }

  private add(severity: Problem['severity'], path: FieldPath, message: string, at: FieldPath = path): void {
    const { file, kind, name } = this.place
    this.problems.push({ severity, file, line: this.lineOf(at), kind, name, path: path.toString(), message })
  }
}
