import type { SilentRule } from '../../../contract/lab-contract.ts'
import { nflogInstead } from '../../../domain/iptables/nflog-instead.ts'
import { CommandFailure, EXIT } from '../exit-status.ts'
import { withLab } from '../lab-client.ts'
import { endOf, untilInterrupted } from '../until-interrupted.ts'

export interface LogOptions {
  readonly name: string
  readonly group: string
}

export async function log(word: string | undefined, options: LogOptions): Promise<void> {
  const group = Number(options.group)
  if (!Number.isInteger(group) || group < 0 || group > 65_535)
    throw new CommandFailure(EXIT.usage, `--group ${options.group}: a group is a number from 0 to 65535`)
  await withLab(options.name, async (lab) => {
    const target =
      word === undefined ? undefined : (await lab.request('targets/resolve', { target: word })).target
    lab.on('log/line', (line) => {
      if (line.missed > 0)
        process.stderr.write(`chainwalk: ${line.missed} lines of ${line.target} left out\n`)
      process.stdout.write(target === undefined ? `${line.target}: ${line.text}\n` : `${line.text}\n`)
    })
    const { silentRules } = await lab.request('log/subscribe', {
      group,
      ...(target === undefined ? {} : { target }),
    })
    for (const rule of silentRules) process.stderr.write(`${describeSilent(rule)}\n`)
    process.stderr.write(
      `following NFLOG group ${group} of ${target ?? 'the client and every node'}; Ctrl-C ends it\n`,
    )
    await untilInterrupted(endOf(lab))
  })
}

function describeSilent(rule: SilentRule): string {
  const { target, table, chain, number } = rule
  return (
    `${target}: rule ${number} of ${chain} (${table}) has the target LOG, whose lines the kernel writes for the machine ` +
    `alone; they come here with\n  ${nflogInstead(rule)}`
  )
}
