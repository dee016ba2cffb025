/**
 * The lab's network as data: hosts (each a network namespace), the cables between them, addresses, routes and
 * sysctls. Nothing here touches a kernel; system/sandbox lays what this plans.
 */

declare const hostIdBrand: unique symbol
/** `client`, `node/NAME` or `pod/NAMESPACE/NAME`. */
export type HostId = string & { readonly [hostIdBrand]: true }

export const CLIENT = 'client' as HostId
export const nodeHost = (node: string): HostId => `node/${node}` as HostId
export const podHost = (namespace: string, name: string): HostId => `pod/${namespace}/${name}` as HostId

/** `bridge`: pods are ports of cni0. `routed`: each pod hangs on a link of its own, for kernels without br_netfilter. */
export type Attachment = 'bridge' | 'routed'

export interface Route {
  /** A prefix, or "default". */
  readonly to: string
  readonly via?: string
  /** Name of the link that the route leaves by. */
  readonly dev: string
  readonly scope?: 'link'
}

export interface LinkEnd {
  readonly name: string
  /** With prefix length. */
  readonly addresses: readonly string[]
  readonly routes: readonly Route[]
}

/** A veth pair. `outer` ends in the switch (for nodes and the client) or in the pod's node. */
export interface Cable {
  readonly inner: LinkEnd
  readonly outer: LinkEnd & {
    /** `switch` is the sandbox's own namespace. */
    readonly host: HostId | 'switch'
    /** The bridge that the outer end is a port of. */
    readonly bridge?: string
    readonly hairpin: boolean
  }
}

export interface Host {
  readonly id: HostId
  readonly hostname: string
  readonly cable: Cable
  /** A node's pod bridge. */
  readonly bridge?: { readonly name: string; readonly addresses: readonly string[] }
  /** Written in this order. */
  readonly sysctls: readonly Sysctl[]
}

export interface Sysctl {
  /** Under /proc/sys. */
  readonly path: string
  readonly value: string
  /** A kernel without this part has no such file, and needs none. */
  readonly mayBeMissing?: true
}

export interface NodePlace {
  readonly name: string
  /** Address on the switch, no prefix length. */
  readonly address: string
  readonly podCIDR: string
}

export const SWITCH = { bridge: 'switch0', address: '172.18.0.1', prefix: 16 } as const
export const CLIENT_ADDRESS = '172.18.0.254'
const POD_BRIDGE = 'cni0'

/** Everything that a namespace may inherit from the machine is written, so that a lab is the same everywhere. */
const COMMON_SYSCTLS: readonly Sysctl[] = [
  { path: 'net/ipv6/conf/all/disable_ipv6', value: '1', mayBeMissing: true },
  { path: 'net/ipv6/conf/default/disable_ipv6', value: '1', mayBeMissing: true },
  { path: 'net/ipv4/conf/all/rp_filter', value: '0' },
  { path: 'net/ipv4/conf/default/rp_filter', value: '0' },
  // A node that sends a packet back out of the link it came by (DNAT to a neighbour) would redirect the sender.
  { path: 'net/ipv4/conf/all/send_redirects', value: '0' },
  { path: 'net/ipv4/conf/default/send_redirects', value: '0' },
]

/** Of the sandbox's own namespace: what nobody answers for ends at the switch, unheard. */
export const SWITCH_SYSCTLS: readonly Sysctl[] = [
  ...COMMON_SYSCTLS,
  { path: 'net/ipv4/ip_forward', value: '0' },
]

/** The first host address of an IPv4 prefix: 10.244.1.0/24 → 10.244.1.1. */
export function gatewayOf(cidr: string): string {
  const [address = ''] = cidr.split('/')
  const octets = address.split('.')
  return [...octets.slice(0, 3), String(Number(octets[3]) + 1)].join('.')
}

const prefixOf = (cidr: string): string => cidr.split('/')[1] ?? '24'

export function planClient(): Host {
  return {
    id: CLIENT,
    hostname: 'client',
    cable: {
      inner: {
        name: 'eth0',
        addresses: [`${CLIENT_ADDRESS}/${SWITCH.prefix}`],
        routes: [{ to: 'default', via: SWITCH.address, dev: 'eth0' }],
      },
      outer: {
        host: 'switch',
        name: 'sw-client',
        bridge: SWITCH.bridge,
        hairpin: false,
        addresses: [],
        routes: [],
      },
    },
    sysctls: [...COMMON_SYSCTLS, { path: 'net/ipv4/ip_forward', value: '0' }],
  }
}

/** One node with its pod bridge and the routes to every other node's pods; `index` numbers its port on the switch. */
export function planNode(
  node: NodePlace,
  all: readonly NodePlace[],
  index: number,
  attachment: Attachment,
): Host {
  const gateway = gatewayOf(node.podCIDR)
  return {
    id: nodeHost(node.name),
    hostname: node.name,
    cable: {
      inner: {
        name: 'eth0',
        addresses: [`${node.address}/${SWITCH.prefix}`],
        routes: [
          // Without a default route a packet to a Service address ends before any rule sees it.
          { to: 'default', via: SWITCH.address, dev: 'eth0' },
          ...all
            .filter((other) => other.name !== node.name)
            .map((other) => ({ to: other.podCIDR, via: other.address, dev: 'eth0' })),
        ],
      },
      outer: {
        host: 'switch',
        name: `sw-node${index}`,
        bridge: SWITCH.bridge,
        hairpin: false,
        addresses: [],
        routes: [],
      },
    },
    bridge: { name: POD_BRIDGE, addresses: [`${gateway}/${prefixOf(node.podCIDR)}`] },
    sysctls: [
      ...COMMON_SYSCTLS,
      { path: 'net/ipv4/ip_forward', value: '1' },
      // kube-proxy sets it so that NodePorts answer on 127.0.0.1.
      { path: 'net/ipv4/conf/all/route_localnet', value: '1' },
      { path: 'net/netfilter/nf_conntrack_tcp_be_liberal', value: '0', mayBeMissing: true },
      ...(attachment === 'bridge' ? [{ path: 'net/bridge/bridge-nf-call-iptables', value: '1' }] : []),
    ],
  }
}

/** `serial` is unique in the lab; it names the pod's link on the node. */
export function planPod(
  pod: { readonly namespace: string; readonly name: string; readonly ip: string },
  node: NodePlace,
  serial: number,
  attachment: Attachment,
): Host {
  const gateway = gatewayOf(node.podCIDR)
  const routed = attachment === 'routed'
  const name = `veth${serial.toString(36).padStart(4, '0')}`
  return {
    id: podHost(pod.namespace, pod.name),
    hostname: pod.name,
    cable: {
      inner: {
        name: 'eth0',
        addresses: [`${pod.ip}/${routed ? '32' : prefixOf(node.podCIDR)}`],
        routes: [
          ...(routed ? [{ to: `${gateway}/32`, dev: 'eth0', scope: 'link' } as const] : []),
          { to: 'default', via: gateway, dev: 'eth0' },
        ],
      },
      outer: routed
        ? {
            host: nodeHost(node.name),
            name,
            hairpin: false,
            addresses: [`${gateway}/32`], // what MASQUERADE takes for traffic that leaves by this link
            routes: [{ to: `${pod.ip}/32`, dev: name, scope: 'link' }],
          }
        : {
            host: nodeHost(node.name),
            name,
            bridge: POD_BRIDGE,
            hairpin: true, // a pod that calls its own Service comes back through its own port
            addresses: [],
            routes: [],
          },
    },
    sysctls: [...COMMON_SYSCTLS, { path: 'net/ipv4/ip_forward', value: '0' }],
  }
}
