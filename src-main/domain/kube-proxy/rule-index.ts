import type { ChainName } from '../iptables/rule-set.ts'
import { listOwnChains } from './own-chain-rules.ts'
import { type Restore, spellRestore } from './restore.ts'
import type { ProxyRule } from './rule-origin.ts'
import type { ProxiedEndpoint, ProxiedPort } from './service-ports.ts'
import type { ProxierState } from './sync.ts'

/** Whose a chain of the nat table is. */
export interface ChainOwner {
  readonly kind: 'cluster' | 'local' | 'external' | 'firewall' | 'endpoint'
  readonly port: ProxiedPort
  /** Set for the kind endpoint. */
  readonly endpoint: ProxiedEndpoint | undefined
}

/** The chains that the Services have on this node; the chains that all Services share are not among them. */
export function indexOwners(state: ProxierState): Map<ChainName, ChainOwner> {
  const owners = new Map<ChainName, ChainOwner>()
  for (const { plan } of state.ports) {
    const { port, endpoints } = plan
    const used = new Set(listOwnChains(plan))
    for (const kind of ['cluster', 'local', 'external', 'firewall'] as const)
      if (used.has(port.chains[kind])) owners.set(port.chains[kind], { kind, port, endpoint: undefined })
    for (const endpoint of endpoints.reachable)
      owners.set(endpoint.chain, { kind: 'endpoint', port, endpoint })
  }
  return owners
}

/** Every rule that the syncs so far have left, chain by chain in order, each with its origin. */
export function indexRules(state: ProxierState): Record<'filter' | 'nat', Map<ChainName, ProxyRule[]>> {
  const everything: Restore = {
    view: state.view,
    ports: state.ports,
    rewritten: new Set(state.ports),
    deletedChains: [],
  }
  const { filter, nat } = spellRestore(everything)
  return {
    filter: groupByChain([...filter.rules, ...filter.lastRules]),
    nat: groupByChain([...nat.rules, ...nat.lastRules]),
  }
}

export function groupByChain(rules: readonly ProxyRule[]): Map<ChainName, ProxyRule[]> {
  const groups = new Map<ChainName, ProxyRule[]>()
  for (const rule of rules) {
    const group = groups.get(rule.chain)
    if (group) group.push(rule)
    else groups.set(rule.chain, [rule])
  }
  return groups
}
