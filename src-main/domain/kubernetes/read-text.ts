import type { PathKey } from './field-path.ts'

/** One value read from a text (a YAML document or a JSON value), with what was wrong in the text. */
export interface ReadText {
  /** As JSON.parse would give it; undefined when the text cannot be read. */
  readonly value: unknown
  readonly problems: readonly TextProblem[]
  /** Where the field stands; its nearest parent where the field is missing. */
  offsetOf(keys: readonly PathKey[]): number
  /** A scalar as it is written. */
  sourceOf(keys: readonly PathKey[]): string | undefined
}

export interface TextProblem {
  readonly severity: 'error' | 'warning'
  readonly offset: number
  readonly message: string
}
