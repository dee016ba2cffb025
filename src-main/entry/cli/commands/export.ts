import { writeFileSync } from 'node:fs'
import { CommandFailure, EXIT } from '../exit-status.ts'
import { withLab } from '../lab-client.ts'

export type ExportFormat = 'save' | 'restore' | 'script' | 'nft' | 'json' | 'bundle'

export interface ExportOptions {
  readonly name: string
  readonly node?: string
  readonly format: ExportFormat
  readonly output?: string
}

/** Writes what the lab exports to a file or to stdout. */
export async function exportRules(options: ExportOptions): Promise<void> {
  const { text } = await withLab(options.name, (lab) =>
    lab.request('rules/export', {
      format: options.format,
      ...(options.node === undefined ? {} : { node: options.node }),
    }),
  )
  if (options.output === undefined || options.output === '-') {
    process.stdout.write(text)
    return
  }
  try {
    writeFileSync(options.output, text, { mode: options.format === 'script' ? 0o755 : 0o644 })
  } catch (error) {
    throw new CommandFailure(EXIT.failed, `${options.output}: ${(error as Error).message}`)
  }
  console.error(`written to ${options.output}`)
}
