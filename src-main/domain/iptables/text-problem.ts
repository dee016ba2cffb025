/** One thing wrong (or worth a warning) in a rule text, with the line where a person can mend it. */
export interface TextProblem {
  readonly severity: 'error' | 'warning'
  /** From 1. */
  readonly line: number
  /** What is wrong, then what to do where that is not plain. */
  readonly message: string
}
