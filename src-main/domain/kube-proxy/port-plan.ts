import type { ChainName } from '../iptables/rule-set.ts'
import { type EndpointChoice, isExternallyReachable } from './select-endpoints.ts'
import type { ProxiedPort } from './service-ports.ts'

/** One Service port with what was decided about it: which chains it gets and where its traffic goes. */
export interface PortPlan {
  readonly port: ProxiedPort
  readonly endpoints: EndpointChoice
  /** Endpoints for traffic to the cluster IP; undefined when this node has none for it. */
  readonly internalChain: ChainName | undefined
  /** Endpoints for traffic from outside; undefined when this node has none for it. */
  readonly externalChain: ChainName | undefined
  /** KUBE-EXT- is needed even without external endpoints: the node's own pods may go to any endpoint. */
  readonly usesExternal: boolean
  readonly usesFirewall: boolean
}

export function planPort(port: ProxiedPort, endpoints: EndpointChoice): PortPlan {
  const { anywhere } = endpoints
  return {
    port,
    endpoints,
    internalChain: policyChain(port.internalPolicyLocal),
    externalChain: policyChain(port.externalPolicyLocal),
    usesExternal: anywhere && isExternallyReachable(port),
    usesFirewall: anywhere && port.loadBalancerIPs.length > 0 && port.sourceRanges.length > 0,
  }

  function policyChain(localOnly: boolean): ChainName | undefined {
    if (localOnly) return endpoints.local.length > 0 ? port.chains.local : undefined
    return anywhere ? port.chains.cluster : undefined
  }
}
