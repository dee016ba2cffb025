import type { IpFamily, NodeObject } from '../kubernetes/objects.ts'
import { type Cidr, contains, type IpAddress, isLoopback, parseCidr, parseIp } from './ip-address.ts'
import type { NodeConfig } from './node-config.ts'
import type { NodePlace } from './select-endpoints.ts'

/** What the rules of one family depend on besides Services and endpoints: flags and node facts, worked out once. */
export interface NodeView extends NodePlace {
  readonly family: IpFamily
  /** The match for traffic of this node's own pods, e.g. `-s 10.244.0.0/16`; undefined when there is no telling. */
  readonly localTraffic: string | undefined
  readonly masqueradeAll: boolean
  /** As kube-proxy writes it: eight hexadecimal digits. */
  readonly masqueradeMark: string
  readonly randomFully: boolean
  readonly nfacct: boolean
  readonly dropInvalid: boolean
  /** Node ports answer on 127.0.0.0/8 (which asks for route_localnet=1, hence for KUBE-FIREWALL's rule). */
  readonly localhostNodePorts: boolean
  /** The match or matches that lead to KUBE-NODEPORTS; none when no address of the node takes part. */
  readonly nodePortMatches: readonly string[]
  readonly nodeIP: IpAddress | undefined
}

export function buildNodeView(config: NodeConfig, node: NodeObject | undefined, family: IpFamily): NodeView {
  const nodePortCidrs = selectNodePortCidrs(config, family)
  const localhostNodePorts =
    family === 'IPv4' && config.localhostNodePorts && nodePortCidrs.some(holdsLoopback)
  return {
    family,
    nodeName: config.nodeName,
    zone: node?.metadata.labels['topology.kubernetes.io/zone'] ?? '',
    localTraffic: buildLocalTraffic(config, node, family),
    masqueradeAll: config.masqueradeAll,
    masqueradeMark: `0x${(2 ** config.masqueradeBit).toString(16).padStart(8, '0')}`,
    randomFully: config.randomFully,
    nfacct: config.nfacct,
    dropInvalid: !config.conntrackTCPBeLiberal,
    localhostNodePorts,
    nodePortMatches: buildNodePortMatches(config, family, nodePortCidrs, localhostNodePorts),
    nodeIP: selectNodeIP(config, family),
  }
}

function selectNodeIP(config: NodeConfig, family: IpFamily): IpAddress | undefined {
  const own = config.nodeIPs.flatMap((ip) => parseIp(ip) ?? []).find((ip) => ip.family === family)
  return own ?? parseIp(family === 'IPv4' ? '127.0.0.1' : '::1')
}

/** `-s CIDR`, `-i BRIDGE` or `-i PREFIX+`; of several CIDRs of the family only the first counts. */
function buildLocalTraffic(
  { detectLocal }: NodeConfig,
  node: NodeObject | undefined,
  family: IpFamily,
): string | undefined {
  switch (detectLocal.mode) {
    case 'ClusterCIDR':
      return sourceMatch(detectLocal.clusterCIDRs, family)
    case 'NodeCIDR':
      return sourceMatch(detectLocal.nodeCIDRs ?? node?.spec.podCIDRs ?? [], family)
    case 'BridgeInterface':
      return detectLocal.bridgeInterface === '' ? undefined : `-i ${detectLocal.bridgeInterface}`
    case 'InterfaceNamePrefix':
      return detectLocal.interfaceNamePrefix === '' ? undefined : `-i ${detectLocal.interfaceNamePrefix}+`
    default:
      return detectLocal satisfies never
  }
}

function sourceMatch(cidrs: readonly string[], family: IpFamily): string | undefined {
  const cidr = cidrs.flatMap((text) => parseCidr(text.trim()) ?? []).find((each) => each.family === family)
  return cidr && `-s ${cidr.text}`
}

/** The CIDRs of the family; without any, every address of the family. */
function selectNodePortCidrs(config: NodeConfig, family: IpFamily): readonly Cidr[] {
  const texts =
    config.nodePortAddresses.length === 1 && config.nodePortAddresses[0] === 'primary'
      ? primaryCidrs(config)
      : config.nodePortAddresses
  const cidrs = texts.flatMap((text) => parseCidr(text) ?? []).filter((cidr) => cidr.family === family)
  if (cidrs.length > 0) return cidrs
  return [parseCidr(family === 'IPv4' ? '0.0.0.0/0' : '::/0') as Cidr]
}

function primaryCidrs(config: NodeConfig): string[] {
  return (['IPv4', 'IPv6'] as const).flatMap((family) => {
    const ip = selectNodeIP(config, family)
    return ip && !isLoopback(ip) ? [`${ip.text}/${ip.groups.length * 16}`] : []
  })
}

function holdsLoopback(cidr: Cidr): boolean {
  return isLoopback(cidr) || contains(cidr, parseIp('127.0.0.0') as IpAddress)
}

function buildNodePortMatches(
  config: NodeConfig,
  family: IpFamily,
  cidrs: readonly Cidr[],
  localhostNodePorts: boolean,
): readonly string[] {
  if (cidrs.some((cidr) => cidr.prefix === 0)) {
    const local = '-m addrtype --dst-type LOCAL'
    if (family === 'IPv6') return [`${local} ! -d ::1/128`]
    return [localhostNodePorts ? local : `${local} ! -d 127.0.0.0/8`]
  }
  const addresses = new Set<string>()
  for (const { addrs } of config.interfaces)
    for (const addr of addrs) {
      const ip = parseIp(addr.split('/')[0] as string)
      if (!ip || !cidrs.some((cidr) => contains(cidr, ip))) continue
      if (isLoopback(ip) && !localhostNodePorts) continue
      addresses.add(ip.text)
    }
  return [...addresses].sort().map((address) => `-d ${address}`)
}
