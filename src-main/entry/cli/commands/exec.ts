import { CommandFailure, EXIT } from '../exit-status.ts'
import { withLab } from '../lab-client.ts'
import { openShell, runInLab } from '../run-in-lab.ts'

interface Options {
  readonly name: string
}

export async function exec(target: string, command: readonly string[], options: Options): Promise<void> {
  process.exitCode = await withLab(options.name, async (lab) => {
    const resolved = await lab.request('targets/resolve', { target })
    const { code } = await runInLab(lab, resolved.target, command, {
      // A terminal's keys belong to the person; a pipe or file is the command's input.
      ...(process.stdin.isTTY ? {} : { stdin: process.stdin }),
      stdout: process.stdout,
      stderr: process.stderr,
    })
    return code
  })
}

export async function shell(target: string, options: Options): Promise<void> {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new CommandFailure(
      EXIT.usage,
      'a shell needs a terminal; use `chainwalk exec TARGET -- sh -c "…"` in a script',
    )
  process.exitCode = await withLab(options.name, async (lab) => {
    const resolved = await lab.request('targets/resolve', { target })
    const { code } = await openShell(lab, resolved.target)
    return code
  })
}
