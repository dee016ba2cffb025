import { isLeaving, isReady, type ProxiedEndpoint, type ProxiedPort } from './service-ports.ts'

/** Where a node stands: what the choice of endpoints depends on besides the endpoints themselves. */
export interface NodePlace {
  readonly nodeName: string
  /** The node's topology.kubernetes.io/zone label; empty when it has none. */
  readonly zone: string
}

/** The endpoints that one node sends one Service port's traffic to. */
export interface EndpointChoice {
  /** For traffic policy Cluster; empty when the port never uses it. */
  readonly cluster: readonly ProxiedEndpoint[]
  /** For traffic policy Local; empty when the port never uses it. */
  readonly local: readonly ProxiedEndpoint[]
  /** Both together, each once: those that need a chain of their own. */
  readonly reachable: readonly ProxiedEndpoint[]
  /** Somewhere in the cluster there is a usable endpoint, though perhaps not for this node. */
  readonly anywhere: boolean
}

export function isExternallyReachable(port: ProxiedPort): boolean {
  return port.nodePort !== 0 || port.loadBalancerIPs.length > 0 || port.externalIPs.length > 0
}

/** `endpoints` sorted by text. */
export function selectEndpoints(
  port: ProxiedPort,
  endpoints: readonly ProxiedEndpoint[],
  place: NodePlace,
): EndpointChoice {
  const external = isExternallyReachable(port)
  // Even under external policy Local, the node's own traffic and its pods' goes to any endpoint.
  const usesCluster = !port.internalPolicyLocal || external
  const usesLocal = port.internalPolicyLocal || (port.externalPolicyLocal && external)
  const cluster = usesCluster ? selectClusterEndpoints(endpoints, place) : none
  const local = usesLocal ? selectLocalEndpoints(endpoints, place) : none
  return {
    cluster,
    local,
    reachable: unite(cluster, local),
    anywhere: cluster.length > 0 || (usesLocal && endpoints.some((each) => isReady(each) || isLeaving(each))),
  }
}

const none: readonly ProxiedEndpoint[] = []

function selectClusterEndpoints(
  endpoints: readonly ProxiedEndpoint[],
  place: NodePlace,
): readonly ProxiedEndpoint[] {
  const ready = endpoints.every(isReady) ? endpoints : endpoints.filter(isReady)
  if (ready.length === 0) return endpoints.filter(isLeaving)
  return (
    selectHinted(ready, 'forNodes', place.nodeName) ?? selectHinted(ready, 'forZones', place.zone) ?? ready
  )
}

/** Hints bind only when every ready endpoint carries them and one of them names this place. */
function selectHinted(
  ready: readonly ProxiedEndpoint[],
  kind: 'forNodes' | 'forZones',
  place: string,
): readonly ProxiedEndpoint[] | undefined {
  const hintsOf = ({ source }: ProxiedEndpoint) => source.hints?.[kind] ?? []
  if (!ready.every((endpoint) => hintsOf(endpoint).length > 0)) return undefined
  const hinted = ready.filter((endpoint) => hintsOf(endpoint).some(({ name }) => name === place))
  return hinted.length > 0 ? hinted : undefined
}

function selectLocalEndpoints(
  endpoints: readonly ProxiedEndpoint[],
  { nodeName }: NodePlace,
): readonly ProxiedEndpoint[] {
  if (nodeName === '') return none
  const local = endpoints.filter(({ source }) => source.nodeName === nodeName)
  const ready = local.filter(isReady)
  return ready.length > 0 ? ready : local.filter(isLeaving)
}

function unite(
  cluster: readonly ProxiedEndpoint[],
  local: readonly ProxiedEndpoint[],
): readonly ProxiedEndpoint[] {
  if (local.length === 0) return cluster
  if (cluster.length === 0) return local
  const known = new Set(cluster)
  const others = local.filter((endpoint) => !known.has(endpoint))
  return others.length === 0 ? cluster : [...cluster, ...others].sort((a, b) => (a.text < b.text ? -1 : 1))
}
