import { formatFinding, formatJourneys } from '../../../domain/trace/journey-text.ts'
import { withLab } from '../lab-client.ts'
import { runInLab } from '../run-in-lab.ts'

interface Options {
  readonly name: string
  readonly output: 'text' | 'json'
}

export async function trace(target: string, command: readonly string[], options: Options): Promise<void> {
  const isJson = options.output === 'json'
  process.exitCode = await withLab(options.name, async (lab) => {
    const resolved = await lab.request('targets/resolve', { target })
    let id = 0
    const { code } = await runInLab(
      lab,
      resolved.target,
      command,
      {
        ...(process.stdin.isTTY ? {} : { stdin: process.stdin }),
        stdout: isJson ? process.stderr : process.stdout,
        stderr: process.stderr,
      },
      async (params) => {
        const started = await lab.request('trace/start', params)
        id = started.trace
        return started
      },
    )
    const { journeys, gaps, finding } = await lab.request('trace/stop', { trace: id })
    process.stdout.write(
      isJson
        ? `${JSON.stringify({ command, exitCode: code, journeys, gaps, finding }, undefined, 2)}\n`
        : `\n${formatJourneys(journeys)}${finding ? `\n${formatFinding(finding)}` : ''}`,
    )
    if (!isJson) for (const gap of gaps) process.stderr.write(`chainwalk: ${gap}\n`)
    return code
  })
}
