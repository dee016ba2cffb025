import type { ChainName } from '../iptables/rule-set.ts'
import { chains } from './chain-names.ts'
import { addDispatchRules } from './dispatch-rules.ts'
import {
  buildForwardRules,
  buildLocalnetRules,
  buildMasqueradeRules,
  buildNodePortsJumps,
} from './node-rules.ts'
import type { NodeView } from './node-view.ts'
import { addOwnRules, listOwnChains } from './own-chain-rules.ts'
import type { PortPlan } from './port-plan.ts'
import { formatChains, formatRules, type PortText } from './port-text.ts'
import type { ProxyRule } from './rule-origin.ts'

/** What one sync writes, in short: its rules and its text are built when they are asked for. */
export interface Restore {
  readonly view: NodeView
  /** Every Service port in the order of the rules: the chains that all share are written whole each time. */
  readonly ports: readonly RestorePort[]
  /** Those whose own chains are written, too. */
  readonly rewritten: ReadonlySet<RestorePort>
  /** Chains of the nat table to delete, sorted. */
  readonly deletedChains: readonly ChainName[]
}

export interface RestorePort {
  readonly plan: PortPlan
  /** False in a large cluster: the rules per endpoint go without comments. */
  readonly comments: boolean
  readonly text: PortText
}

/** One table of a restore, spelled out in the order of the text: chains, rules, deletions, last rules. */
export interface RestoreTable {
  readonly name: 'filter' | 'nat'
  /** Made where missing, else emptied; every other chain stays as it is. */
  readonly chains: ChainName[]
  readonly rules: ProxyRule[]
  /** Also among `chains`: a chain must be empty before it can go. */
  readonly deletedChains: readonly ChainName[]
  readonly lastRules: readonly ProxyRule[]
}

/** Both tables with every rule and its origin. */
export function spellRestore(restore: Restore): {
  readonly filter: RestoreTable
  readonly nat: RestoreTable
} {
  const filter = openFilterTable(restore)
  const nat = openNatTable(restore)
  for (const port of restore.ports) addPort(restore, port, filter, nat)
  closeNatTable(restore, nat)
  return { filter, nat }
}

/** The text that kube-proxy gives to `iptables-restore --noflush --counters`, byte for byte. */
export function formatRestore(restore: Restore): string {
  const filter = openFilterTable(restore)
  const nat = openNatTable(restore)
  const filterRules = [formatRules(filter.rules)]
  const natChains = [formatChains(nat.chains)]
  const natRules = [formatRules(nat.rules)]
  for (const port of restore.ports) {
    filterRules.push(port.text.dispatch.filter)
    natRules.push(port.text.dispatch.nat)
    if (!restore.rewritten.has(port)) continue
    natChains.push(port.text.own.chains)
    natRules.push(port.text.own.rules)
  }
  natChains.push(formatChains(nat.deletedChains))
  // One join of all: a large text is written once, not once a table and once more for their sum.
  return [
    ...formatTable(filter, [formatChains(filter.chains)], filterRules),
    ...formatTable(nat, natChains, natRules),
  ].join('')
}

function formatTable(
  { name, deletedChains, lastRules }: RestoreTable,
  chains: readonly string[],
  rules: readonly string[],
): string[] {
  const deleted = deletedChains.map((chain) => `-X ${chain}\n`)
  return [`*${name}\n`, ...chains, ...rules, ...deleted, formatRules(lastRules), 'COMMIT\n']
}

function openFilterTable({ view }: Restore): RestoreTable {
  const shared = [
    chains.services,
    chains.externalServices,
    chains.forward,
    chains.nodePorts,
    chains.proxyFirewall,
  ]
  return {
    name: 'filter',
    chains: view.localhostNodePorts ? [...shared, chains.firewall] : shared,
    rules: buildLocalnetRules(view),
    deletedChains: [],
    lastRules: buildForwardRules(view),
  }
}

function openNatTable({ view, deletedChains }: Restore): RestoreTable {
  return {
    name: 'nat',
    chains: [chains.services, chains.nodePorts, chains.postrouting, chains.markMasq],
    rules: buildMasqueradeRules(view),
    deletedChains,
    lastRules: buildNodePortsJumps(view),
  }
}

function addPort(
  { view, rewritten }: Restore,
  port: RestorePort,
  filter: RestoreTable,
  nat: RestoreTable,
): void {
  addDispatchRules(filter.rules, nat.rules, port.plan, view)
  if (!rewritten.has(port)) return
  for (const chain of listOwnChains(port.plan)) nat.chains.push(chain)
  addOwnRules(nat.rules, port.plan, view, port.comments)
}

function closeNatTable({ deletedChains }: Restore, nat: RestoreTable): void {
  nat.chains.push(...deletedChains)
}
