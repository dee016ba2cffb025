import type { LabState } from '../lab-state.svelte.ts'
import { saveFile } from '../save-file.ts'
import { type ExportChoice, exportFileName } from './export-rules.ts'
import type { FrameState } from './frame-state.svelte.ts'

/** Exports a node's rules, or all nodes' where none is named, into a file. */
export function exportToFile(
  lab: LabState,
  frame: FrameState,
  choice: ExportChoice,
  node: string | undefined,
): Promise<void> {
  return lab.attempt(async (connection) => {
    const { text } = await connection.request('rules/export', {
      format: choice.format,
      ...(node === undefined || choice.format === 'bundle' ? {} : { node }),
    })
    const name = exportFileName(lab.status?.name ?? 'lab', node, choice)
    saveFile(new Blob([text], { type: 'text/plain' }), name)
    frame.say(`Saved as ${name}`)
  })
}
