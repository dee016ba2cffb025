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
import type { ProxyRule } from './rule-origin.ts'

/**
 * What one sync writes, in short: rules are built from it when they are asked for, so that ten thousand Services
 * cost no more memory than what was decided about them.
 */
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
  const filterText = new LineText()
  const natText = new LineText()
  for (const port of restore.ports) {
    addPort(restore, port, filter, nat)
    if (nat.rules.length < rulesAtOnce) continue
    filterText.addRules(filter.rules)
    natText.addRules(nat.rules)
    filter.rules.length = 0
    nat.rules.length = 0
  }
  filterText.addRules(filter.rules)
  natText.addRules(nat.rules)
  closeNatTable(restore, nat)
  return formatTable(filter, filterText) + formatTable(nat, natText)
}

/** Rules live only until they are text, which keeps them out of the garbage collector's long-lived half. */
const rulesAtOnce = 2000

class LineText {
  readonly #pieces: string[] = []

  addRules(rules: readonly ProxyRule[]): void {
    if (rules.length === 0) return
    this.#pieces.push(rules.map((rule) => `-A ${rule.chain} ${rule.text}\n`).join(''))
  }

  toString(): string {
    return this.#pieces.join('')
  }
}

function formatTable(table: RestoreTable, rules: LineText): string {
  const last = new LineText()
  last.addRules(table.lastRules)
  const made = table.chains.map((chain) => `:${chain} - [0:0]\n`).join('')
  const deleted = table.deletedChains.map((chain) => `-X ${chain}\n`).join('')
  return `*${table.name}\n${made}${rules}${deleted}${last}COMMIT\n`
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
