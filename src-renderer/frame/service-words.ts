import type { LabStatus } from '../../src-main/contract/lab-contract.ts'
import type {
  Endpoint,
  EndpointSlice,
  Service,
  ServicePort,
} from '../../src-main/domain/kubernetes/objects.ts'

const SERVICE_NAME_LABEL = 'kubernetes.io/service-name'

/** One way of reaching a Service: from where, over which of its addresses, and the command that does it. */
export interface WayIn {
  /** Where the address is meant to be used. */
  readonly from: 'pod' | 'client'
  readonly over: 'cluster IP' | 'name' | 'node port' | 'load balancer' | 'external IP'
  readonly command: string
}

export const isHeadless = ({ spec }: Service): boolean => spec.clusterIPs[0] === 'None'

/** A host as it stands before a port: IPv6 in brackets. */
const hostText = (address: string): string => (address.includes(':') ? `[${address}]` : address)

export const addressText = (address: string, port: number): string => `${hostText(address)}:${port}`

/** The command that sends a request: HTTP over TCP, one line over UDP. Undefined for what no tool here speaks. */
export function requestCommand(
  address: string,
  port: number,
  protocol: ServicePort['protocol'],
): string | undefined {
  switch (protocol) {
    case 'TCP':
      return `curl http://${port === 80 ? hostText(address) : addressText(address, port)}/`
    case 'UDP':
      return `(echo hello >&3; timeout 1 head -n 1 <&3) 3<>/dev/udp/${address}/${port}`
    case 'SCTP':
      return undefined
    default:
      return protocol satisfies never
  }
}

/** Every way into a Service, the inner ones first. */
export function waysIn(service: Service, nodes: LabStatus['nodes'], node: string): readonly WayIn[] {
  const { metadata, spec, status } = service
  if (spec.type === 'ExternalName' || isHeadless(service)) return []
  const nodeAddress = (nodes.find(({ name }) => name === node) ?? nodes[0])?.address
  const name = metadata.namespace === 'default' ? metadata.name : `${metadata.name}.${metadata.namespace}`
  const balancers = status.loadBalancer.ingress.flatMap(({ ip }) => ip ?? [])
  return spec.ports.flatMap((port) => {
    const way = (
      from: WayIn['from'],
      over: WayIn['over'],
      address: string | undefined,
      at: number,
    ): WayIn[] => {
      const command = address === undefined ? undefined : requestCommand(address, at, port.protocol)
      return command === undefined ? [] : [{ from, over, command }]
    }
    return [
      ...spec.clusterIPs.flatMap((address) => way('pod', 'cluster IP', address, port.port)),
      ...way('pod', 'name', name, port.port),
      ...(port.nodePort > 0 ? way('client', 'node port', nodeAddress, port.nodePort) : []),
      ...balancers.flatMap((address) => way('client', 'load balancer', address, port.port)),
      ...spec.externalIPs.flatMap((address) => way('client', 'external IP', address, port.port)),
    ]
  })
}

/** `80 → 8080/TCP, node port 32054`, with the port's name where it has one. */
export function portWords({ name, port, targetPort, protocol, nodePort }: ServicePort): string {
  const target = String(targetPort) === String(port) ? '' : ` → ${targetPort}`
  return `${name ? `${name} ` : ''}${port}${target}/${protocol}${nodePort > 0 ? `, node port ${nodePort}` : ''}`
}

/** A Service's type as kubectl's people say it. */
export const typeWords = (service: Service): string => (isHeadless(service) ? 'headless' : service.spec.type)

export interface EndpointWords {
  readonly address: string
  readonly node: string
  readonly pod: { readonly namespace: string; readonly name: string } | undefined
  readonly state: 'ready' | 'not ready' | 'terminating, still serving' | 'terminating'
}

/** Where a Service's packets can go, in the order of its EndpointSlices; one row for each address and port. */
export function endpointRows(service: Service, slices: readonly EndpointSlice[]): readonly EndpointWords[] {
  const { namespace, name } = service.metadata
  return slices
    .filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.labels[SERVICE_NAME_LABEL] === name,
    )
    .flatMap(({ endpoints, ports }) =>
      endpoints.flatMap((endpoint) =>
        endpoint.addresses.flatMap((address) =>
          ports.flatMap(({ port }) =>
            port === undefined
              ? []
              : [
                  {
                    address: addressText(address, port),
                    node: endpoint.nodeName ?? '',
                    pod:
                      endpoint.targetRef?.kind === 'Pod'
                        ? {
                            namespace: endpoint.targetRef.namespace ?? namespace,
                            name: endpoint.targetRef.name,
                          }
                        : undefined,
                    state: endpointState(endpoint),
                  },
                ],
          ),
        ),
      ),
    )
}

/** Absent conditions mean ready, as kube-proxy reads them. */
function endpointState({ conditions }: Endpoint): EndpointWords['state'] {
  if (conditions.terminating)
    return conditions.serving === false ? 'terminating' : 'terminating, still serving'
  return conditions.ready === false ? 'not ready' : 'ready'
}

/** What a Service's type means for the rules. */
export function serviceMeaning(service: Service): string {
  if (isHeadless(service))
    return 'It has no address of its own; its name stands for its pods, and there are no rules.'
  switch (service.spec.type) {
    case 'ClusterIP':
      return 'One address inside the cluster; rules on every node turn it into an endpoint’s.'
    case 'NodePort':
      return 'Also a port on every node, for callers outside the cluster.'
    case 'LoadBalancer':
      return 'Also an address outside the cluster, which rules on every node accept.'
    case 'ExternalName':
      return 'Only a name for another name; there are no rules.'
    default:
      return service.spec.type satisfies never
  }
}

/** Its addresses, and what is not as usual. */
export function serviceFacts({ metadata, spec, status }: Service): readonly (readonly [string, string])[] {
  const some = (label: string, values: readonly string[]): [string, string][] =>
    values.length > 0 ? [[label, values.join(', ')]] : []
  const balancers = status.loadBalancer.ingress.flatMap(({ ip, hostname }) => ip ?? hostname ?? [])
  return [
    ...some('Cluster IP', spec.clusterIPs),
    ...some('Balancer', balancers),
    ...some('External', spec.externalIPs),
    ...some('Stands for', spec.externalName ? [spec.externalName] : []),
    ['Namespace', metadata.namespace],
    ...some(
      'Selector',
      Object.entries(spec.selector).map(([key, value]) => `${key}=${value}`),
    ),
    ...some(
      'Affinity',
      spec.sessionAffinity === 'None'
        ? []
        : [`${spec.sessionAffinity}, ${spec.sessionAffinityTimeoutSeconds} s`],
    ),
    ...some('From outside', spec.externalTrafficPolicy === 'Local' ? ['only to this node’s endpoints'] : []),
    ...some('From inside', spec.internalTrafficPolicy === 'Local' ? ['only to this node’s endpoints'] : []),
    ...some('Allowed', spec.loadBalancerSourceRanges),
  ]
}
