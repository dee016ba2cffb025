/** failed: no lab is possible. warning: a lab works, without something. unknown: it could not be looked at. */
export type CheckStatus = 'ok' | 'warning' | 'failed' | 'unknown'

/** One line of `chainwalk doctor`, and one entry of its JSON. */
export interface Check {
  /** Stays the same from version to version. */
  readonly id: string
  readonly title: string
  readonly status: CheckStatus
  /** What was seen. */
  readonly found: string
  /** What to do: lines, the first of which is a command where there is one. Null where nothing is to be done. */
  readonly remedy: string | null
}

/** What a check finds, before it has a name. */
export type Finding = Pick<Check, 'status' | 'found' | 'remedy'>

export const ok = (found: string): Finding => ({ status: 'ok', found, remedy: null })
export const warning = (found: string, remedy: string | null): Finding => ({
  status: 'warning',
  found,
  remedy,
})
export const failed = (found: string, remedy: string | null): Finding => ({
  status: 'failed',
  found,
  remedy,
})
export const unknown = (found: string): Finding => ({ status: 'unknown', found, remedy: null })

export const check = (id: string, title: string, finding: Finding): Check => ({ id, title, ...finding })
