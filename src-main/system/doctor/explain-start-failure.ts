import { findStartCause, formatStartCause } from '../../domain/doctor/find-start-cause.ts'
import { gatherCheapFacts } from './gather-facts.ts'

/**
 * The most probable reason why a sandbox did not start and what helps, in one or two sentences. `stderr` is what
 * unshare, setpriv or the program inside wrote. Looks at files only; nothing is started.
 */
export function explainStartFailure(stderr: string): Promise<string> {
  return Promise.resolve(formatStartCause(findStartCause(gatherCheapFacts(), stderr)))
}
