import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { inNamespaces, type NamespaceFd, openNamespaceFd } from '../../src-main/system/kernel/namespace.ts'
import { expectAnswers, manyPods } from './many-pods.ts'
import { type Bench, median } from './measure.ts'
import { openLab } from './open-lab.ts'
import { familyOf, isAlive } from './processes.ts'

const rounds = 5
const count = 100
const PATIENCE_MS = 10_000

/** SIGKILL of the holder, with a command running in each worker. */
export const kill: Bench = {
  name: `SIGKILL of the holder of ${count} pods until all is gone`,
  async run() {
    const processesGone: number[] = []
    const linksGone: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const { processesMs, linksMs } = await killOne()
      processesGone.push(processesMs)
      linksGone.push(linksMs)
    }
    return [
      { label: 'its processes', value: median(processesGone), unit: 'ms', limit: 1000 },
      { label: 'the links of its pods', value: median(linksGone), unit: 'ms', limit: 1000 },
    ]
  },
}

async function killOne(): Promise<{ processesMs: number; linksMs: number }> {
  const lab = await openLab()
  let workers: NamespaceFd[] = []
  try {
    await lab.apply(manyPods(count))
    await expectAnswers(lab, count)
    for (const target of ['node/worker1', 'node/worker2'])
      await lab.connection.request('exec/start', { target, argv: ['sleep', '100'], stdin: false })
    const family = familyOf(lab.outerPid)
    const sleepers = family.filter((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sleep\n')
    // Held open, the workers' namespaces outlive the lab for a while: then the pods' links can be seen to go.
    workers = sleepers.map((pid) => openNamespaceFd(`/proc/${pid}/ns/net`))
    if (podLinks(workers) !== count) throw new Error(`${podLinks(workers)} links of ${count} pods`)
    const began = performance.now()
    process.kill(lab.holderPid, 'SIGKILL')
    let processesMs: number | undefined
    let linksMs: number | undefined
    while (processesMs === undefined || linksMs === undefined) {
      const ms = performance.now() - began
      if (!family.some(isAlive)) processesMs ??= ms
      if (podLinks(workers) === 0) linksMs ??= ms
      if (ms > PATIENCE_MS) throw new Error('ten seconds later something of the lab is still there')
      await sleep(2)
    }
    return { processesMs, linksMs }
  } finally {
    for (const worker of workers) worker.close()
    await lab.close()
  }
}

function podLinks(workers: readonly NamespaceFd[]): number {
  return workers
    .map((net) => inNamespaces({ net }, () => readFileSync('/proc/thread-self/net/dev', 'utf8')))
    .reduce((sum, text) => sum + (text.match(/^\s*veth/gm) ?? []).length, 0)
}
