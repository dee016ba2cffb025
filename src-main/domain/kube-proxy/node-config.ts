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
