import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildChecks, isReady } from '../../../domain/doctor/build-checks.ts'
import { formatChecks } from '../../../domain/doctor/format-checks.ts'
import { gatherFacts } from '../../../system/doctor/gather-facts.ts'
import { trySandbox } from '../../../system/doctor/try-sandbox.ts'
import { EXIT } from '../exit-status.ts'
import { withProgress } from '../progress.ts'

/** The built command line, beside or above the chunk that this file ends up in. */
function builtProgram(): string {
  const folder = dirname(fileURLToPath(import.meta.url))
  const program = [folder, dirname(folder)].map((path) => join(path, 'cli.js')).find(existsSync)
  if (!program) throw new Error('cli.js is missing beside the program')
  return program
}

export async function doctor(options: { readonly json?: boolean }): Promise<void> {
  const facts = await withProgress('trying a sandbox', () => gatherFacts(() => trySandbox(builtProgram())))
  const checks = buildChecks(facts)
  const ready = isReady(checks)
  if (options.json) console.log(JSON.stringify({ ok: ready, checks }, null, 2))
  else {
    const isColoured = process.stdout.isTTY && !process.env['NO_COLOR']
    process.stdout.write(formatChecks(checks, { isColoured, uid: facts.uid }))
  }
  process.exitCode = ready ? EXIT.done : EXIT.machine
}
