import type { ChainName } from '../iptables/rule-set.ts'
import type {
  Endpoint,
  EndpointPort,
  EndpointSlice,
  IpFamily,
  Protocol,
  Service,
  ServicePort,
} from '../kubernetes/objects.ts'
import { buildEndpointChain, ServicePortChains } from './chain-names.ts'
import { type Cidr, joinHostPort, normalizeIp, parseCidr } from './ip-address.ts'
import { NamedMap, type ReadonlyNamedMap } from './named-map.ts'

/** One port of one Service as the proxier of one address family sees it: the unit that rules are made for. */
export interface ProxiedPort {
  readonly family: IpFamily
  readonly namespace: string
  readonly service: string
  /** Empty when unnamed. */
  readonly portName: string
  readonly protocol: Protocol
  /** `namespace/service:port`, or `namespace/service` for an unnamed port. */
  readonly name: string
  /** The protocol as iptables writes it. */
  readonly match: 'tcp' | 'udp' | 'sctp'
  readonly clusterIP: string
  readonly port: number
  /** 0 when there is none. */
  readonly nodePort: number
  readonly externalIPs: readonly string[]
  /** Load-balancer addresses that the node answers for itself (ipMode VIP). */
  readonly loadBalancerIPs: readonly string[]
  /** Empty when every source may come in. */
  readonly sourceRanges: readonly Cidr[]
  /** 0 when there is none. */
  readonly healthCheckNodePort: number
  readonly internalPolicyLocal: boolean
  /** False for a Service that cannot be reached from outside, whatever it says. */
  readonly externalPolicyLocal: boolean
  /** 0 without session affinity. */
  readonly affinitySeconds: number
  readonly chains: ServicePortChains
}

/** One address and port behind a ProxiedPort. */
export interface ProxiedEndpoint {
  readonly ip: string
  /** `ip:port`, or `[ip]:port`: what endpoints are sorted by and DNAT goes to. */
  readonly text: string
  readonly chain: ChainName
  /** As the slice has it: node, conditions, hints and the object behind it. */
  readonly source: Endpoint
}

export function isReady({ source }: ProxiedEndpoint): boolean {
  return source.conditions.ready ?? true
}

/** Answers, whether new traffic should still go there or not. */
export function isServing({ source }: ProxiedEndpoint): boolean {
  return source.conditions.serving ?? true
}

/** On its way out but still answering: better than nothing, never better than a ready one. */
export function isLeaving(endpoint: ProxiedEndpoint): boolean {
  return isTerminating(endpoint.source) && isServing(endpoint)
}

function isTerminating(endpoint: Endpoint): boolean {
  return endpoint.conditions.terminating ?? false
}

/** The slices of one family that kube-proxy looks at, for each Service in the order of their names. */
export function groupSlices(
  slices: readonly EndpointSlice[],
  family: IpFamily,
): ReadonlyNamedMap<readonly EndpointSlice[]> {
  const groups = new NamedMap<EndpointSlice[]>()
  for (const slice of slices) {
    const { labels, namespace } = slice.metadata
    const owner = labels['kubernetes.io/service-name']
    if (!owner || slice.addressType !== family || labels['service.kubernetes.io/headless'] !== undefined)
      continue
    const group = groups.get(namespace, owner)
    if (!group) groups.set(namespace, owner, [slice])
    else {
      group.push(slice)
      group.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    }
  }
  return groups
}

