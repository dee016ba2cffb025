import { isServing, type ProxiedEndpoint, type ProxiedPort } from './service-ports.ts'

/** What of a conntrack entry tells whether it is stale. */
export interface TrackedConnection {
  readonly original: {
    /** IP protocol number. */
    readonly protocol: number
    readonly destination: string
    readonly destinationPort: number
  }
  /** Its source is the endpoint that DNAT chose; the original destination where nothing was translated. */
  readonly reply: { readonly source: string }
}

interface ServedPort {
  readonly port: ProxiedPort
  /** All of them, chosen or not. */
  readonly endpoints: readonly ProxiedEndpoint[]
}

const UDP = 17

/**
 * The conntrack entries that kube-proxy deletes after a sync in which endpoints of UDP ports changed: those to an
 * address of a UDP Service that do not lead to one of its serving endpoints. UDP has no end of a connection: a sender
 * that keeps its port would keep its entry, too, and never meet the new rules. Traffic policies and topology play no
 * part, so that a flow once begun goes on; while a Service has no serving endpoint at all its entries stay.
 * An entry to a node port is known by the port alone, whatever address it went to.
 */
export function selectStaleConnections<T extends TrackedConnection>(
  ports: readonly ServedPort[],
  connections: readonly T[],
): readonly T[] {
  const byAddress = new Map<string, ReadonlySet<string>>()
  const byNodePort = new Map<number, ReadonlySet<string>>()
  for (const { port, endpoints } of ports) {
    if (port.protocol !== 'UDP') continue
    const serving = new Set(endpoints.filter(isServing).map(({ ip }) => ip))
    if (serving.size === 0) continue
    for (const ip of [port.clusterIP, ...port.loadBalancerIPs, ...port.externalIPs])
      byAddress.set(`${ip} ${port.port}`, serving)
    if (port.nodePort !== 0) byNodePort.set(port.nodePort, serving)
  }
  return connections.filter(({ original, reply }) => {
    if (original.protocol !== UDP) return false
    const { destination, destinationPort } = original
    return [byAddress.get(`${destination} ${destinationPort}`), byNodePort.get(destinationPort)].some(
      (serving) => serving !== undefined && !serving.has(reply.source),
    )
  })
}
