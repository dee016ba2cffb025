import type { Journey } from '../../../domain/trace/journey.ts'
import { formatJourneysMarkdown } from '../../../domain/trace/journey-markdown.ts'
import { formatJourneySvg } from '../../../domain/trace/journey-svg.ts'
import { formatFinding, formatJourneys } from '../../../domain/trace/journey-text.ts'
import { CommandFailure, EXIT } from '../exit-status.ts'
import { withLab } from '../lab-client.ts'
import { runInLab } from '../run-in-lab.ts'

interface Options {
  readonly name: string
  readonly output: 'text' | 'json' | 'markdown' | 'svg'
}

export async function trace(target: string, command: readonly string[], options: Options): Promise<void> {
  const isText = options.output === 'text'
  process.exitCode = await withLab(options.name, async (lab) => {
    const resolved = await lab.request('targets/resolve', { target })
    let id = 0
    const { code } = await runInLab(
      lab,
      resolved.target,
      command,
      {
        ...(process.stdin.isTTY ? {} : { stdin: process.stdin }),
        stdout: isText ? process.stdout : process.stderr,
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
      options.output === 'json'
        ? `${JSON.stringify({ command, exitCode: code, journeys, gaps, finding }, undefined, 2)}\n`
        : options.output === 'markdown'
          ? formatJourneysMarkdown(journeys, finding)
          : options.output === 'svg'
            ? pictureOf(journeys)
            : `\n${formatJourneys(journeys)}${finding ? `\n${formatFinding(finding)}` : ''}`,
    )
    if (options.output !== 'json') for (const gap of gaps) process.stderr.write(`chainwalk: ${gap}\n`)
    return code
  })
}

/** Of the packet that began it all. */
function pictureOf([journey]: readonly Journey[]): string {
  if (!journey)
    throw new CommandFailure(
      EXIT.failed,
      'the command sent no packet that met a node: there is nothing to draw',
    )
  return formatJourneySvg(journey)
}
