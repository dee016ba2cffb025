import type { ChainName } from '../iptables/rule-set.ts'
import type { ProxiedEndpoint, ProxiedPort } from './service-ports.ts'

/** What a rule is there for. */
export type RuleRole =
  // Dispatch by destination, written for every Service port at every sync.
  | 'cluster-ip-dispatch'
  | 'external-ip-dispatch'
  | 'load-balancer-dispatch'
  | 'node-port-localhost-count'
  | 'node-port-dispatch'
  | 'reject-no-endpoints'
  | 'drop-no-local-endpoints'
  | 'drop-outside-source-ranges'
  | 'health-check-accept'
  // In a Service port's own chains.
  | 'cluster-ip-masquerade'
  | 'external-masquerade'
  | 'external-from-pod'
  | 'external-from-node-masquerade'
  | 'external-from-node'
  | 'external-policy'
  | 'source-range-accept'
  | 'source-range-own-address'
  | 'source-range-end'
  | 'endpoint-affinity'
  | 'endpoint-choice'
  // In an endpoint's own chain.
  | 'hairpin-masquerade'
  | 'dnat'
  // Of the node, whatever its Services.
  | 'node-ports-jump'
  | 'unmarked-return'
  | 'mark-clear'
  | 'masquerade'
  | 'mark-set'
  | 'localnet-drop'
  | 'invalid-drop'
  | 'marked-accept'
  | 'established-accept'

/** Where a rule comes from; the object behind it is `port.namespace`/`port.service`, and `endpoint.source.targetRef`. */
export interface RuleOrigin {
  readonly role: RuleRole
  /** Undefined for the rules that every node has. */
  readonly port: ProxiedPort | undefined
  /** Set for the roles endpoint-affinity, endpoint-choice, hairpin-masquerade and dnat. */
  readonly endpoint: ProxiedEndpoint | undefined
}

/** One generated rule with its origin. */
export interface ProxyRule extends RuleOrigin {
  readonly chain: ChainName
  /** What follows `-A CHAIN `, as kube-proxy writes it. */
  readonly text: string
}

export function nodeRule(chain: ChainName, role: RuleRole, text: string): ProxyRule {
  return { chain, text, role, port: undefined, endpoint: undefined }
}

export function portRule(chain: ChainName, role: RuleRole, port: ProxiedPort, text: string): ProxyRule {
  return { chain, text, role, port, endpoint: undefined }
}
