import type { ChainName } from '../iptables/rule-set.ts'
import { chains } from './chain-names.ts'
import { matchAddress } from './dispatch-rules.ts'
import { contains } from './ip-address.ts'
import type { NodeView } from './node-view.ts'
import type { PortPlan } from './port-plan.ts'
import { formatProbability } from './probability.ts'
import { type ProxyRule, portRule } from './rule-origin.ts'
import type { ProxiedEndpoint, ProxiedPort } from './service-ports.ts'

/** The chains of one Service port's own, in the order of their chain lines. */
export function listOwnChains({ port, endpoints, usesExternal, usesFirewall }: PortPlan): ChainName[] {
  const names: ChainName[] = []
  if (usesExternal) names.push(port.chains.external)
  if (usesFirewall) names.push(port.chains.firewall)
  if (endpoints.cluster.length > 0) names.push(port.chains.cluster)
  if (endpoints.local.length > 0) names.push(port.chains.local)
  for (const endpoint of endpoints.reachable) names.push(endpoint.chain)
  return names
}

/** Adds the rules in those chains. In a large cluster `comments` is false: the rules per endpoint go without. */
export function addOwnRules(rules: ProxyRule[], plan: PortPlan, node: NodeView, comments: boolean): void {
  const { port, endpoints, internalChain, usesExternal, usesFirewall } = plan
  if (internalChain) addClusterIpMasquerade(rules, port, internalChain, node)
  if (usesExternal) addExternalRules(rules, plan, node)
  if (usesFirewall) addFirewallRules(rules, port, node)
  addChoiceRules(rules, port, port.chains.cluster, endpoints.cluster, comments)
  addChoiceRules(rules, port, port.chains.local, endpoints.local, comments)
  for (const endpoint of endpoints.reachable) addEndpointRules(rules, port, endpoint, comments)
}

/** Traffic to a cluster IP that is not from this node's pods may be answered past the node, so it must come back. */
function addClusterIpMasquerade(
  rules: ProxyRule[],
  port: ProxiedPort,
  chain: ChainName,
  { masqueradeAll, localTraffic }: NodeView,
): void {
  if (!masqueradeAll && localTraffic === undefined) return
  // -A KUBE-SVC-… -m comment --comment "default/web:http cluster IP" -m tcp -p tcp -d 10.96.0.1 --dport 80 ! -s 10.244.0.0/16 -j KUBE-MARK-MASQ
  const match = matchAddress(port, 'cluster IP', port.clusterIP)
  const notLocal = masqueradeAll ? '' : ` ! ${localTraffic}`
  rules.push(portRule(chain, 'cluster-ip-masquerade', port, `${match}${notLocal} -j ${chains.markMasq}`))
}

function addExternalRules(rules: ProxyRule[], { port, externalChain }: PortPlan, node: NodeView): void {
  const chain = port.chains.external
  const comment = (start: string) => `-m comment --comment "${start} for ${port.name} external destinations"`
  if (!port.externalPolicyLocal) {
    // -A KUBE-EXT-… -m comment --comment "masquerade traffic for default/web:http external destinations" -j KUBE-MARK-MASQ
    rules.push(
      portRule(chain, 'external-masquerade', port, `${comment('masquerade traffic')} -j ${chains.markMasq}`),
    )
  } else {
    // Pods and the node itself are spared the policy, as if they had gone out and come in on any node.
    // -A KUBE-EXT-… -m comment --comment "pod traffic for default/web:http external destinations" -s 10.244.0.0/16 -j KUBE-SVC-…
    if (node.localTraffic !== undefined)
      rules.push(
        portRule(
          chain,
          'external-from-pod',
          port,
          `${comment('pod traffic')} ${node.localTraffic} -j ${port.chains.cluster}`,
        ),
      )
    rules.push(
      // -A KUBE-EXT-… -m comment --comment "masquerade LOCAL traffic for default/web:http external destinations" -m addrtype --src-type LOCAL -j KUBE-MARK-MASQ
      portRule(
        chain,
        'external-from-node-masquerade',
        port,
        `${comment('masquerade LOCAL traffic')} -m addrtype --src-type LOCAL -j ${chains.markMasq}`,
      ),
      // -A KUBE-EXT-… -m comment --comment "route LOCAL traffic for default/web:http external destinations" -m addrtype --src-type LOCAL -j KUBE-SVC-…
      portRule(
        chain,
        'external-from-node',
        port,
        `${comment('route LOCAL traffic')} -m addrtype --src-type LOCAL -j ${port.chains.cluster}`,
      ),
    )
  }
  // -A KUBE-EXT-… -j KUBE-SVC-… (KUBE-SVL-…)
  if (externalChain) rules.push(portRule(chain, 'external-policy', port, `-j ${externalChain}`))
}

