import type { LabState } from '../lab-state.svelte.ts'
import { showBeside } from '../trace/start-trace.ts'
import type { TopologyAction } from './topology-actions.ts'

interface Dock {
  open(target: string, command?: string): void
}

/** Carries an action out; what goes wrong becomes the window's notice. */
export async function runAction({ effect }: TopologyAction, lab: LabState, dock: Dock): Promise<void> {
  switch (effect.kind) {
    case 'terminal':
      dock.open(effect.target, effect.command)
      return
    case 'rules':
      lab.node = effect.node
      lab.view = 'rules'
      return
    case 'capture':
      await showBeside(lab, 'capture', effect)
      return
    case 'condition':
      {
        const { namespace, name, condition } = effect
        await lab.attempt((connection) =>
          connection.request('pods/set-condition', { namespace, name, condition }),
        )
      }
      return
    default:
      effect satisfies never
  }
}
