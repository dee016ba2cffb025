import { parseAddress } from './allocate-address.ts'
import { generateName } from './object-names.ts'
import type { Endpoint, EndpointPort, EndpointSlice, IpFamily, Pod, Service } from './objects.ts'
import { isSameValue } from './same-value.ts'

/** The label that says whose endpoints a slice holds. */
export const serviceNameLabel = 'kubernetes.io/service-name'
/** The label that says which controller writes a slice. */
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by'
export const endpointSliceController = 'endpointslice-controller.k8s.io'
export const mirroringController = 'endpointslicemirroring-controller.k8s.io'

const maxEndpointsPerSlice = 100

/** Endpoints that share address family and ports, and so may share a slice. */
export interface EndpointGroup {
  readonly addressType: IpFamily
  readonly ports: readonly EndpointPort[]
  /** By what tells one endpoint from another over time, e.g. the pod's name. */
  readonly endpoints: ReadonlyMap<string, Endpoint>
}

/** A Service's pods as endpoints, grouped by the ports that their containers give to the Service's targetPorts. */
export function groupEndpoints(
  service: Service,
  pods: readonly Pod[],
  zoneOf: (nodeName: string) => string | undefined,
): EndpointGroup[] {
  const groups = new Map<
    string,
    { addressType: IpFamily; ports: readonly EndpointPort[]; endpoints: Map<string, Endpoint> }
  >()
  for (const pod of pods) {
    const ports = resolvePorts(service, pod)
    if (!ports) continue
    for (const addressType of service.spec.ipFamilies) {
      const address = pod.status.podIPs.find((ip) => parseAddress(ip)?.family === addressType)
      if (address === undefined) continue
      const key = groupKey(addressType, ports)
      let group = groups.get(key)
      if (!group) {
        group = { addressType, ports, endpoints: new Map() }
        groups.set(key, group)
      }
      group.endpoints.set(pod.metadata.name, buildEndpoint(service, pod, address, zoneOf(pod.spec.nodeName)))
    }
  }
  return [...groups.values()]
}

/** A pod's port for a Service port: the number, or that of the container port with this name and protocol. */
export function resolveTargetPort(
  target: number | string,
  protocol: EndpointPort['protocol'],
  pod: Pick<Pod, 'spec'>,
): number | undefined {
  if (typeof target === 'number') return target
  for (const container of pod.spec.containers) {
    const found = container.ports.find((port) => port.name === target && port.protocol === protocol)
    if (found) return found.containerPort
  }
  return undefined
}

/** Undefined when the Service has ports but the pod has none of them. */
function resolvePorts(service: Service, pod: Pod): readonly EndpointPort[] | undefined {
  const ports: EndpointPort[] = []
  for (const { name, protocol, targetPort } of service.spec.ports) {
    const port = resolveTargetPort(targetPort, protocol, pod)
    if (port !== undefined) ports.push({ name, protocol, port })
  }
  return ports.length === 0 && service.spec.ports.length > 0 ? undefined : ports
}

function buildEndpoint(service: Service, pod: Pod, address: string, zone: string | undefined): Endpoint {
  const { ready: serving, terminating } = pod.status
  const ready = service.spec.publishNotReadyAddresses || (serving && !terminating)
  const { nodeName } = pod.spec
  const hints = ready ? buildHints(service.spec.trafficDistribution, nodeName, zone) : undefined
  return {
    addresses: [address],
    conditions: { ready, serving, terminating },
    nodeName,
    ...(zone === undefined ? {} : { zone }),
    ...(hints === undefined ? {} : { hints }),
    targetRef: { kind: 'Pod', name: pod.metadata.name, namespace: pod.metadata.namespace },
  }
}

/** trafficDistribution as the EndpointSlice controller turns it into hints. */
function buildHints(distribution: string, nodeName: string, zone: string | undefined): Endpoint['hints'] {
  const forZones = zone === undefined ? {} : { forZones: [{ name: zone }] }
  switch (distribution) {
    case 'PreferClose':
    case 'PreferSameZone':
      return zone === undefined ? undefined : forZones
    case 'PreferSameNode':
      return { forNodes: [{ name: nodeName }], ...forZones }
    default:
      return undefined
  }
}

