import type { ChainName } from '../iptables/rule-set.ts'
import { chains } from './chain-names.ts'
import type { NodeView } from './node-view.ts'
import type { PortPlan } from './port-plan.ts'
import { type ProxyRule, portRule } from './rule-origin.ts'
import type { ProxiedPort } from './service-ports.ts'

/** Adds how packets find a Service port: rules in the nat table's chains that all Services share. */
export function addNatDispatch(rules: ProxyRule[], plan: PortPlan, node: NodeView): void {
  const { port, endpoints, internalChain, usesFirewall } = plan
  // -A KUBE-SERVICES -m comment --comment "default/web:http cluster IP" -m tcp -p tcp -d 10.96.0.1 --dport 80 -j KUBE-SVC-…
  if (internalChain)
    rules.push(
      portRule(
        chains.services,
        'cluster-ip-dispatch',
        port,
        `${matchAddress(port, 'cluster IP', port.clusterIP)} -j ${internalChain}`,
      ),
    )
  if (!endpoints.anywhere) return
  // -A KUBE-SERVICES -m comment --comment "default/web:http external IP" -m tcp -p tcp -d 198.51.100.7 --dport 80 -j KUBE-EXT-…
  for (const ip of port.externalIPs)
    rules.push(
      portRule(
        chains.services,
        'external-ip-dispatch',
        port,
        `${matchAddress(port, 'external IP', ip)} -j ${port.chains.external}`,
      ),
    )
  // -A KUBE-SERVICES -m comment --comment "default/web:http loadbalancer IP" -m tcp -p tcp -d 203.0.113.7 --dport 80 -j KUBE-EXT-… (KUBE-FW-…)
  for (const ip of port.loadBalancerIPs)
    rules.push(
      portRule(
        chains.services,
        'load-balancer-dispatch',
        port,
        `${matchAddress(port, 'loadbalancer IP', ip)} -j ${usesFirewall ? port.chains.firewall : port.chains.external}`,
      ),
    )
  if (port.nodePort !== 0) addNodePortDispatch(rules, port, node)
}

function addNodePortDispatch(
  rules: ProxyRule[],
  port: ProxiedPort,
  { localhostNodePorts, nfacct }: NodeView,
): void {
  const match = `-m comment --comment ${port.name} -m ${port.match} -p ${port.match}`
  // -A KUBE-NODEPORTS -m comment --comment default/web:http -m tcp -p tcp -d 127.0.0.0/8 --dport 30080 -m nfacct --nfacct-name localhost_nps_accepted_pkts -j KUBE-EXT-…
  if (localhostNodePorts && nfacct)
    rules.push(
      portRule(
        chains.nodePorts,
        'node-port-localhost-count',
        port,
        `${match} -d 127.0.0.0/8 --dport ${port.nodePort} -m nfacct --nfacct-name localhost_nps_accepted_pkts -j ${port.chains.external}`,
      ),
    )
  // -A KUBE-NODEPORTS -m comment --comment default/web:http -m tcp -p tcp --dport 30080 -j KUBE-EXT-…
  rules.push(
    portRule(
      chains.nodePorts,
      'node-port-dispatch',
      port,
      `${match} --dport ${port.nodePort} -j ${port.chains.external}`,
    ),
  )
}

/** Adds what becomes of packets that no endpoint takes, or that need leave: rules in the filter table's shared chains. */
export function addFilterDispatch(rules: ProxyRule[], plan: PortPlan): void {
  const { port, internalChain, externalChain, usesFirewall } = plan
  if (!internalChain) rules.push(refusal(plan, chains.services, matchDestination(port, port.clusterIP)))
  if (!externalChain)
    for (const ip of port.externalIPs)
      rules.push(refusal(plan, chains.externalServices, matchDestination(port, ip)))
  // What KUBE-FW- let through has another destination by now (DNAT); what still has this one was not let through.
  // -A KUBE-PROXY-FIREWALL -m comment --comment "default/web:http traffic not accepted by KUBE-FW-…" -m tcp -p tcp -d 203.0.113.7 --dport 80 -j DROP
  if (usesFirewall)
    for (const ip of port.loadBalancerIPs)
      rules.push(
        portRule(
          chains.proxyFirewall,
          'drop-outside-source-ranges',
          port,
          `${matchAddress(port, `traffic not accepted by ${port.chains.firewall}`, ip)} -j DROP`,
        ),
      )
  if (!externalChain) addExternalRefusals(rules, plan)
  // The balancer outside asks this port whether the node has endpoints: the answer must get through either way.
  // -A KUBE-NODEPORTS -m comment --comment "default/web:http health check node port" -m tcp -p tcp --dport 32000 -j ACCEPT
  if (port.healthCheckNodePort !== 0)
    rules.push(
      portRule(
        chains.nodePorts,
        'health-check-accept',
        port,
        `-m comment --comment "${port.name} health check node port" -m tcp -p tcp --dport ${port.healthCheckNodePort} -j ACCEPT`,
      ),
    )
}

function addExternalRefusals(rules: ProxyRule[], plan: PortPlan): void {
  const { port } = plan
  for (const ip of port.loadBalancerIPs)
    rules.push(refusal(plan, chains.externalServices, matchDestination(port, ip)))
  if (port.nodePort !== 0)
    rules.push(
      refusal(
        plan,
        chains.externalServices,
        `-m addrtype --dst-type LOCAL -m ${port.match} -p ${port.match} --dport ${port.nodePort}`,
      ),
    )
}

/** `-m comment --comment "default/web:http cluster IP" -m tcp -p tcp -d 10.96.0.1 --dport 80` */
export function matchAddress(port: ProxiedPort, comment: string, ip: string): string {
  return `-m comment --comment "${port.name} ${comment}" ${matchDestination(port, ip)}`
}

function matchDestination(port: ProxiedPort, ip: string): string {
  return `-m ${port.match} -p ${port.match} -d ${ip} --dport ${port.port}`
}

// -A KUBE-SERVICES -m comment --comment "default/web:http has no endpoints" -m tcp -p tcp -d 10.96.0.1 --dport 80 -j REJECT
// -A KUBE-EXTERNAL-SERVICES -m comment --comment "default/web:http has no local endpoints" -m addrtype --dst-type LOCAL -m tcp -p tcp --dport 30080 -j DROP
function refusal({ port, endpoints }: PortPlan, chain: ChainName, match: string): ProxyRule {
  return endpoints.anywhere
    ? portRule(
        chain,
        'drop-no-local-endpoints',
        port,
        `-m comment --comment "${port.name} has no local endpoints" ${match} -j DROP`,
      )
    : portRule(
        chain,
        'reject-no-endpoints',
        port,
        `-m comment --comment "${port.name} has no endpoints" ${match} -j REJECT`,
      )
}
