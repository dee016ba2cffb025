import type { LabState } from '../lab-state.svelte.ts'
import { type ExportChoice, exportFileName } from './export-rules.ts'
import type { FrameState } from './frame-state.svelte.ts'

/** Hands a text to the person as a file, where their browser or desktop puts downloads. */
function saveFile(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000) // the download has begun by then
}

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
    saveFile(name, text)
    frame.say(`Saved as ${name}`)
  })
}
