import { askPrediction } from '../../../contract/ask-prediction.ts'
import type { LabConnection } from '../../../contract/rpc.ts'
import type { EndpointSlice, Kind, Pod, Service } from '../../../domain/kubernetes/objects.ts'
import type { Journey, TraceResult } from '../../../domain/trace/journey.ts'
import { formatJourneysMarkdown } from '../../../domain/trace/journey-markdown.ts'
import { formatJourneySvg } from '../../../domain/trace/journey-svg.ts'
import { formatFinding, formatJourneys } from '../../../domain/trace/journey-text.ts'
import type { Prediction } from '../../../domain/trace/predict-ways.ts'
import { CommandFailure, EXIT } from '../exit-status.ts'
import { withLab } from '../lab-client.ts'
import { runInLab } from '../run-in-lab.ts'

type Output = 'text' | 'json' | 'markdown' | 'svg'

interface Options {
  readonly name: string
  readonly output: Output
  readonly predict?: boolean
}

type Shown = Pick<TraceResult, 'journeys' | 'finding'>

/** All but JSON, which holds more than journeys. */
const WRITERS: Readonly<Record<Exclude<Output, 'json'>, (shown: Shown) => string>> = {
  text: ({ journeys, finding }) =>
    `\n${formatJourneys(journeys)}${finding ? `\n${formatFinding(finding)}` : ''}`,
  markdown: ({ journeys, finding }) => formatJourneysMarkdown(journeys, finding),
  svg: ({ journeys, finding }) => formatJourneySvg(toDraw(journeys, finding?.at?.journey)),
}

export async function trace(target: string, command: readonly string[], options: Options): Promise<void> {
  process.exitCode = await withLab(options.name, async (lab) => {
    const resolved = (await lab.request('targets/resolve', { target })).target
    if (options.predict) return await predict(lab, resolved, command, options.output)
    let id = 0
    const { code } = await runInLab(
      lab,
      resolved,
      command,
      {
        ...(process.stdin.isTTY ? {} : { stdin: process.stdin }),
        stdout: options.output === 'text' ? process.stdout : process.stderr,
        stderr: process.stderr,
      },
      async (params) => {
        const started = await lab.request('trace/start', params)
        id = started.trace
        return started
      },
    )
    const result = await lab.request('trace/stop', { trace: id })
    print(options.output, result, { command, exitCode: code, ...result })
    if (options.output !== 'json') for (const gap of result.gaps) process.stderr.write(`chainwalk: ${gap}\n`)
    return code
  })
}

/** The ways that the rules leave to the command's first packet; the command is not run. */
async function predict(
  lab: LabConnection,
  target: string,
  command: readonly string[],
  output: Output,
): Promise<number> {
  const [status, { groups }] = await Promise.all([
    lab.request('lab/status', {}),
    lab.request('objects/list', { kinds: ['pods', 'services', 'endpointslices'] }),
  ])
  const ofKind = <T>(kind: Kind): readonly T[] =>
    groups.filter((group) => group.kind === kind).flatMap(({ objects }) => objects as readonly T[])
  const known = {
    status,
    pods: ofKind<Pod>('Pod'),
    services: ofKind<Service>('Service'),
    endpointSlices: ofKind<EndpointSlice>('EndpointSlice'),
  }
  const found = await askPrediction(lab, known, { target, command: command.join(' ') })
  if ('problem' in found) throw new CommandFailure(EXIT.failed, found.problem)
  print(output, { journeys: found.ways.map(({ journey }) => journey) }, { command, ...jsonOf(found) })
  if (output === 'json') return EXIT.done
  for (const note of found.notes) process.stderr.write(`chainwalk: ${note}\n`)
  process.stderr.write('chainwalk: predicted from the rules as they are now; nothing was sent\n')
  return EXIT.done
}

const jsonOf = ({ ways, notes }: Prediction) => ({
  ways: ways.map(({ chance, chanceText, isConditional, choices, journey }) => ({
    chance,
    chanceText,
    isConditional,
    choices,
    ...journey,
  })),
  notes,
})

function print(output: Output, shown: Shown, json: object): void {
  process.stdout.write(output === 'json' ? `${JSON.stringify(json, undefined, 2)}\n` : WRITERS[output](shown))
}

/** The packet that failed, else the one that began it all. */
function toDraw(journeys: readonly Journey[], failed: number | undefined): Journey {
  const journey = journeys.find(({ id }) => id === failed) ?? journeys[0]
  if (!journey)
    throw new CommandFailure(
      EXIT.failed,
      'the command sent no packet that met a node: there is nothing to draw',
    )
  return journey
}
