import { canonicalAddress, parseAddress } from './allocate-address.ts'
import { ClusterIps } from './allocate-cluster-ip.ts'
import { resolveFamilies } from './allocate-families.ts'
import { LoadBalancerIps } from './allocate-load-balancer.ts'
import { NodePorts } from './allocate-node-port.ts'
import type { ReportAllocation } from './allocation-report.ts'
import type { ClusterConfig } from './cluster-objects.ts'
import { invalidValue } from './field-messages.ts'
import { displayName } from './object-names.ts'
import type { IpFamily, Service } from './objects.ts'
import { keepNodePorts, needsNodePorts, takeNodePorts } from './service-node-ports.ts'

/** A Service as a manifest has it, and as the cluster has it by now. */
export interface ServiceRequest {
  readonly given: Service
  readonly live: Service | undefined
}

/** Something wrong with one request; `index` is its place in the list. */
export interface AllocationProblem {
  readonly index: number
  readonly severity: 'error' | 'warning'
  readonly path: string
  readonly message: string
}

/**
 * Gives Services their cluster IPs, node ports and load balancer addresses. What a manifest gives is kept, then what
 * the Service had before; the rest is allocated, after everything that was asked for by number has been set aside.
 * `others` are all Services that are not among the requests.
 */
export function allocateServices(
  requests: readonly ServiceRequest[],
  others: Iterable<Service>,
  config: ClusterConfig,
): { services: Service[]; problems: AllocationProblem[] } {
  const pools: Pools = {
    ips: new ClusterIps(config.serviceCIDRs),
    ports: new NodePorts(config.nodePortRange),
    balancers: new LoadBalancerIps(config.loadBalancerPool),
    isStrict: config.origin === 'lab',
  }
  for (const service of others) register(pools, service)
  const problems: AllocationProblem[] = []
  const refused = new Set<number>()
  const reporter =
    (index: number): ReportAllocation =>
    (severity, path, message) => {
      problems.push({ index, severity, path, message })
      if (severity === 'error') refused.add(index)
    }
  const reserved = requests.map(({ given, live }, index) => reserve(pools, given, live, reporter(index)))
  const services = reserved.map((service, index) =>
    refused.has(index) ? service : fill(pools, service, reporter(index)),
  )
  return { services, problems }
}

interface Pools {
  readonly ips: ClusterIps
  readonly ports: NodePorts
  readonly balancers: LoadBalancerIps
  /** Addresses and ports outside the ranges are errors; otherwise they are believed. */
  readonly isStrict: boolean
}

/** Whether a Service has cluster IPs at all; a headless one's is the word None. */
export function needsClusterIps(service: Service): boolean {
  return service.spec.type !== 'ExternalName' && service.spec.clusterIPs[0] !== 'None'
}

function register(pools: Pools, service: Service): void {
  const owner = ownerName(service)
  if (needsClusterIps(service)) for (const ip of service.spec.clusterIPs) pools.ips.take(ip, owner)
  for (const { nodePort } of service.spec.ports) if (nodePort > 0) pools.ports.take(nodePort, owner)
  if (service.spec.healthCheckNodePort > 0) pools.ports.take(service.spec.healthCheckNodePort, owner)
  pools.balancers.register(service, owner)
}

/** First round: what is given or was held before. */
function reserve(pools: Pools, given: Service, live: Service | undefined, report: ReportAllocation): Service {
  const withFamilies = resolveFamilies(given, live, pools.ips.families, pools.isStrict, report)
  const withIps = reserveClusterIps(pools, withFamilies, live, report)
  const withPorts = reserveNodePorts(pools, keepNodePorts(withIps, live), report)
  return pools.balancers.reserve(withPorts, live, ownerName(given), report)
}

