import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Lab, type LabUser, type Running, startLab, whyNoLab } from './chainwalk.ts'

const ASKER = '10.244.1.20'
const CLUSTER_IP = '10.96.1.53'
const WORKER1 = '172.18.0.3'
const patience = { timeout: 10_000 }

const pod = (name: string, ip: string, ports: string) => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {app: ${name.split('-')[0]}}, annotations: {chainwalk.dev/pod-ips: ${ip}}}
spec: {containers: [{name: main, image: registry.k8s.io/e2e-test-images/agnhost:2.47, ports: [${ports}]}]}
---`
const echo = (name: string, ip: string) => pod(name, ip, '{containerPort: 53, protocol: UDP}')

const SERVICE = `
apiVersion: v1
kind: Service
metadata: {name: echo}
spec:
  type: NodePort
  clusterIP: ${CLUSTER_IP}
  selector: {app: echo}
  ports: [{port: 53, protocol: UDP, nodePort: 30053}]
---`

/** Sends a numbered datagram again and again, always from the same port, and prints what it sent and what came back. */
const asking = (address: string, port: number) => `
const socket = require('node:dgram').createSocket('udp4')
let number = 0
socket.on('error', () => {})
socket.on('message', (message) => console.log('answer ' + message))
socket.bind(5555, () => setInterval(() => {
  console.log('question ' + ++number)
  socket.send(String(number), ${port}, '${address}')
}, 50))`

class Asker {
  readonly #running: Running
  constructor(lab: Lab, target: string, address: string, port: number) {
    this.#running = lab.start(target, process.execPath, '-e', asking(address, port))
  }
  answers(): number {
    return this.#running.output().match(/^answer /gm)?.length ?? 0
  }
  questions(): number {
    return this.#running.output().match(/^question /gm)?.length ?? 0
  }
  stop(): Promise<unknown> {
    return this.#running.stop()
  }
}

describe.each<LabUser>(['root', 'learner'])('UDP from one port, as %s', (as) => {
  const skip = whyNoLab(as) !== undefined
  let lab: Lab
  let askers: Asker[] = []

  beforeAll(async () => {
    if (skip) return
    lab = await startLab({ as })
    await lab.apply(pod('asker', ASKER, ''))
  })
  afterAll(async () => {
    for (const asker of askers) await asker.stop()
    await lab?.down()
  })

  const goesOn = async (asker: Asker | undefined): Promise<void> => {
    const before = asker?.answers() ?? 0
    await expect.poll(() => asker?.answers(), patience).toBeGreaterThan(before + 3)
  }
  /** The address that worker1's conntrack sends the asker's datagrams to. */
  const chosen = async (): Promise<string> => {
    const { stdout } = await lab.exec('node/worker1', 'conntrack', '-L', '-p', 'udp', '-s', ASKER)
    return /\[?\bsrc=10\.244\.1\.20 .*? src=(\S+)/.exec(stdout)?.[1] ?? ''
  }

  test.skipIf(skip)(
    'is answered when endpoints appear, when the chosen one goes, and when one comes back',
    async () => {
      askers = [new Asker(lab, 'pod/asker', CLUSTER_IP, 53), new Asker(lab, 'client', WORKER1, 30053)]
      // The datagrams are tracked, and lead nowhere.
      await expect.poll(chosen, patience).toBe(CLUSTER_IP)

      await lab.apply(SERVICE + echo('echo-a', '10.244.1.21') + echo('echo-b', '10.244.2.21'))
      for (const asker of askers) await goesOn(asker)

      const first = await chosen()
      expect(['10.244.1.21', '10.244.2.21']).toContain(first)
      const [dying, other] = first === '10.244.1.21' ? ['echo-a', 'echo-b'] : ['echo-b', 'echo-a']
      expect((await lab.run('delete', 'pod', dying ?? '')).code).toBe(0)
      for (const asker of askers) await goesOn(asker)
      expect(await chosen()).toBe(first === '10.244.1.21' ? '10.244.2.21' : '10.244.1.21')

      expect((await lab.run('delete', 'pod', other ?? '')).code).toBe(0)
      for (const asker of askers) {
        const before = { answers: asker.answers(), questions: asker.questions() }
        await expect.poll(() => asker.questions() - before.questions, patience).toBeGreaterThan(10)
        expect(asker.answers() - before.answers).toBeLessThan(3) // one may have been on its way
      }

      await lab.apply(echo('echo-c', '10.244.2.22'))
      for (const asker of askers) await goesOn(asker)
      expect(await chosen()).toBe('10.244.2.22')
    },
  )

  test.skipIf(skip)('a flow to a living endpoint keeps its entry when another one appears', async () => {
    const ids = async () => {
      const { stdout } = await lab.exec('node/worker1', 'conntrack', '-L', '-o', 'id', '-s', ASKER)
      return stdout.match(/id=\d+/g)
    }
    const before = await ids()
    expect(before).toHaveLength(1)
    await lab.apply(echo('echo-d', '10.244.2.23'))
    await goesOn(askers[0])
    expect(await ids()).toEqual(before)
  })
})
