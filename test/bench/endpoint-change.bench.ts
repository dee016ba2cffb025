import { chmodSync, cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type EndpointChange, IN_NAMESPACE } from './change-one-endpoint.ts'
import { type Bench, type Measure, median } from './measure.ts'
import { runProgram, temporaryFolder } from './open-lab.ts'

const isRoot = process.getuid?.() === 0
/** An ordinary user without any rights. */
const LEARNER = ['setpriv', '--reuid=54321', '--regid=54321', '--clear-groups']
/** The Service's own chain, the endpoint's that goes and the endpoint's that comes. */
const CHAINS_CONCERNED = 3

/** In a namespace of its own with a real kernel's rules. `--full` loads 10,000 Services, which takes minutes. */
export const endpointChange: Bench = {
  name: 'one endpoint changed among many Services',
  async run({ full }) {
    const measures: Measure[] = []
    if (isRoot) measures.push(...(await measure('root', full ? 10_000 : 2_000, 5)))
    measures.push(...(await measure('ordinary user', full ? 5_000 : 1_000, 5)))
    return measures
  },
}

async function measure(
  user: 'root' | 'ordinary user',
  services: number,
  endpoints: number,
): Promise<Measure[]> {
  const rootless = user !== 'root'
  const folder = temporaryFolder()
  try {
    // The checkout may be closed to others.
    cpSync(import.meta.dirname, folder, { recursive: true })
    const program = join(folder, 'run.js')
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
    chmodSync(folder, 0o755)
    const { stdout } = await runProgram([
      ...(rootless && isRoot ? LEARNER : []),
      ...['unshare', ...(rootless ? ['--user', '--map-root-user'] : [])],
      ...['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'],
      ...[process.execPath, program, IN_NAMESPACE, String(services), String(endpoints), rootless ? '1' : '0'],
    ])
    const change = JSON.parse(stdout) as EndpointChange
    const label = `${services} × ${endpoints}, ${change.rules} rules, ${user}`
    return [
      {
        label: `${label}: plan and restore`,
        value: median(change.labMs),
        unit: 'ms',
        baseline: median(change.shellMs),
        baselineIs: 'restore --noflush by a shell',
        bound: 2,
      },
      {
        label: `${label}: chains written (${change.lines} lines)`,
        value: change.chains,
        unit: '',
        limit: CHAINS_CONCERNED,
      },
      { label: `${label}: first load`, value: change.loadMs, unit: 'ms' },
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}
