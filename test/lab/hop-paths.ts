import type { Journey } from '../../src-main/domain/trace/journey.ts'

/** A journey's hops by node, hook and table: `worker1 PREROUTING nat: PREROUTING 1, KUBE-SERVICES 9, …`. */
export function pathOf({ hops }: Journey): string[] {
  const lines: string[] = []
  let place = ''
  for (const { node, hook, table, chain, rule, verdict, isChainEnd } of hops) {
    const here = `${node} ${hook} ${table}:`
    const hop =
      table === 'conntrack'
        ? verdict
        : isChainEnd
          ? `${chain} end`
          : `${chain} ${rule ?? 'policy'}${verdict === 'JUMP' ? '' : ` ${verdict}`}`
    if (here === place) lines[lines.length - 1] += `, ${hop}`
    else lines.push(`${here} ${hop}`)
    place = here
  }
  return lines
}

// What kube-proxy's design says of packets that no Service rule matches, or that have passed DNAT on another node.
export const natMiss = (node: string) =>
  `${node} PREROUTING nat: PREROUTING 1, KUBE-SERVICES end, PREROUTING policy ACCEPT`
export const forwardNew = (node: string) =>
  `${node} FORWARD filter: FORWARD 1, KUBE-PROXY-FIREWALL end, FORWARD 2, KUBE-FORWARD end, ` +
  `FORWARD 3, KUBE-SERVICES end, FORWARD 4, KUBE-EXTERNAL-SERVICES end, FORWARD policy ACCEPT`
export const forwardMarked = (node: string) =>
  `${node} FORWARD filter: FORWARD 1, KUBE-PROXY-FIREWALL end, FORWARD 2, KUBE-FORWARD 2 ACCEPT`
export const forwardKnown = (node: string) => `${node} FORWARD filter: FORWARD 2, KUBE-FORWARD 3 ACCEPT`
export const noMasquerade = (node: string) =>
  `${node} POSTROUTING nat: POSTROUTING 1, KUBE-POSTROUTING 1 RETURN, POSTROUTING policy ACCEPT`
export const masquerade = (node: string) =>
  `${node} POSTROUTING nat: POSTROUTING 1, KUBE-POSTROUTING 2 MARK, KUBE-POSTROUTING 3 MASQUERADE`
export const outputNew = (node: string) =>
  `${node} OUTPUT filter: OUTPUT 1, KUBE-FIREWALL end, OUTPUT 2, KUBE-PROXY-FIREWALL end, ` +
  `OUTPUT 3, KUBE-SERVICES end, OUTPUT policy ACCEPT`
export const passesOn = (node: string) => [natMiss(node), forwardNew(node), noMasquerade(node)]
