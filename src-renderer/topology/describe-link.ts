import type { LinkInfo } from '../../src-main/contract/lab-contract.ts'

/** What a link is and does, for somebody who sees one for the first time. */
export function describeLink(link: LinkInfo, peer: LinkInfo | undefined, ports: number): string {
  if (link.kind === 'bridge' && link.host === 'switch')
    return `A bridge: it passes frames between its ${countPorts(ports)} by MAC address, as a switch does. It joins the nodes and the client.`
  if (link.kind === 'bridge')
    return ports === 0
      ? 'A bridge without ports: here each pod hangs on a link of its own, and the node routes between them.'
      : `A bridge: it passes frames between its ${countPorts(ports)}, the node’s ends of the pods’ cables. Its address is the pods’ default gateway: packets to other places go there, and the node routes them.`
  if (link.kind !== 'veth' || !peer) return 'A link that the lab did not lay.'
  const cable =
    'A veth pair: a cable with a network interface at each end. What goes in at one end comes out at the other.'
  const nodeEnd = [link, peer].find(({ host }) => host.startsWith('node/'))
  const joinsPod = [link, peer].some(({ host }) => host.startsWith('pod/'))
  return joinsPod && nodeEnd?.bridge === undefined
    ? `${cable} The node has a route for the one pod behind it.`
    : cable
}

const countPorts = (ports: number): string => (ports === 1 ? 'one port' : `${ports} ports`)
