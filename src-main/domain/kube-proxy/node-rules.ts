import { chains } from './chain-names.ts'
import type { NodeView } from './node-view.ts'
import { nodeRule, type ProxyRule } from './rule-origin.ts'

/** First in nat: how marked packets are masqueraded on their way out. */
export function buildMasqueradeRules({ masqueradeMark: mark, randomFully }: NodeView): ProxyRule[] {
  return [
    // -A KUBE-POSTROUTING -m mark ! --mark 0x00004000/0x00004000 -j RETURN
    nodeRule(chains.postrouting, 'unmarked-return', `-m mark ! --mark ${mark}/${mark} -j RETURN`),
    // The mark is cleared so that a packet that passes the stack again (a tunnel) is not masqueraded again.
    // -A KUBE-POSTROUTING -j MARK --xor-mark 0x00004000
    nodeRule(chains.postrouting, 'mark-clear', `-j MARK --xor-mark ${mark}`),
    // -A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully
    nodeRule(
      chains.postrouting,
      'masquerade',
      `-m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE${randomFully ? ' --random-fully' : ''}`,
    ),
    // -A KUBE-MARK-MASQ -j MARK --or-mark 0x00004000
    nodeRule(chains.markMasq, 'mark-set', `-j MARK --or-mark ${mark}`),
  ]
}

/** First in filter: route_localnet=1 lets neighbours reach what listens on 127.0.0.1 only; this keeps them out. */
export function buildLocalnetRules({ localhostNodePorts }: NodeView): ProxyRule[] {
  if (!localhostNodePorts) return []
  return [
    // -A KUBE-FIREWALL -m comment --comment "block incoming localnet connections" -d 127.0.0.0/8 ! -s 127.0.0.0/8 -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP
    nodeRule(
      chains.firewall,
      'localnet-drop',
      '-m comment --comment "block incoming localnet connections" -d 127.0.0.0/8 ! -s 127.0.0.0/8 -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP',
    ),
  ]
}

/** Last in filter. */
export function buildForwardRules({ masqueradeMark: mark, dropInvalid, nfacct }: NodeView): ProxyRule[] {
  const rules: ProxyRule[] = []
  // A late packet that conntrack calls INVALID would leave un-NATed, and the peer would reset the connection.
  // -A KUBE-FORWARD -m conntrack --ctstate INVALID -m nfacct --nfacct-name ct_state_invalid_dropped_pkts -j DROP
  if (dropInvalid) {
    const count = nfacct ? ' -m nfacct --nfacct-name ct_state_invalid_dropped_pkts' : ''
    rules.push(nodeRule(chains.forward, 'invalid-drop', `-m conntrack --ctstate INVALID${count} -j DROP`))
  }
  rules.push(
    // -A KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark 0x00004000/0x00004000 -j ACCEPT
    nodeRule(
      chains.forward,
      'marked-accept',
      `-m comment --comment "kubernetes forwarding rules" -m mark --mark ${mark}/${mark} -j ACCEPT`,
    ),
    // -A KUBE-FORWARD -m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
    nodeRule(
      chains.forward,
      'established-accept',
      '-m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
    ),
  )
  return rules
}

/** Last in nat. */
export function buildNodePortsJumps({ nodePortMatches }: NodeView): ProxyRule[] {
  // -A KUBE-SERVICES -m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain" -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS
  return nodePortMatches.map((match) =>
    nodeRule(
      chains.services,
      'node-ports-jump',
      `-m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain" ${match} -j ${chains.nodePorts}`,
    ),
  )
}
