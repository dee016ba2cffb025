import type { ManifestFile } from '../../src-main/contract/lab-contract.ts'
import type { MenuCommand } from '../../src-main/contract/menu-command.ts'
import { type LabState, VIEWS } from '../lab-state.svelte.ts'
import type { FrameState } from './frame-state.svelte.ts'
import { joinManifests } from './join-manifests.ts'

/** Does what was picked in the desktop window's menu. */
export function runMenuCommand(lab: LabState, frame: FrameState, command: MenuCommand): void {
  switch (command.menu) {
    case 'open-manifests':
      void openManifests(lab, command.files)
      break
    case 'show-view':
      lab.view = VIEWS[command.number - 1] ?? lab.view
      break
    case 'toggle-projector':
      frame.toggleProjector()
      break
    default:
      command satisfies never
  }
}

async function openManifests(lab: LabState, files: readonly ManifestFile[]): Promise<void> {
  // The YAML reader comes with the view, not with the window.
  const { manifestSession } = await import('../manifests/manifest-session.svelte.ts')
  const { file, text } = joinManifests(files)
  manifestSession(lab).load(file, text)
  lab.view = 'manifests'
}
