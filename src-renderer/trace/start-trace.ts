import type { TargetId } from '../../src-main/contract/lab-contract.ts'
import type { LabState } from '../lab-state.svelte.ts'
import type { BesideTab } from './beside.svelte.ts'

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

/** Shows a part beside the trace; with a link, its packets are captured from now on. */
export async function showBeside(
  lab: LabState,
  tab: BesideTab,
  place?: { readonly host: string; readonly link: string },
): Promise<void> {
  lab.view = 'trace'
  await lab.attempt(async () => {
    const { beside } = await import('./beside.svelte.ts')
    const panel = beside(lab)
    panel.tab = tab
    if (!place) return
    const { capture } = panel
    await capture.stop()
    capture.host = place.host
    capture.link = place.link
    capture.filter = ''
    await capture.start()
  })
}
