import type { TargetId } from '../../src-main/contract/lab-contract.ts'
import type { LabState } from '../lab-state.svelte.ts'

/** Shows the Trace view and runs the command there; the view's parts come only now. */
export async function startTrace(lab: LabState, target: TargetId, command: string): Promise<void> {
  lab.view = 'trace'
  await lab.attempt(async () => {
    const { traceSession } = await import('./trace-session.svelte.ts')
    const session = traceSession(lab)
    session.target = target
    session.command = command
    await session.trace()
  })
}
