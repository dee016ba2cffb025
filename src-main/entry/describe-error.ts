import { LabError } from '../contract/errors.ts'
import type { Problem } from '../domain/kubernetes/problem.ts'
import { formatProblem } from '../domain/kubernetes/problem.ts'
import { CommandFailure } from './cli/exit-status.ts'

/** What a person is told of a failure: a manifest's problems, a sentence, or for a fault of ours all there is. */
export function describeError(error: unknown): string {
  if (error instanceof LabError && hasProblems(error.details))
    return error.details.problems.map(formatProblem).join('\n')
  if (error instanceof LabError && error.code === 'internal')
    return `chainwalk: a fault of Chainwalk itself:\n${error.message}`
  if (error instanceof LabError || error instanceof CommandFailure) return `chainwalk: ${error.message}`
  return error instanceof Error ? `chainwalk: ${error.stack ?? error.message}` : String(error)
}

function hasProblems(details: unknown): details is { problems: readonly Problem[] } {
  return typeof details === 'object' && details !== null && 'problems' in details
}