/**
 * The slices that a Service shall have, made from those that a controller made for it before: an endpoint stays in
 * its slice, new ones fill the gaps, a slice that does not change is the same object. A Service with a selector has at
 * least one slice a family, if need be an empty one.
 */
export function planEndpointSlices(
  service: Service,
  groups: readonly EndpointGroup[],
  existing: readonly EndpointSlice[],
  frame: { now: string; managedBy: string; isTaken: (name: string) => boolean },
): EndpointSlice[] {
  const wanted = frame.managedBy === endpointSliceController ? withPlaceholders(service, groups) : groups
  const wantedKeys = new Set(wanted.map((group) => groupKey(group.addressType, group.ports)))
  const reusable = existing.filter((slice) => !wantedKeys.has(groupKey(slice.addressType, slice.ports)))
  const planned: EndpointSlice[] = []
  const names = new Set<string>()
  for (const group of wanted) {
    const key = groupKey(group.addressType, group.ports)
    const slices = existing.filter((slice) => groupKey(slice.addressType, slice.ports) === key)
    const chunks = distribute(group, slices)
    const others = reusable.filter((slice) => slice.addressType === group.addressType)
    chunks.forEach((endpoints, index) => {
      // Like the real controller, turn a slice that is no longer wanted into one that is: its name stays.
      const before = slices[index] ?? others.find((slice) => !names.has(slice.metadata.name))
      const isUsed = (name: string) => names.has(name) || frame.isTaken(name)
      const name =
        before?.metadata.name ??
        generateName(`${service.metadata.name}-`, `${service.metadata.namespace}/${key}/${index}`, isUsed)
      names.add(name)
      if (endpoints.length === 0 && group.endpoints.size > 0) return
      const slice = buildSlice(service, group, endpoints, name, frame, before)
      planned.push(before && isSameValue(before, slice) ? before : slice)
    })
  }
  return planned
}

function withPlaceholders(service: Service, groups: readonly EndpointGroup[]): readonly EndpointGroup[] {
  const missing = service.spec.ipFamilies.filter(
    (family) => !groups.some((group) => group.addressType === family),
  )
  return [
    ...groups,
    ...missing.map((addressType) => ({ addressType, ports: [], endpoints: new Map<string, Endpoint>() })),
  ]
}

function distribute(group: EndpointGroup, slices: readonly EndpointSlice[]): Endpoint[][] {
  const left = new Map(group.endpoints)
  const chunks = slices.map((slice) =>
    slice.endpoints.flatMap((old) => {
      const key = endpointKey(old)
      const endpoint = left.get(key)
      left.delete(key)
      return endpoint ? [endpoint] : []
    }),
  )
  const fresh = [...left.values()]
  for (const chunk of chunks) chunk.push(...fresh.splice(0, Math.max(0, maxEndpointsPerSlice - chunk.length)))
  while (fresh.length > 0 || chunks.length === 0) chunks.push(fresh.splice(0, maxEndpointsPerSlice))
  return chunks
}

/** What tells an endpoint from others of its Service: its pod, or its address where there is none. */
export function endpointKey(endpoint: Endpoint): string {
  return endpoint.targetRef?.kind === 'Pod' ? endpoint.targetRef.name : (endpoint.addresses[0] ?? '')
}

function buildSlice(
  service: Service,
  group: EndpointGroup,
  endpoints: readonly Endpoint[],
  name: string,
  frame: { now: string; managedBy: string },
  before: EndpointSlice | undefined,
): EndpointSlice {
  const { metadata, spec } = service
  const isHeadless = spec.clusterIPs[0] === 'None'
  return {
    kind: 'EndpointSlice',
    metadata: {
      name,
      namespace: metadata.namespace,
      labels: {
        ...metadata.labels,
        [managedByLabel]: frame.managedBy,
        [serviceNameLabel]: metadata.name,
        ...(isHeadless ? { 'service.kubernetes.io/headless': '' } : {}),
      },
      annotations: {},
      creationTimestamp: before?.metadata.creationTimestamp ?? frame.now,
      ownerReferences: [{ kind: 'Service', name: metadata.name }],
    },
    addressType: group.addressType,
    endpoints,
    ports: group.ports,
  }
}

function groupKey(addressType: string, ports: readonly EndpointPort[]): string {
  const texts = ports.map((port) => `${port.name}:${port.protocol}:${port.port ?? ''}`).sort()
  return `${addressType} ${texts.join(' ')}`
}
