import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { withLab } from '../../src-main/entry/cli/lab-client.ts'
import { captureInLab } from '../../src-main/entry/cli/run-in-lab.ts'
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

/**
 * From the first word of a command to the first answer through a ClusterIP; the ways take turns. The script asks by
 * itself as soon as it can, without a program to be started for that: the bound compares it with `up` and a client that
 * runs already, as a terminal of the window is. A second command brings a Node of its own, which is told as well.
 */
export const start: Bench = {
  name: 'start of the default lab with the http-server example to the first answer',
  async run() {
    const manifest = readFileSync(HTTP_SERVER, 'utf8')
    const folder = writeBareLab(manifest)
    const script = join(root, 'test/bench/bare-lab.sh')
    const ways: Record<string, () => Promise<number>> = {
      client: () => startAttached(process.env),
      commands: startByCommands,
      plain: () => startAttached(plainEnvironment),
      inProcess: () => startInProcess(manifest),
      bare: async () => (await runProgram(['bash', script, folder, url], sign)).answeredMs,
      node: async () => (await runProgram([process.execPath, '-e', '0'])).answeredMs,
    }
    if (certificates === undefined) delete ways['plain']
    const times = new Map(Object.keys(ways).map((name) => [name, [] as number[]]))
    try {
      for (let round = 0; round < rounds; round += 1)
        for (const [name, way] of Object.entries(ways)) {
          await sleep(SETTLE_MS)
          times.get(name)?.push(await way())
        }
    } finally {
      rmSync(folder, { recursive: true })
    }
    const baseline = median(times.get('bare'))
    const measure = (label: string, name: string) => ({
      label,
      value: median(times.get(name)),
      unit: 'ms',
      baseline,
      baselineIs: 'a bare shell script',
    })
    return [
      { ...measure('up, then curl', 'client'), bound: 1.5, limit: 1000 },
      ...(certificates === undefined
        ? []
        : [{ ...measure('the same without NODE_EXTRA_CA_CERTS', 'plain'), bound: 1.5, limit: 1000 }]),
      { ...measure('up --detach, then the command exec … curl', 'commands'), limit: 1000 },
      measure('without the commands’ own Node', 'inProcess'),
      measure('an empty Node, for scale', 'node'),
    ]
  },
}

/** `chainwalk up` until it says that the lab runs, and from there to the first answer by a client that runs already. */
async function startAttached(env: NodeJS.ProcessEnv): Promise<number> {
  const name = labName()
  const began = performance.now()
  const [file = '', ...args] = cli('up', name, '-f', HTTP_SERVER)
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'ignore'], env })
  const ended = once(child, 'close')
  try {
    const [line] = await Promise.race([once(child.stdout, 'data'), ended])
    if (!String(line).includes('is running')) throw new Error(`up did not start a lab: ${line}`)
    await withLab(name, async (lab) => {
      const { target } = await lab.request('targets/resolve', { target: SERVER })
      const { stdout, stderr } = await captureInLab(lab, target, ['curl', '-s', url])
      if (!stdout.includes(sign)) throw new Error(`this is no answer: ${stdout}${stderr}`)
    })
    return performance.now() - began
  } finally {
    child.kill('SIGINT')
    await ended
  }
}

async function startByCommands(): Promise<number> {
  const name = labName()
  const up = await timed(() => runProgram(cli('up', name, '--detach', '-f', HTTP_SERVER)))
  try {
    const exec = cli('exec', name, SERVER, '--', 'curl', '-s', url)
    return up.ms + (await runProgram(exec, sign)).answeredMs
  } finally {
    await runProgram(cli('down', name))
  }
}

const cli = (command: string, name: string, ...words: string[]): string[] => [
  process.execPath,
  join(root, 'out/main/cli.cjs'),
  command,
  '--name',
  name,
  ...words,
]

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
