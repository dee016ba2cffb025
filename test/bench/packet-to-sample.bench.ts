import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, median } from './measure.ts'
import { CLUSTER_IP, openHttpServerLab } from './open-lab.ts'

const rounds = 20
const intervalMs = 200

/** From just before a connection's first packet to the event with its count, sampled all the while. */
export const packetToSample: Bench = {
  name: `a packet to the sample that shows it (every ${intervalMs} ms)`,
  async run() {
    const lab = await openHttpServerLab()
    try {
      let samples = 0
      let wake: (() => void) | undefined
      lab.connection.on('counters/sample', () => {
        samples += 1
        wake?.()
      })
      const target = 'node/worker1'
      await lab.connection.request('counters/subscribe', {
        target,
        table: 'nat',
        chains: ['KUBE-SERVICES'],
        intervalMs,
      })
      const delays: number[] = []
      for (let round = 0; round < rounds; round += 1) {
        await sleep(300 + ((round * 67) % intervalMs)) // at ever other moments of the interval
        const before = samples
        const seen = new Promise<number>((resolve) => {
          wake = () => resolve(Date.now())
        })
        // The packet's own clock: the start of the shell is not the lab's delay.
        const sent = await lab.exec(
          target,
          'bash',
          '-c',
          `echo $EPOCHREALTIME; exec 3<>/dev/tcp/${CLUSTER_IP}/80`,
        )
        const at = await Promise.race([seen, sleep(5000).then(() => Number.NaN)])
        wake = undefined
        if (samples === before) throw new Error('the packet was not counted')
        delays.push(at - Number(sent) * 1000)
      }
      return [
        { label: `median of ${rounds}`, value: median(delays), unit: 'ms', limit: 500 },
        { label: 'slowest', value: Math.max(...delays), unit: 'ms', limit: 500 },
      ]
    } finally {
      await lab.close()
    }
  },
}
