import { join } from 'node:path'
import { buildChecks, isReady } from '../../../domain/doctor/build-checks.ts'
import { formatChecks } from '../../../domain/doctor/format-checks.ts'
import { gatherFacts } from '../../../system/doctor/gather-facts.ts'
import { trySandbox } from '../../../system/doctor/try-sandbox.ts'
import { packageRoot } from '../../start-lab.ts'
import { EXIT } from '../exit-status.ts'
import { withProgress } from '../progress.ts'

export async function doctor(options: { readonly json?: boolean }): Promise<void> {
  const facts = await withProgress('trying a sandbox', () =>
    gatherFacts(() => trySandbox(join(packageRoot(), 'out/main/cli.cjs'))),
  )
  const checks = buildChecks(facts)
  const ready = isReady(checks)
  if (options.json) console.log(JSON.stringify({ ok: ready, checks }, null, 2))
  else {
    const isColoured = process.stdout.isTTY && !process.env['NO_COLOR']
    process.stdout.write(formatChecks(checks, { isColoured, uid: facts.uid }))
  }
  process.exitCode = ready ? EXIT.done : EXIT.machine
}
