import { parseAddress } from './allocate-address.ts'
import { type AppliedObject, applyObjects, type ClusterResult } from './cluster.ts'
import {
  type ClusterConfig,
  type ClusterNode,
  createCluster,
  nodeRole,
  zoneLabel,
} from './cluster-objects.ts'
import { defaultClusterConfig } from './default-cluster.ts'
import type { KubernetesObject, NodeObject } from './objects.ts'

const defaultIpv6ServiceCidr = 'fd00:10:96::/112'
const defaultIpv6ClusterCidr = 'fd00:10:244::/56'

/**
 * A cluster that manifests describe, for working out rules without a lab: their Node objects are its nodes, or else
 * the default three; addresses, ports and namespaces are believed as given.
 */
export function createClusterFromManifests(
  items: readonly AppliedObject[],
  now: string,
  options: Partial<Pick<ClusterConfig, 'clusterCIDRs' | 'serviceCIDRs'>> = {},
): ClusterResult {
  const objects = items.map(({ object }) => object)
  const defaults = defaultClusterConfig()
  const nodes = objects.flatMap((object) => (object.kind === 'Node' ? [clusterNode(object)] : []))
  const isDual = objects.some(wantsIpv6)
  const config: ClusterConfig = {
    ...defaults,
    origin: 'manifests',
    nodes: nodes.length > 0 ? nodes : defaults.nodes,
    clusterCIDRs: options.clusterCIDRs ?? withIpv6(defaults.clusterCIDRs, isDual, defaultIpv6ClusterCidr),
    serviceCIDRs: options.serviceCIDRs ?? withIpv6(defaults.serviceCIDRs, isDual, defaultIpv6ServiceCidr),
  }
  return applyObjects(createCluster(config, now), items, now)
}

function clusterNode(node: NodeObject): ClusterNode {
  const { addresses } = node.status
  const internal =
    addresses.find(({ type }) => type === 'InternalIP') ??
    addresses.find((each) => parseAddress(each.address))
  const zone = node.metadata.labels[zoneLabel]
  return {
    name: node.metadata.name,
    podCIDRs: node.spec.podCIDRs,
    internalIP: internal?.address ?? '',
    role: nodeRole(node),
    ...(zone === undefined ? {} : { zone }),
  }
}

function wantsIpv6(object: KubernetesObject): boolean {
  if (object.kind !== 'Service') return false
  const { ipFamilies, clusterIPs } = object.spec
  return ipFamilies.includes('IPv6') || clusterIPs.some((ip) => parseAddress(ip)?.family === 'IPv6')
}

function withIpv6(cidrs: readonly string[], isDual: boolean, ipv6: string): readonly string[] {
  return isDual ? [...cidrs, ipv6] : cidrs
}
