/** What a request can fail with; the caller switches on the code and shows the message. */
export type ErrorCode =
  | 'bad-input' // the request itself, or a manifest in it, is wrong: mend it and ask again
  | 'not-found' // no object, target or node of that name
  | 'conflict' // the state of the lab forbids it (a name in use, an address taken)
  | 'command-failed' // a system command ended with an error; the message holds its argv and stderr
  | 'unavailable' // this machine or this lab cannot do it (a missing tool, a kernel without a feature)
  | 'closed' // the other end went away before it answered
  | 'internal' // a fault of Chainwalk itself

export class LabError extends Error {
  readonly code: ErrorCode
  /** Further data of the failure, e.g. the problems of a manifest. JSON-safe. */
  readonly details: unknown

  constructor(code: ErrorCode, message: string, details?: unknown) {
    super(message)
    this.name = 'LabError'
    this.code = code
    this.details = details
  }
}
