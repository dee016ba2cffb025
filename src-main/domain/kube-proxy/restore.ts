import type { ChainName } from '../iptables/rule-set.ts'
import { chains } from './chain-names.ts'
import { addFilterDispatch, addNatDispatch } from './dispatch-rules.ts'
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
  return [...restoreBlocks(restore)].join('')
}

/**
 * The same in blocks of whole lines, each a little more than `blockSize` characters at most: a large cluster's text is
 * tens of megabytes, and fresh memory for all of it at once costs as much time as to make it.
 */
export function* restoreBlocks(restore: Restore): Generator<string> {
  const { view, ports, rewritten, deletedChains } = restore
  const filter = openFilterTable(restore)
  const nat = openNatTable(restore)
  const block = new Block()

  block.add(`*${filter.name}`)
  block.addChains(filter.chains)
  block.addRules(filter.rules)
  for (const { plan } of ports) {
    const rules: ProxyRule[] = []
    addFilterDispatch(rules, plan)
    block.addRules(rules)
    if (block.isFull) yield block.take()
  }
  block.addRules(filter.lastRules)
  block.add('COMMIT')

  block.add(`*${nat.name}`)
  block.addChains(nat.chains)
  for (const port of ports) {
    if (rewritten.has(port)) block.addChains(listOwnChains(port.plan))
    if (block.isFull) yield block.take()
  }
  block.addChains(deletedChains)
  block.addRules(nat.rules)
  for (const port of ports) {
    const rules: ProxyRule[] = []
    addNatDispatch(rules, port.plan, view)
    if (rewritten.has(port)) addOwnRules(rules, port.plan, view, port.comments)
    block.addRules(rules)
    if (block.isFull) yield block.take()
  }
  for (const chain of deletedChains) block.add(`-X ${chain}`)
  block.addRules(nat.lastRules)
  block.add('COMMIT')
  yield block.take()
}

const blockSize = 64 * 1024

/** Lines on their way into one string. */
class Block {
  #text = ''

  get isFull(): boolean {
    return this.#text.length >= blockSize
  }

  add(line: string): void {
    this.#text += `${line}\n`
  }

  addChains(chains: readonly ChainName[]): void {
    for (const chain of chains) this.#text += `:${chain} - [0:0]\n`
  }

  addRules(rules: readonly ProxyRule[]): void {
    for (const { chain, text } of rules) this.#text += `-A ${chain} ${text}\n`
  }

  take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }
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
  addFilterDispatch(filter.rules, port.plan)
  addNatDispatch(nat.rules, port.plan, view)
  if (!rewritten.has(port)) return
  for (const chain of listOwnChains(port.plan)) nat.chains.push(chain)
  addOwnRules(nat.rules, port.plan, view, port.comments)
}

function closeNatTable({ deletedChains }: Restore, nat: RestoreTable): void {
  nat.chains.push(...deletedChains)
}
