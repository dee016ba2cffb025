import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expectAnswers, manyPods } from './many-pods.ts'
import { type Bench, median, timed } from './measure.ts'
import { openLab, root, runProgram } from './open-lab.ts'
import { writeBareLab } from './plan-bare-lab.ts'

const rounds = 3
const few = 100
const many = 500
/** For the script, which takes long: so many pods, scaled to the number that is meant. */
const bareFrom = 2
const bareTo = 42

/** From the wish (apply, scale) to its result: sockets listen and rules are written. Then every pod is asked. */
export const pods: Bench = {
  name: 'pods on two workers, ready to answer',
  async run() {
    const times = { few: [], many: [], growth: [], scaled: [], bare: [] } as Record<string, number[]>
    for (let round = 0; round < rounds; round += 1) {
      times['bare']?.push((await layBare(bareTo)) - (await layBare(bareFrom)))
      const lab = await openLab()
      try {
        const first = await timed(() => lab.apply(manyPods(few)))
        await expectAnswers(lab, few)
        const ref = { kind: 'Deployment', namespace: 'default', name: 'web' }
        const more = await timed(() => lab.connection.request('objects/scale', { ref, replicas: few + 50 }))
        await expectAnswers(lab, few + 50)
        times['few']?.push(first.ms)
        times['scaled']?.push(more.ms / 50)
      } finally {
        await lab.close()
      }
      const large = await openLab()
      try {
        const all = await timed(() => large.apply(manyPods(many)))
        await expectAnswers(large, many)
        times['many']?.push(all.ms)
        times['growth']?.push((all.ms - (times['few']?.at(-1) ?? 0)) / (many - few))
      } finally {
        await large.close()
      }
    }
    const bare = median(times['bare']) / (bareTo - bareFrom)
    const measure = (label: string, values: readonly number[] | undefined, each: number, limit: number) => ({
      label,
      value: median(values),
      unit: 'ms',
      baseline: bare * each,
      baselineIs: 'links alone with ip -batch',
      limit,
    })
    return [
      measure(`${few} pods`, times['few'], few, 1000),
      measure(`${many} pods`, times['many'], many, 1000 + 10 * (many - few)),
      measure(`each pod from ${few} to ${many}`, times['growth'], 1, 10),
      measure('each pod that scale adds to a running lab', times['scaled'], 1, 10),
    ]
  },
}

/** Milliseconds of the script alone, without the start of its sandbox. */
async function layBare(count: number): Promise<number> {
  const folder = writeBareLab(manyPods(count))
  try {
    const { stdout } = await runProgram(['bash', join(root, 'test/bench/bare-lab.sh'), folder])
    const at = (mark: string): number => Number(new RegExp(`^${mark} (\\S+)$`, 'm').exec(stdout)?.[1])
    return (at('laid') - at('begin')) * 1000
  } finally {
    rmSync(folder, { recursive: true })
  }
}
