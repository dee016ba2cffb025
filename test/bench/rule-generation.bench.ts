import { createHash } from 'node:crypto'
import { arrangeForKernel } from '../../src-main/domain/kube-proxy/arrange-for-kernel.ts'
import { restoreBlocks } from '../../src-main/domain/kube-proxy/restore.ts'
import { planSync, type SyncInput, type SyncPlan } from '../../src-main/domain/kube-proxy/sync.ts'
import { buildLargeCluster, buildSlice, plainConfig } from '../domain/kube-proxy/large-cluster.ts'
import { type Bench, type Measure, median } from './measure.ts'

const serviceCount = 10_000
const endpointCount = 5
const rounds = 5
const buffer = Buffer.allocUnsafe(1 << 20)

/** The real kube-proxy 1.36.2 for the same cluster, in milliseconds on the reference machine (2 cores). */
const recorded = { cold: 320, warm: 164, oneEndpoint: 152 }
/** The yardstick below on that machine while nothing else ran: it turns the record into multiples. */
const recordedYardstick = 175

/** Rule text for 10,000 Services × 5 endpoints; medians, and the first round (a cold compiler) is left out. */
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
    const times = { yardstick: [], cold: [], warm: [], oneEndpoint: [], arranged: [] } as Record<
      string,
      number[]
    >
    for (let round = 0; round <= rounds; round++) {
      const first = time(() => write(planSync(undefined, input, { nowMs: 0 })))
      const again = time(() => write(planSync(first.result.state, input, { nowMs: 1, full: true })))
      const one = time(() => write(planSync(again.result.state, changed, { nowMs: 2 })))
      const arranged = time(() => arrangeForKernel(again.result.state, one.result))
      const yardstick = time(() => hashNames(serviceCount * (endpointCount + 1)))
      if (round === 0) continue
      times['cold']?.push(first.ms)
      times['warm']?.push(again.ms)
      times['oneEndpoint']?.push(one.ms)
      times['arranged']?.push(arranged.ms)
      times['yardstick']?.push(yardstick.ms)
    }
    const baseline = median(times['yardstick'])
    const measure = (label: string, values: number[] | undefined, record: number): Measure => ({
      label: `${label} (kube-proxy: ${record} ms)`,
      value: median(values),
      unit: 'ms',
      baseline,
      baselineIs: `${serviceCount * (endpointCount + 1)} SHA-256 digests`,
      bound: record / recordedYardstick,
    })
    return [
      measure('first full sync', times['cold'], recorded.cold),
      measure('full sync again', times['warm'], recorded.warm),
      measure('one endpoint changed', times['oneEndpoint'], recorded.oneEndpoint),
      measure('one endpoint changed, arranged for the kernel', times['arranged'], recorded.oneEndpoint),
    ]
  },
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

/** As many SHA-256 digests as there are chains to name, by Node's own crypto. */
function hashNames(count: number): void {
  for (let i = 0; i < count; i++)
    createHash('sha256').update(`default/svc-${i}:httptcp10.128.0.1:8080`).digest()
}

function time<T>(work: () => T): { readonly result: T; readonly ms: number } {
  const start = performance.now()
  const result = work()
  return { result, ms: performance.now() - start }
}
