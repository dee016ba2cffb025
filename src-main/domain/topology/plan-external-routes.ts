import type { EndpointSlice, Service } from '../kubernetes/objects.ts'
import { CLIENT_ADDRESS, type NodePlace } from './plan-network.ts'

/**
 * The client's way to each external and load-balancer address, as a load balancer of the simplest kind gives it:
 * one node answers for the address. With externalTrafficPolicy Local it is a node with a ready endpoint.
 * Address → the node's address.
 */
export function planExternalRoutes(
  services: Iterable<Service>,
  slicesOf: (service: Service) => readonly EndpointSlice[],
  nodes: readonly NodePlace[],
): Map<string, string> {
  const routes = new Map<string, string>()
  const own = new Set([CLIENT_ADDRESS, ...nodes.map(({ address }) => address)])
  const workers = nodes.length > 1 ? nodes.slice(1) : nodes
  for (const service of services) {
    const addresses = [
      ...service.spec.externalIPs,
      ...service.status.loadBalancer.ingress.flatMap(({ ip, ipMode }) =>
        ip && ipMode !== 'Proxy' ? [ip] : [],
      ),
    ].filter((address) => !address.includes(':') && !own.has(address))
    if (addresses.length === 0) continue
    const via = chooseNode(service, slicesOf(service), workers)
    for (const address of addresses) if (via && !routes.has(address)) routes.set(address, via.address)
  }
  return routes
}

function chooseNode(
  service: Service,
  slices: readonly EndpointSlice[],
  workers: readonly NodePlace[],
): NodePlace | undefined {
  if (service.spec.externalTrafficPolicy !== 'Local') return workers[0]
  const holding = new Set(
    slices.flatMap(({ endpoints }) =>
      endpoints.flatMap(({ conditions, nodeName }) =>
        conditions.ready !== false && nodeName !== undefined ? [nodeName] : [],
      ),
    ),
  )
  return workers.find(({ name }) => holding.has(name)) ?? workers[0]
}
