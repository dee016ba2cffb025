import { expectAnswers, manyPods } from './many-pods.ts'
import { type Bench, type Measure, median } from './measure.ts'
import { openLab } from './open-lab.ts'
import { familyOf, memoryOf } from './processes.ts'

const rounds = 3
const count = 100

/** Of every process of the sandbox, after each pod has answered. */
export const memory: Bench = {
  name: `memory of a lab with ${count} pods`,
  async run(): Promise<Measure[]> {
    const rss: number[] = []
    const pss: number[] = []
    const empty: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const lab = await openLab()
      try {
        empty.push(memoryOf(lab.holderPid).rss)
        await lab.apply(manyPods(count))
        await expectAnswers(lab, count)
        const processes = familyOf(lab.outerPid).map(memoryOf)
        rss.push(processes.reduce((sum, each) => sum + each.rss, 0))
        pss.push(processes.reduce((sum, each) => sum + each.pss, 0))
      } finally {
        await lab.close()
      }
    }
    const baseline = { baseline: median(empty), baselineIs: 'the holder without pods' }
    return [
      { label: 'resident', value: median(rss), unit: 'MB', ...baseline, limit: 200 },
      { label: 'proportional share', value: median(pss), unit: 'MB', limit: 200 },
    ]
  },
}
