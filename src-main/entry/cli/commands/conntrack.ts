import type { ConnectionTable } from '../../../contract/lab-contract.ts'
import type { LabConnection } from '../../../contract/rpc.ts'
import { formatConnections } from '../../../domain/conntrack/format-connections.ts'
import { withLab } from '../lab-client.ts'
import { resolveTargets } from '../resolve-targets.ts'
import { endOf, untilInterrupted } from '../until-interrupted.ts'

export interface ConntrackOptions {
  readonly name: string
  readonly watch?: boolean
  readonly output: 'text' | 'json'
}

interface TargetTable extends ConnectionTable {
  readonly target: string
}

const WATCH_INTERVAL_MS = 500

export async function conntrack(word: string | undefined, options: ConntrackOptions): Promise<void> {
  await withLab(options.name, async (lab) => {
    const targets = await resolveTargets(lab, word)
    if (options.watch) await watch(lab, targets, options)
    else {
      const tables: TargetTable[] = []
      for (const target of targets)
        tables.push({ target, ...(await lab.request('conntrack/read', { target })) })
      process.stdout.write(render(tables, options))
    }
  })
}

/** Prints all tables again whenever one has changed. */
async function watch(
  lab: LabConnection,
  targets: readonly string[],
  options: ConntrackOptions,
): Promise<void> {
  const tables = new Map<string, TargetTable>()
  lab.on('conntrack/sample', ({ target, total, matching, entries }) => {
    const isFirst = !tables.has(target)
    tables.set(target, { target, total, matching, entries })
    if (tables.size < targets.length) return
    const text = render(
      targets.flatMap((each) => tables.get(each) ?? []),
      options,
    )
    const clear = process.stdout.isTTY ? '\u001b[H\u001b[2J' : isFirst ? '' : '\n'
    process.stdout.write(clear + text)
  })
  for (const target of targets)
    await lab.request('conntrack/subscribe', { target, intervalMs: WATCH_INTERVAL_MS })
  await untilInterrupted(endOf(lab))
}

function render(tables: readonly TargetTable[], { output }: ConntrackOptions): string {
  if (output === 'json') return `${JSON.stringify(tables, undefined, 2)}\n`
  return tables
    .map(({ target, entries, matching }) => {
      const heading = tables.length > 1 ? `${target}\n\n` : ''
      const list = entries.length === 0 ? 'no connections\n' : formatConnections(entries)
      const cut = entries.length < matching ? `… ${matching - entries.length} more\n` : ''
      return heading + list + cut
    })
    .join('\n')
}
