import type { LabStatus, TargetId } from '../../src-main/contract/lab-contract.ts'
import type { Service } from '../../src-main/domain/kubernetes/objects.ts'
import { waysIn } from '../frame/service-words.ts'
import { targetKind, targetName } from './target-words.ts'

const AT_MOST = 4

/**
 * What a click on an address in a terminal types: the lab's addresses lead nowhere in a browser outside it. The
 * address is any program's output, so that the shell must take it as one plain word.
 */
export const requestLine = (address: string): string =>
  /^[\w:/.[\]-]+$/.test(address) ? `curl ${address}` : `curl '${address.replaceAll("'", '%27')}'`

/** Commands worth trying in a target, made from what the lab has. */
export function suggestCommands(
  target: TargetId,
  services: readonly Service[],
  nodes: LabStatus['nodes'],
  shownNode: string,
): readonly string[] {
  const kind = targetKind(target)
  const node = kind === 'node' ? targetName(target) : shownNode
  const ways = services.flatMap((service) => waysIn(service, nodes, node))
  const commands = (from: 'pod' | 'client') =>
    ways.filter((way) => way.from === from).map(({ command }) => command)
  switch (kind) {
    case 'client': {
      const outside = commands('client')
      const address = nodes.find(({ name }) => name === node)?.address ?? nodes[0]?.address
      return [
        ...outside.slice(0, AT_MOST - 1),
        ...(outside.length === 0 && address ? [`ping -c 3 ${address}`] : []),
        'ip route',
      ]
    }
    case 'pod':
      return [...commands('pod').slice(0, AT_MOST - 1), 'ip route']
    case 'node':
      return [
        'iptables -t nat -vnL KUBE-SERVICES',
        'conntrack -L',
        'tcpdump -ni eth0 -c 5',
        ...commands('pod').slice(0, 1),
      ]
    default:
      return kind satisfies never
  }
}