/** The Service's ports for one family; none for a Service that kube-proxy leaves alone. */
export function selectPorts(service: Service, family: IpFamily): readonly ProxiedPort[] {
  const { spec } = service
  if (
    spec.type === 'ExternalName' ||
    service.metadata.labels['service.kubernetes.io/service-proxy-name'] !== undefined
  )
    return []
  const clusterIP = ofFamily(spec.clusterIPs, family)[0]
  if (clusterIP === undefined) return []

  const externalIPs = ofFamily(spec.externalIPs, family)
  const loadBalancerIPs = ofFamily(
    service.status.loadBalancer.ingress.flatMap(({ ip, ipMode }) => (ip && ipMode !== 'Proxy' ? [ip] : [])),
    family,
  )
  const sourceRanges = selectSourceRanges(spec.loadBalancerSourceRanges, family)
  const external = spec.type === 'NodePort' || spec.type === 'LoadBalancer' || spec.externalIPs.length > 0
  const externalPolicyLocal = external && spec.externalTrafficPolicy === 'Local'
  const { namespace, name: serviceName } = service.metadata
  return distinctPorts(spec.ports).map((port) => {
    const match = lowerCase[port.protocol]
    const name = port.name === '' ? `${namespace}/${serviceName}` : `${namespace}/${serviceName}:${port.name}`
    return {
      family,
      namespace,
      service: serviceName,
      portName: port.name,
      protocol: port.protocol,
      name,
      match,
      clusterIP,
      port: port.port,
      nodePort: port.nodePort,
      externalIPs,
      loadBalancerIPs,
      sourceRanges,
      healthCheckNodePort: spec.type === 'LoadBalancer' && externalPolicyLocal ? spec.healthCheckNodePort : 0,
      internalPolicyLocal: spec.internalTrafficPolicy === 'Local',
      externalPolicyLocal,
      affinitySeconds: spec.sessionAffinity === 'ClientIP' ? spec.sessionAffinityTimeoutSeconds : 0,
      chains: new ServicePortChains(name, match),
    }
  })
}

const lowerCase = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' } as const

/** Name and protocol identify a port; of two equal ones the later counts. */
function distinctPorts(ports: readonly ServicePort[]): readonly ServicePort[] {
  if (ports.length < 2) return ports
  const distinct = new Map<string, ServicePort>()
  for (const port of ports) distinct.set(`${port.name}/${port.protocol}`, port)
  return [...distinct.values()]
}

/** The endpoints of one port from its Service's slices (of the right family), sorted by their text. */
export function selectPortEndpoints(
  port: ProxiedPort,
  slices: readonly EndpointSlice[],
): readonly ProxiedEndpoint[] {
  const endpoints: ProxiedEndpoint[] = []
  for (const slice of slices)
    for (const slicePort of slice.ports)
      if (matches(slicePort, port))
        for (const endpoint of slice.endpoints) {
          const built = buildEndpoint(port, slicePort.port as number, endpoint)
          if (built) endpoints.push(built)
        }
  for (let i = 1; i < endpoints.length; i++)
    if ((endpoints[i - 1] as ProxiedEndpoint).text >= (endpoints[i] as ProxiedEndpoint).text)
      return mergeEqual(endpoints.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0)))
  return endpoints
}

/** A pod that moves between slices, or a new pod with a dying one's address: the living one is meant. */
function mergeEqual(sorted: readonly ProxiedEndpoint[]): ProxiedEndpoint[] {
  const merged: ProxiedEndpoint[] = []
  for (const each of sorted)
    if (each.text !== merged.at(-1)?.text) merged.push(each)
    else if (!isTerminating(each.source)) merged[merged.length - 1] = each
  return merged
}

/** Number and targetPort of the Service play no part: the slice's port number is what traffic goes to. */
function matches(slicePort: EndpointPort, port: ProxiedPort): boolean {
  return slicePort.name === port.portName && slicePort.protocol === port.protocol && !!slicePort.port
}

function buildEndpoint(
  { name, match, family }: ProxiedPort,
  port: number,
  source: Endpoint,
): ProxiedEndpoint | undefined {
  const address = source.addresses[0]
  if (address === undefined) return undefined
  const ip = normalizeIp(address, family) ?? address
  const text = joinHostPort(ip, port)
  return { ip, text, chain: buildEndpointChain(name, match, text), source }
}

/** The addresses of one family, as iptables rules spell them; what is no address ("None", "") falls away. */
function ofFamily(addresses: readonly string[], family: IpFamily): readonly string[] {
  if (addresses.length === 0) return none
  const own: string[] = []
  for (const address of addresses) {
    const ip = normalizeIp(address, family)
    if (ip !== undefined) own.push(ip)
  }
  return own
}

const none: readonly string[] = []

/** A range that holds every address lifts the restriction, whatever stands beside it. */
function selectSourceRanges(ranges: readonly string[], family: IpFamily): readonly Cidr[] {
  const cidrs = ranges
    .flatMap((range) => parseCidr(range.trim()) ?? [])
    .filter((cidr) => cidr.family === family)
  return cidrs.some((cidr) => cidr.prefix === 0) ? [] : cidrs
}
