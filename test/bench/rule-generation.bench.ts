import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { arrangeForKernel } from '../../src-main/domain/kube-proxy/arrange-for-kernel.ts'
import { restoreBlocks } from '../../src-main/domain/kube-proxy/restore.ts'
import { planSync, type SyncInput, type SyncPlan } from '../../src-main/domain/kube-proxy/sync.ts'
import { buildLargeCluster, buildSlice, plainConfig } from '../domain/kube-proxy/large-cluster.ts'
import { type Bench, type Measure, median } from './measure.ts'
import { root } from './open-lab.ts'

const serviceCount = 10_000
const endpointCount = 5
const rounds = 5
const buffer = Buffer.allocUnsafe(1 << 20)

/** Every sync that is measured, with what kube-proxy needed for it: `recorded` for 1.36.2, on two cores, in ms. */
const syncs = {
  cold: { label: 'first full sync', recorded: 320 },
  warm: { label: 'full sync again', recorded: 164 },
  oneEndpoint: { label: 'one endpoint changed', recorded: 152 },
} as const
type SyncName = keyof typeof syncs
const syncNames = Object.keys(syncs) as SyncName[]
/** The yardstick where kube-proxy's record holds (its own build, below, needed as long there): record → multiples. */
const recordedYardstick = 50

/**
 * Rule text for 10,000 Services × 5 endpoints; medians, and the first round (a cold compiler) is left out. The
 * yardstick makes the same bytes of words that are ready. Where kube-proxy/build.sh has run, kube-proxy does it too.
 */
export const ruleGeneration: Bench = {
  name: 'rule text for 10,000 Services × 5 endpoints',
  async run(): Promise<Measure[]> {
    const cluster = buildLargeCluster(serviceCount, endpointCount)
    const input: SyncInput = { ...cluster, node: undefined, config: plainConfig, family: 'IPv4' }
    const changed: SyncInput = {
      ...input,
      endpointSlices: cluster.endpointSlices.map((slice, i) =>
        i === serviceCount / 2
          ? buildSlice(slice.metadata.name.slice(0, 9), ['10.128.9.1', '10.1.1.1'])
          : slice,
      ),
    }
    const lines = splitWords(planSync(undefined, input, { nowMs: 0 }))
    const times: Record<SyncName | 'arranged' | 'yardstick', number[]> = {
      cold: [],
      warm: [],
      oneEndpoint: [],
      arranged: [],
      yardstick: [],
    }
    for (let round = 0; round <= rounds; round++) {
      const cold = time(() => write(planSync(undefined, input, { nowMs: 0 })))
      const warm = time(() => write(planSync(cold.result.state, input, { nowMs: 1, full: true })))
      const oneEndpoint = time(() => write(planSync(warm.result.state, changed, { nowMs: 2 })))
      const arranged = time(() => arrangeForKernel(warm.result.state, oneEndpoint.result))
      const yardstick = time(() => joinWords(lines))
      if (round === 0) continue
      for (const [name, { ms }] of Object.entries({ cold, warm, oneEndpoint, arranged, yardstick }))
        times[name as keyof typeof times].push(ms)
    }
    const kubeProxy = measureKubeProxy()
    const baseline = median(times.yardstick)
    return [
      ...syncNames.map((name) => ({
        label: `${syncs[name].label} (kube-proxy 1.36: ${syncs[name].recorded} ms)`,
        value: median(times[name]),
        unit: 'ms',
        baseline,
        baselineIs: 'its text joined of ready words',
        bound: syncs[name].recorded / recordedYardstick,
      })),
      {
        label: 'one endpoint changed, arranged for the kernel',
        value: median(times.arranged),
        unit: 'ms',
        baseline: median(times.oneEndpoint),
        baselineIs: 'the text',
      },
      ...(kubeProxy === undefined
        ? []
        : syncNames.map((name) => ({
            label: `${syncs[name].label}`,
            value: median(times[name]),
            unit: 'ms',
            baseline: median(kubeProxy.times[name]),
            baselineIs: `kube-proxy ${kubeProxy.version}, now`,
            bound: 1,
          }))),
    ]
  },
}

/** What the real kube-proxy needs on this machine, once kube-proxy/build.sh has made it. */
function measureKubeProxy(): { version: string; times: Record<SyncName, number[]> } | undefined {
  const folder = join(root, 'out/kube-proxy')
  if (!existsSync(join(folder, 'version'))) return undefined
  const cost = join(folder, 'cost.json')
  execFileSync(join(folder, 'cost.test'), ['-test.run', '^TestCost$'], {
    env: { ...process.env, COST: cost },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  const measured = readFileSync(cost, 'utf8').trim().split('\n').slice(1)
  const runs = measured.map((line) => JSON.parse(line) as Record<SyncName, number>)
  return {
    version: readFileSync(join(folder, 'version'), 'utf8')
      .trim()
      .replace(/.*really|-.*/g, ''),
    times: {
      cold: runs.map(({ cold }) => cold),
      warm: runs.map(({ warm }) => warm),
      oneEndpoint: runs.map(({ oneEndpoint }) => oneEndpoint),
    },
  }
}

/** Every byte of the text, into one buffer again and again, as kube-proxy writes into its own. */
function write(plan: SyncPlan): SyncPlan {
  let last = ''
  for (const block of restoreBlocks(plan.restore)) {
    if (buffer.write(block) !== block.length) throw new Error('a block does not fit, or is not ASCII')
    last = block
  }
  if (!last.endsWith('COMMIT\n')) throw new Error('no rules')
  return plan
}

function splitWords({ restore }: SyncPlan): string[][] {
  const text = [...restoreBlocks(restore)].join('')
  return text.split('\n').map((line) => line.split(' '))
}

function joinWords(lines: readonly (readonly string[])[]): void {
  let block = ''
  for (const words of lines) {
    block += `${words.join(' ')}\n`
    if (block.length < 64 * 1024) continue
    buffer.write(block)
    block = ''
  }
  buffer.write(block)
}

function time<T>(work: () => T): { readonly result: T; readonly ms: number } {
  const start = performance.now()
  const result = work()
  return { result, ms: performance.now() - start }
}