function reserveClusterIps(
  pools: Pools,
  service: Service,
  live: Service | undefined,
  report: ReportAllocation,
): Service {
  const { spec } = service
  if (spec.type === 'ExternalName') return withSpec(service, { clusterIPs: [] })
  const given = spec.clusterIPs
  const held = live && live.spec.type !== 'ExternalName' ? live.spec.clusterIPs : []
  if (
    given[0] !== undefined &&
    held[0] !== undefined &&
    canonicalAddress(given[0]) !== canonicalAddress(held[0])
  ) {
    report('error', 'spec.clusterIPs[0]', invalidValue(given, 'may not change once set'))
    return service
  }
  if (given[0] === 'None' || (given.length === 0 && held[0] === 'None')) {
    return withSpec(service, { clusterIPs: ['None'] })
  }
  const clusterIPs: string[] = []
  spec.ipFamilies.forEach((family, index) => {
    const ip = given[index] ?? held.find((each) => parseAddress(each)?.family === family)
    if (ip === undefined) return
    if (parseAddress(ip)?.family !== family) {
      report(
        'error',
        `spec.clusterIPs[${index}]`,
        invalidValue(given, `expected an ${family} value as indicated by \`ipFamilies[${index}]\``),
      )
      return
    }
    const isHeld = held.some((each) => canonicalAddress(each) === canonicalAddress(ip))
    if (takeClusterIp(pools, service, family, ip, isHeld, report)) clusterIPs.push(canonicalAddress(ip))
  })
  return withSpec(service, { clusterIPs })
}

function takeClusterIp(
  pools: Pools,
  service: Service,
  family: IpFamily,
  ip: string,
  isHeld: boolean,
  report: ReportAllocation,
): boolean {
  const owner = pools.ips.owner(ip)
  let why: string | undefined
  if (owner !== undefined) why = `provided IP is already allocated (${owner} has it)`
  else if (pools.isStrict && !isHeld && !pools.ips.isInRange(ip)) {
    why = `the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${pools.ips.describeRange(family)}`
  }
  if (why !== undefined) {
    const wanted = service.spec.clusterIPs.length > 0 ? service.spec.clusterIPs : [ip]
    report('error', 'spec.clusterIPs', invalidValue(wanted, `failed to allocate IP ${ip}: ${why}`))
    return false
  }
  pools.ips.take(ip, ownerName(service))
  return true
}

function reserveNodePorts(pools: Pools, service: Service, report: ReportAllocation): Service {
  if (!needsNodePorts(service)) return service
  takeNodePorts(service, ownerName(service), pools.ports, pools.isStrict, report)
  return service
}

/** Second round: what nobody asked for by number. */
function fill(pools: Pools, service: Service, report: ReportAllocation): Service {
  const owner = ownerName(service)
  const seed = `${service.metadata.namespace}/${service.metadata.name}`
  let spec = service.spec
  if (needsClusterIps(service) && spec.clusterIPs.length < spec.ipFamilies.length) {
    const clusterIPs = spec.ipFamilies.flatMap((family) => {
      const reserved = spec.clusterIPs.find((ip) => parseAddress(ip)?.family === family)
      const ip = reserved ?? pools.ips.allocate(family, seed, owner)
      if (ip === undefined) {
        report(
          'error',
          'spec.clusterIPs',
          `failed to allocate a serviceIP: range is full (${pools.ips.describeRange(family)})`,
        )
      }
      return ip ?? []
    })
    spec = { ...spec, clusterIPs }
  }
  if (needsNodePorts(service) && (spec.type === 'NodePort' || spec.allocateLoadBalancerNodePorts)) {
    const byPort = new Map(
      spec.ports.flatMap((port) => (port.nodePort > 0 ? [[port.port, port.nodePort]] : [])),
    )
    const ports = spec.ports.map((port) => {
      if (port.nodePort > 0) return port
      // As in Kubernetes, one port number in two protocols gets one node port.
      const nodePort = byPort.get(port.port) ?? pools.ports.allocate(`${seed}:${port.port}`, owner)
      if (nodePort === undefined) {
        report('error', 'spec.ports', 'failed to allocate a nodePort: range is full')
        return port
      }
      byPort.set(port.port, nodePort)
      return { ...port, nodePort }
    })
    spec = { ...spec, ports }
  }
  if (
    spec.type === 'LoadBalancer' &&
    spec.externalTrafficPolicy === 'Local' &&
    spec.healthCheckNodePort === 0
  ) {
    const healthCheckNodePort = pools.ports.allocate(`${seed} health check`, owner)
    if (healthCheckNodePort === undefined) {
      report('error', 'spec.healthCheckNodePort', 'failed to allocate a nodePort: range is full')
    } else spec = { ...spec, healthCheckNodePort }
  }
  return pools.balancers.fill({ ...service, spec }, owner, report)
}

function withSpec(service: Service, change: Partial<Service['spec']>): Service {
  return { ...service, spec: { ...service.spec, ...change } }
}

function ownerName({ metadata }: Service): string {
  return `Service ${displayName(metadata.namespace, metadata.name)}`
}
