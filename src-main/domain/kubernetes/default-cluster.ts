import type { ClusterConfig, ClusterNode } from './cluster-objects.ts'
import { NODE_PORT_RANGE } from './decode-service-port.ts'

/** What a lab may ask for; everything else about the default cluster is fixed. */
export interface DefaultClusterOptions {
  readonly workers?: number
  /** Addresses for LoadBalancer Services, `first-last` or a CIDR; none by default. */
  readonly loadBalancerPool?: string
}

/** As many as have an address and a podCIDR of their own in the default ranges. */
export const maxWorkers = 250

/** A stretch of the switch's network (172.18.0.0/16) that no node uses. */
export const defaultLoadBalancerPool = '172.18.255.200-172.18.255.250'

/**
 * `control-plane` (172.18.0.2, pods 10.244.0.0/24), `worker1` (172.18.0.3, pods 10.244.1.0/24) and so on.
 * Throws a RangeError for a number of workers that is not from 0 to 250.
 */
export function defaultClusterConfig(options: DefaultClusterOptions = {}): ClusterConfig {
  const workers = options.workers ?? 2
  if (!Number.isInteger(workers) || workers < 0 || workers > maxWorkers) {
    throw new RangeError(`a cluster has 0 to ${maxWorkers} workers, not ${workers}`)
  }
  return {
    origin: 'lab',
    nodes: Array.from({ length: workers + 1 }, (_, index) => defaultNode(index)),
    clusterCIDRs: ['10.244.0.0/16'],
    serviceCIDRs: ['10.96.0.0/12'],
    nodePortRange: NODE_PORT_RANGE,
    ...(options.loadBalancerPool === undefined ? {} : { loadBalancerPool: options.loadBalancerPool }),
  }
}

function defaultNode(index: number): ClusterNode {
  return {
    name: index === 0 ? 'control-plane' : `worker${index}`,
    podCIDRs: [`10.244.${index}.0/24`],
    internalIP: `172.18.0.${index + 2}`,
    role: index === 0 ? 'control-plane' : 'worker',
  }
}
