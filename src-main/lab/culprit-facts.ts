import { readFileSync } from 'node:fs'
import type { Pod } from '../domain/kubernetes/objects.ts'
import { nodeHost } from '../domain/topology/plan-network.ts'
import type { CulpritFacts } from '../domain/trace/find-culprit.ts'
import type { Lab } from './lab.ts'
import { hostOf } from './resolve-target.ts'

const BRIDGE_NETFILTER = 'net/bridge/bridge-nf-call-iptables'

/** What the lab's kernels say now; each is read when it is asked for. */
export function culpritFacts(lab: Lab, isWhole: boolean): CulpritFacts {
  const podAt = (address: string): Pod | undefined =>
    lab
      .list({ kinds: ['pods'] })
      .groups.flatMap(({ objects }) => objects as readonly Pod[])
      .find(({ spec, status }) => !spec.hostNetwork && status.podIPs.includes(address))
  const sysctl = (node: string, path: string): number =>
    Number(lab.network.inNetwork(nodeHost(node), () => readFileSync(`/proc/sys/${path}`, 'utf8')))
  const isBridged = lab.status().attachment === 'bridge'
  return {
    isWhole,
    nodeOfPod: (address) => podAt(address)?.spec.nodeName,
    callsIptablesOnBridge: (node) => (isBridged ? sysctl(node, BRIDGE_NETFILTER) === 1 : undefined),
    isHairpin: (address) => {
      const pod = podAt(address)
      const end = pod && `${hostOf(pod)} eth0`
      return isBridged ? lab.network.links().find(({ peer }) => peer === end)?.hairpin : undefined
    },
    // The kernel takes the stricter of both.
    rpFilter: (node, link) =>
      Math.max(...['all', link].map((name) => sysctl(node, `net/ipv4/conf/${name}/rp_filter`))),
  }
}
