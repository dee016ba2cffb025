import type { IpFamily } from '../kubernetes/objects.ts'

/** How kube-proxy tells traffic of this node's own pods from other traffic (`--detect-local-mode`). */
export type DetectLocal =
  | { readonly mode: 'ClusterCIDR'; readonly clusterCIDRs: readonly string[] }
  | { readonly mode: 'NodeCIDR'; readonly nodeCIDRs?: readonly string[] }
  | { readonly mode: 'BridgeInterface'; readonly bridgeInterface: string }
  | { readonly mode: 'InterfaceNamePrefix'; readonly interfaceNamePrefix: string }

/** What one node's kube-proxy knows of its node and its own flags; the shape of a `node.json` file. */
export interface NodeConfig {
  readonly nodeName: string
  readonly nodeIPs: readonly string[]
  readonly ipFamilies: readonly IpFamily[]
  /** `addrs` are addresses with prefix length, e.g. `192.168.0.2/24`. */
  readonly interfaces: readonly { readonly name: string; readonly addrs: readonly string[] }[]
  readonly detectLocal: DetectLocal
  readonly masqueradeAll: boolean
  /** 0 to 31. */
  readonly masqueradeBit: number
  /** CIDRs, or the single word "primary"; empty means every address of the node. */
  readonly nodePortAddresses: readonly string[]
  readonly localhostNodePorts: boolean
  /** The installed iptables knows `MASQUERADE --random-fully` (1.6.2 and later). */
  readonly randomFully: boolean
  /** The kernel has xt_nfacct and the accounting objects exist. */
  readonly nfacct: boolean
  /** net.netfilter.nf_conntrack_tcp_be_liberal is not 0. */
  readonly conntrackTCPBeLiberal: boolean
  readonly serviceCIDRs: readonly string[]
}

/** kube-proxy's own defaults on a kubeadm node, whose local traffic is told by the cluster CIDR. */
export function defaultNodeConfig(
  node: { readonly name: string; readonly internalIP: string; readonly podCIDRs: readonly string[] },
  cluster: { readonly clusterCIDRs: readonly string[]; readonly serviceCIDRs: readonly string[] },
): NodeConfig {
  return {
    nodeName: node.name,
    nodeIPs: node.internalIP === '' ? [] : [node.internalIP],
    ipFamilies: cluster.serviceCIDRs.map((cidr) => (cidr.includes(':') ? 'IPv6' : 'IPv4')),
    interfaces: [
      { name: 'lo', addrs: ['127.0.0.1/8', '::1/128'] },
      { name: 'eth0', addrs: node.internalIP === '' ? [] : [`${node.internalIP}/16`] },
      { name: 'cni0', addrs: node.podCIDRs.map(firstAddress) },
    ],
    detectLocal: { mode: 'ClusterCIDR', clusterCIDRs: cluster.clusterCIDRs },
    masqueradeAll: false,
    masqueradeBit: 14,
    nodePortAddresses: [],
    localhostNodePorts: true,
    randomFully: true,
    nfacct: false,
    conntrackTCPBeLiberal: false,
    serviceCIDRs: cluster.serviceCIDRs,
  }
}

/** 10.244.1.0/24 → 10.244.1.1/24, the bridge's own address. */
function firstAddress(cidr: string): string {
  return cidr.replace(/0\/|::\//, (end) => (end === '0/' ? '1/' : '::1/'))
}

/** Reads a `node.json`; missing settings take kube-proxy's defaults. All problems at once, each with its field. */
export function parseNodeConfig(text: string): { config: NodeConfig | undefined; problems: string[] } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { config: undefined, problems: [`is not JSON: ${error instanceof Error ? error.message : ''}`] }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { config: undefined, problems: ['must hold one JSON object'] }
  const fields = value as Record<string, unknown>
  const defaults = defaultNodeConfig(
    { name: '', internalIP: '', podCIDRs: [] },
    { clusterCIDRs: ['10.244.0.0/16'], serviceCIDRs: ['10.96.0.0/12'] },
  )
  const problems: string[] = []
  const known = Object.keys(defaults)
  for (const name of Object.keys(fields))
    if (!known.includes(name)) problems.push(`${name}: unknown setting; known are ${known.join(', ')}`)
  const config = { ...defaults, ...fields } as NodeConfig
  const wrong = (field: keyof NodeConfig, want: string): void => {
    problems.push(`${field}: must be ${want}, found ${JSON.stringify(fields[field])}`)
  }
  if (typeof config.nodeName !== 'string') wrong('nodeName', 'a name')
  for (const field of ['nodeIPs', 'ipFamilies', 'nodePortAddresses', 'serviceCIDRs'] as const)
    if (!isTextList(config[field])) wrong(field, 'a list of strings')
  for (const field of [
    'masqueradeAll',
    'localhostNodePorts',
    'randomFully',
    'nfacct',
    'conntrackTCPBeLiberal',
  ] as const)
    if (typeof config[field] !== 'boolean') wrong(field, 'true or false')
  const bit: unknown = config.masqueradeBit
  if (typeof bit !== 'number' || !Number.isInteger(bit) || bit < 0 || bit > 31)
    wrong('masqueradeBit', 'a number from 0 to 31')
  const interfaces: unknown = config.interfaces
  if (
    !Array.isArray(interfaces) ||
    !interfaces.every(
      (each: { name?: unknown; addrs?: unknown } | null) =>
        typeof each?.name === 'string' && isTextList(each.addrs),
    )
  )
    wrong('interfaces', 'a list of {name, addrs}')
  const detect: { mode?: unknown } | null = config.detectLocal
  if (!['ClusterCIDR', 'NodeCIDR', 'BridgeInterface', 'InterfaceNamePrefix'].includes(String(detect?.mode)))
    wrong(
      'detectLocal',
      'an object whose mode is ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix',
    )
  return problems.length > 0 ? { config: undefined, problems } : { config, problems }
}

const isTextList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')
