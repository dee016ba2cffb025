import { displayName } from '../domain/kubernetes/object-names.ts'
import type { Pod } from '../domain/kubernetes/objects.ts'
import type { Problem } from '../domain/kubernetes/problem.ts'
import { type HostId, nodeHost, podHost } from '../domain/topology/plan-network.ts'
import { SystemCallError } from '../system/kernel/libc.ts'
import {
  addressFamilies,
  bind,
  close,
  internetSocketAddress,
  listen,
  setsockopt,
  socket,
  socketLevels,
  socketOptions,
  socketTypes,
} from '../system/kernel/socket.ts'
import type { LabNetwork } from '../system/sandbox/lab-network.ts'
import { type OpenSocket, type PodServers, servePod } from '../system/workload/pod-servers.ts'

/** The servers of the lab's pods: one listener a containerPort, opened inside the pod, served by this process. */
export class PodRuntime {
  readonly #network: LabNetwork
  readonly #running = new Map<HostId, PodServers>()

  constructor(network: LabNetwork) {
    this.#network = network
  }

  /** A port that cannot be opened (of a pod in its node's network, where it is taken) is told as a warning. */
  start(pod: Pod): Problem[] {
    const { namespace, name } = pod.metadata
    const { sockets, problems } = this.#openSockets(pod)
    const identity = { pod: name, namespace, node: pod.spec.nodeName }
    this.#running.set(podHost(namespace, name), servePod(identity, sockets))
    return problems
  }

  stop(id: HostId): void {
    this.#running.get(id)?.close()
    this.#running.delete(id)
  }

  #openSockets(pod: Pod): { sockets: OpenSocket[]; problems: Problem[] } {
    const wanted = new Map<string, { protocol: 'TCP' | 'UDP'; port: number }>()
    for (const { ports } of pod.spec.containers)
      for (const { containerPort, protocol } of ports)
        if (protocol !== 'SCTP')
          // nothing of ours speaks it; a connection is refused as by an empty pod
          wanted.set(`${protocol} ${containerPort}`, { protocol, port: containerPort })
    const sockets: OpenSocket[] = []
    const problems: Problem[] = []
    if (wanted.size === 0) return { sockets, problems }
    const { namespace, name } = pod.metadata
    const host = pod.spec.hostNetwork ? nodeHost(pod.spec.nodeName) : podHost(namespace, name)
    this.#network.inNetwork(host, () => {
      for (const { protocol, port } of wanted.values())
        try {
          sockets.push({ protocol, fd: openServer(protocol, port) })
        } catch (error) {
          if (!(error instanceof SystemCallError)) throw error
          problems.push({
            severity: 'warning',
            file: 'lab',
            line: 0,
            kind: 'Pod',
            name: displayName(namespace, name),
            path: '',
            message: `nothing answers on ${protocol} port ${port}: it cannot be opened on ${host} (${error.code})`,
          })
        }
    })
    return { sockets, problems }
  }
}

function openServer(protocol: 'TCP' | 'UDP', port: number): number {
  const fd = socket(addressFamilies.inet, protocol === 'TCP' ? socketTypes.stream : socketTypes.datagram, 0, {
    isBlocking: false,
  })
  try {
    setsockopt(fd, socketLevels.socket, socketOptions.reuseAddress, 1)
    bind(fd, internetSocketAddress('0.0.0.0', port))
    if (protocol === 'TCP') listen(fd)
    return fd
  } catch (error) {
    close(fd)
    throw error
  }
}