function addFirewallRules(rules: ProxyRule[], port: ProxiedPort, { nodeIP }: NodeView): void {
  const chain = port.chains.firewall
  const allow = (source: string) =>
    `-m comment --comment "${port.name} loadbalancer IP" -s ${source} -j ${port.chains.external}`
  // -A KUBE-FW-… -m comment --comment "default/web:http loadbalancer IP" -s 198.51.100.0/24 -j KUBE-EXT-…
  for (const range of port.sourceRanges)
    rules.push(portRule(chain, 'source-range-accept', port, allow(range.text)))
  // The node may carry the balancer's address itself; its own packets to it then have it as source, too.
  // -A KUBE-FW-… -m comment --comment "default/web:http loadbalancer IP" -s 203.0.113.7 -j KUBE-EXT-…
  if (nodeIP && port.sourceRanges.some((range) => contains(range, nodeIP)))
    for (const ip of port.loadBalancerIPs)
      rules.push(portRule(chain, 'source-range-own-address', port, allow(ip)))
  // -A KUBE-FW-… -m comment --comment "other traffic to default/web:http will be dropped by KUBE-PROXY-FIREWALL"
  rules.push(
    portRule(
      chain,
      'source-range-end',
      port,
      `-m comment --comment "other traffic to ${port.name} will be dropped by ${chains.proxyFirewall}"`,
    ),
  )
}

function addChoiceRules(
  rules: ProxyRule[],
  port: ProxiedPort,
  chain: ChainName,
  endpoints: readonly ProxiedEndpoint[],
  comments: boolean,
): void {
  const comment = comments ? `-m comment --comment "${port.name} -> ` : ''
  // -A KUBE-SVC-… -m comment --comment "default/web:http -> 10.244.1.7:8080" -m recent --name KUBE-SEP-… --rcheck --seconds 10800 --reap -j KUBE-SEP-…
  if (port.affinitySeconds !== 0)
    for (const endpoint of endpoints)
      rules.push({
        chain,
        text: `${comments ? `${comment}${endpoint.text}" ` : ''}-m recent --name ${endpoint.chain} --rcheck --seconds ${port.affinitySeconds} --reap -j ${endpoint.chain}`,
        role: 'endpoint-affinity',
        port,
        endpoint,
      })
  // -A KUBE-SVC-… -m comment --comment "default/web:http -> 10.244.1.7:8080" -m statistic --mode random --probability 0.3333333333 -j KUBE-SEP-…
  for (let i = 0; i < endpoints.length; i++) {
    const endpoint = endpoints[i] as ProxiedEndpoint
    const rest = endpoints.length - i
    const chance = rest > 1 ? `-m statistic --mode random --probability ${formatProbability(rest)} ` : ''
    rules.push({
      chain,
      text: `${comments ? `${comment}${endpoint.text}" ` : ''}${chance}-j ${endpoint.chain}`,
      role: 'endpoint-choice',
      port,
      endpoint,
    })
  }
}

function addEndpointRules(
  rules: ProxyRule[],
  port: ProxiedPort,
  endpoint: ProxiedEndpoint,
  comments: boolean,
): void {
  const { chain } = endpoint
  const comment = comments ? `-m comment --comment ${port.name} ` : ''
  // A pod that reaches itself through its Service would get an answer from its own address and ignore it.
  // -A KUBE-SEP-… -m comment --comment default/web:http -s 10.244.1.7 -j KUBE-MARK-MASQ
  rules.push({
    chain,
    text: `${comment}-s ${endpoint.ip} -j ${chains.markMasq}`,
    role: 'hairpin-masquerade',
    port,
    endpoint,
  })
  // -A KUBE-SEP-… -m comment --comment default/web:http -m recent --name KUBE-SEP-… --set -m tcp -p tcp -j DNAT --to-destination 10.244.1.7:8080
  const remember = port.affinitySeconds === 0 ? '' : `-m recent --name ${chain} --set `
  rules.push({
    chain,
    text: `${comment}${remember}-m ${port.match} -p ${port.match} -j DNAT --to-destination ${endpoint.text}`,
    role: 'dnat',
    port,
    endpoint,
  })
}
