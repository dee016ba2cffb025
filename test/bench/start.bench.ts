import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, median, timed } from './measure.ts'
import { CLUSTER_IP, HTTP_SERVER, labName, openLab, root, runProgram, SERVER } from './open-lab.ts'
import { writeBareLab } from './plan-bare-lab.ts'

const rounds = 9
const url = `http://${CLUSTER_IP}/`
/**
 * Where a machine's user has NODE_EXTRA_CA_CERTS set, each Node reads certificates at its start: 90 ms that most
 * laptops do not spend, and a lab can spare only in the holder. So the commands are measured without it, too.
 */
const { NODE_EXTRA_CA_CERTS: certificates, ...plainEnvironment } = process.env
/** The kernel takes a lab's namespaces down when its processes have ended; a start beside that is not a cold one. */
const SETTLE_MS = 400
/** Every answer names the pod; both servers begin with this word. */
const sign = 'pod '

/** From the first word of a command to the first answer through a ClusterIP; the three ways take turns. */
export const start: Bench = {
  name: 'start of the default lab with the http-server example to the first answer',
  async run() {
    const manifest = readFileSync(HTTP_SERVER, 'utf8')
    const folder = writeBareLab(manifest)
    const times = { up: [], commands: [], plain: [], inProcess: [], bare: [], node: [] } as Record<
      string,
      number[]
    >
    try {
      const settled = <T>(work: () => Promise<T>): Promise<T> => sleep(SETTLE_MS).then(work)
      for (let round = 0; round < rounds; round += 1) {
        const { upMs, totalMs } = await settled(() => startByCommands(process.env))
        times['up']?.push(upMs)
        times['commands']?.push(totalMs)
        if (certificates !== undefined)
          times['plain']?.push((await settled(() => startByCommands(plainEnvironment))).totalMs)
        times['inProcess']?.push(await settled(() => startInProcess(manifest)))
        const script = join(root, 'test/bench/bare-lab.sh')
        const bare = await settled(() => runProgram(['bash', script, folder, url], sign))
        times['bare']?.push(bare.answeredMs)
        times['node']?.push((await runProgram([process.execPath, '-e', '0'])).answeredMs)
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
    const baseline = median(times['bare'])
    const measure = (label: string, values: readonly number[] | undefined) => ({
      label,
      value: median(values),
      unit: 'ms',
      baseline,
      baselineIs: 'a bare shell script',
    })
    return [
      { ...measure('up --detach, exec curl', times['commands']), bound: 1.5, limit: 1000 },
      ...(certificates === undefined
        ? []
        : [{ ...measure('the same without NODE_EXTRA_CA_CERTS', times['plain']), bound: 1.5, limit: 1000 }]),
      { ...measure('up --detach alone', times['up']) },
      { ...measure('without the commands’ own Node', times['inProcess']) },
      { ...measure('an empty Node, for scale', times['node']) },
    ]
  },
}

async function startByCommands(env: NodeJS.ProcessEnv): Promise<{ upMs: number; totalMs: number }> {
  const name = labName()
  const cli = (command: string, ...words: string[]): string[] => [
    process.execPath,
    join(root, 'out/main/cli.cjs'),
    command,
    '--name',
    name,
    ...words,
  ]
  const up = await timed(() => runProgram(cli('up', '--detach', '-f', HTTP_SERVER), '', env))
  try {
    const { answeredMs } = await runProgram(cli('exec', SERVER, '--', 'curl', '-s', url), sign, env)
    return { upMs: up.ms, totalMs: up.ms + answeredMs }
  } finally {
    await runProgram(cli('down'))
  }
}

async function startInProcess(manifest: string): Promise<number> {
  const began = performance.now()
  const lab = await openLab()
  try {
    await lab.apply(manifest)
    const answer = await lab.exec(SERVER, 'curl', '-s', url)
    const ms = performance.now() - began
    if (!answer.includes(sign)) throw new Error(`this is no answer: ${answer}`)
    return ms
  } finally {
    await lab.close()
  }
}
