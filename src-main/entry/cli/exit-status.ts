import { LabError } from '../../contract/errors.ts'

/** 0 done, 1 failed, 2 wrong usage or input, 3 this machine cannot run a lab. */
export const EXIT = { done: 0, failed: 1, usage: 2, machine: 3 } as const

/** A failure that ends the command with its own exit status; the message is all that is printed. */
export class CommandFailure extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export function exitStatusOf(error: unknown): number {
  if (error instanceof CommandFailure) return error.status
  if (!(error instanceof LabError)) return EXIT.failed
  switch (error.code) {
    case 'bad-input':
      return EXIT.usage
    case 'unavailable':
      return EXIT.machine
    case 'not-found':
    case 'conflict':
    case 'command-failed':
    case 'closed':
    case 'internal':
      return EXIT.failed
    default:
      return error.code satisfies never
  }
}
