import type { Pod, Service } from '../domain/kubernetes/objects.ts'
import { CLIENT, type HostId } from '../domain/topology/plan-network.ts'
import { runCommand } from '../system/command/run-command.ts'
import type { LabNetwork } from '../system/sandbox/lab-network.ts'
import { hostOf } from './resolve-target.ts'

const PERIOD_MS = 1000
/** Services that are asked in one round; the next round goes on with the next ones. */
const SERVICES_A_ROUND = 2

interface AskableObjects {
  readonly pods: readonly Pod[]
  readonly services: readonly Service[]
  /** Of the node whose NodePorts the client asks. */
  readonly nodeAddress: string
}

/** Sends a request now and then, so that a newcomer sees packets move: pod to ClusterIP, client to NodePort. */
export class DemoTraffic {
  readonly #network: LabNetwork
  readonly #objects: () => AskableObjects
  #timer: NodeJS.Timeout | undefined
  #round = 0

  constructor(network: LabNetwork, objects: () => AskableObjects) {
    this.#network = network
    this.#objects = objects
  }

  set(running: boolean): void {
    clearInterval(this.#timer)
    this.#timer = running ? setInterval(() => this.#send(), PERIOD_MS) : undefined
  }

  #send(): void {
    const { pods, services, nodeAddress } = this.#objects()
    const senders = pods.filter((pod) => pod.status.podIPs.length > 0 && !pod.status.terminating)
    const askable = services.filter(
      ({ spec }) =>
        (spec.clusterIPs[0] ?? 'None') !== 'None' && spec.ports.some(({ protocol }) => protocol === 'TCP'),
    )
    if (askable.length === 0) return
    for (let n = 0; n < Math.min(SERVICES_A_ROUND, askable.length); n += 1) {
      this.#round += 1
      const service = askable[this.#round % askable.length]
      const port = service?.spec.ports.find(({ protocol }) => protocol === 'TCP')
      if (!service || !port) continue
      const pod = senders[this.#round % senders.length]
      if (pod) this.#curl(hostOf(pod), `${service.spec.clusterIPs[0]}:${port.port}`)
      if (port.nodePort > 0) this.#curl(CLIENT, `${nodeAddress}:${port.nodePort}`)
    }
  }

  #curl(host: HostId, address: string): void {
    if (!this.#network.has(host)) return
    const argv = ['curl', '-s', '-o', '/dev/null', '--max-time', '1', `http://${address}/`]
    // A refusal or a time-out is what such a Service answers.
    runCommand(argv, { where: (work) => this.#network.inNetwork(host, work) }).catch(() => this.set(false))
  }
}
