import type { Pod } from '../domain/kubernetes/objects.ts'
import { type HostId, nodeHost, podHost } from '../domain/topology/plan-network.ts'
import {
  addressFamilies,
  bind,
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

  start(pod: Pod): void {
    const { namespace, name } = pod.metadata
    const id = podHost(namespace, name)
    const identity = { pod: name, namespace, node: pod.spec.nodeName }
    this.#running.set(id, servePod(identity, this.#openSockets(pod)))
  }

  stop(id: HostId): void {
    this.#running.get(id)?.close()
    this.#running.delete(id)
  }

  #openSockets(pod: Pod): OpenSocket[] {
    const wanted = new Map<string, { protocol: 'TCP' | 'UDP'; port: number }>()
    for (const { ports } of pod.spec.containers)
      for (const { containerPort, protocol } of ports)
        if (protocol !== 'SCTP')
          // nothing of ours speaks it; a connection is refused as by an empty pod
          wanted.set(`${protocol} ${containerPort}`, { protocol, port: containerPort })
    if (wanted.size === 0) return []
    const host = pod.spec.hostNetwork
      ? nodeHost(pod.spec.nodeName)
      : podHost(pod.metadata.namespace, pod.metadata.name)
    return this.#network.inNetwork(host, () =>
      [...wanted.values()].map(({ protocol, port }) => ({ protocol, fd: openServer(protocol, port) })),
    )
  }
}

function openServer(protocol: 'TCP' | 'UDP', port: number): number {
  const fd = socket(addressFamilies.inet, protocol === 'TCP' ? socketTypes.stream : socketTypes.datagram, 0, {
    isBlocking: false,
  })
  setsockopt(fd, socketLevels.socket, socketOptions.reuseAddress, 1)
  bind(fd, internetSocketAddress('0.0.0.0', port))
  if (protocol === 'TCP') listen(fd)
  return fd
}
