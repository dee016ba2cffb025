import type { ChainOrigin } from '../../src-main/contract/lab-contract.ts'
import { isBuiltinTarget } from '../../src-main/domain/iptables/check-jumps.ts'
import { sharedChainTitle } from '../../src-main/domain/iptables/explain-chain-titles.ts'
import { matchLabel, targetLabel } from '../../src-main/domain/iptables/explain-label.ts'
import { targetOf } from '../../src-main/domain/iptables/rule-spec.ts'
import {
  type ChainIndex,
  DISPATCH_CHAINS,
  type IndexedRule,
  isServiceChain,
  portNameOf,
  type RuleState,
  type ServiceEntry,
  serviceOf,
} from './chain-index.ts'

export type CardRole = 'shared' | 'firewall' | 'external' | 'service' | 'endpoint' | 'other'

/** A rule in its chain's card; its edge, if it has one, begins here. */
export interface GraphRow {
  readonly id: string
  readonly table: string
  readonly chain: string
  /** From 1; where it belongs for a missing rule. */
  readonly number: number
  /** After `-A CHAIN`. */
  readonly text: string
  readonly state: RuleState
  /** `33 %`, `tcp dport 80`; empty for a rule that takes every packet. */
  readonly match: string
  /** `DNAT 10.244.1.7:80`, `KUBE-MARK-MASQ`; empty for a rule that only counts. */
  readonly verdict: string
}

/** A chain, with those of its rules that concern what is shown. */
export interface GraphCard {
  readonly kind: 'chain'
  readonly id: string
  readonly table: string
  readonly chain: string
  readonly role: CardRole
  /** What the chain means: `http-svc cluster IP`. */
  readonly title: string
  /** Built-in chains that lead here. */
  readonly entries: readonly string[]
  readonly rows: readonly GraphRow[]
  /** Rules of the chain that are not drawn. */
  readonly moreRows: number
  /** The rules left out are endpoints of this chain that can be shown. */
  readonly canExpand: boolean
  readonly state: RuleState
}

/** Where DNAT sends packets. */
export interface GraphTarget {
  readonly kind: 'target'
  readonly id: string
  /** `10.244.1.7:80` */
  readonly address: string
}

export type GraphNode = GraphCard | GraphTarget

/** Stands for one rule: the row's. */
export interface GraphEdge {
  readonly id: string
  readonly from: string
  /** From 0 in the card's rows. */
  readonly row: number
  readonly to: string
  readonly state: RuleState
}

export interface ChainGraph {
  readonly cards: readonly GraphCard[]
  readonly targets: readonly GraphTarget[]
  readonly edges: readonly GraphEdge[]
  readonly shownServices: number
  /** That the filter lets through. */
  readonly foundServices: number
  readonly allServices: number
}

export interface GraphWish {
  /** Any part of a Service's name, an address, a port or a chain's name; blank for all. */
  readonly text: string
  /** `namespace/name`: only this Service. */
  readonly service?: string | undefined
  /** Cards whose endpoints are all wanted. */
  readonly expanded: ReadonlySet<string>
}

export const MOST_SERVICES = 12
export const MOST_ENDPOINTS = 6
/** Even of an expanded Service. */
export const MOST_ENDPOINTS_EXPANDED = 60
/** Rules of shared chains that belong to no Service: a person's own, mostly. */
const MOST_LOOSE_ROWS = 30

/** Chains that a row names and no edge leads to: they would tie everything to everything. */
const NAMED_ONLY: ReadonlySet<string> = new Set(['KUBE-MARK-MASQ', 'KUBE-MARK-DROP', 'KUBE-POSTROUTING'])

/** Always there, whatever is filtered: every masqueraded packet meets them. */
const CONSTANT_CARDS = ['nat KUBE-MARK-MASQ', 'nat KUBE-POSTROUTING'] as const

/** What is drawn of a node's Service chains. Depends on structure only, never on counters. */
export function buildChainGraph(index: ChainIndex, wish: GraphWish): ChainGraph {
  const text = wish.text.trim().toLowerCase()
  const found =
    wish.service === undefined && text === ''
      ? index.services
      : index.services.filter(
          (service) =>
            (wish.service === undefined || service.key === wish.service) &&
            (text === '' || index.mentions(service, text)),
        )
  const shown = found.slice(0, MOST_SERVICES)
  const builder = new GraphBuilder(index, wish.expanded)
  builder.addShared(shown)
  return {
    ...builder.finish(),
    shownServices: shown.length,
    foundServices: found.length,
    allServices: index.services.length,
  }
}

interface ServiceName {
  readonly service?: string | undefined
  readonly portName?: string | undefined
}

class GraphBuilder {
  readonly #index: ChainIndex
  readonly #expanded: ReadonlySet<string>
  readonly #cards = new Map<string, GraphCard>()
  readonly #targets: GraphTarget[] = []
  readonly #edges: GraphEdge[] = []

  constructor(index: ChainIndex, expanded: ReadonlySet<string>) {
    this.#index = index
    this.#expanded = expanded
  }

  addShared(shown: readonly ServiceEntry[]): void {
    const names = new Set(shown.map(({ key }) => key))
    const wanted = new Map<string, { rules: readonly IndexedRule[]; all: number }>()
    for (const key of DISPATCH_CHAINS) {
      const [table = '', chain = ''] = key.split(' ')
      const all = this.#index.rulesOf(table, chain)
      if (!all) continue
      let loose = 0
      const rules = all.filter(({ text }) => {
        const service = serviceOf(text)
        if (service !== undefined) return names.has(service)
        loose += 1
        return loose <= MOST_LOOSE_ROWS
      })
      if (rules.length > 0 || key === 'nat KUBE-SERVICES') wanted.set(key, { rules, all: all.length })
    }
    for (const [key, { rules, all }] of wanted)
      this.#reserve(key, rules, { role: 'shared', moreRows: all - rules.length })
    for (const key of CONSTANT_CARDS) {
      const [table = '', chain = ''] = key.split(' ')
      const rules = this.#index.rulesOf(table, chain)
      if (rules) this.#reserve(key, rules, { role: 'shared', moreRows: 0 })
    }
    // Only now: edges between shared chains need both ends.
    for (const key of wanted.keys()) {
      const card = this.#cards.get(key)
      card?.rows.forEach((row, at) => {
        this.#follow(card, row, at, { service: serviceOf(row.text), portName: portNameOf(row.text) })
      })
    }
  }

  finish(): Pick<ChainGraph, 'cards' | 'targets' | 'edges'> {
    return { cards: [...this.#cards.values()], targets: this.#targets, edges: this.#edges }
  }

  #reserve(
    key: string,
    rules: readonly IndexedRule[],
    of: { role: CardRole; moreRows: number; canExpand?: boolean; name?: ServiceName },
  ): GraphCard {
    const [table = '', chain = ''] = key.split(' ')
    const rows = rules.map((rule) => buildRow(table, chain, rule))
    const card: GraphCard = {
      kind: 'chain',
      id: key,
      table,
      chain,
      role: of.role,
      title: this.#titleOf(table, chain, of.role, of.name ?? {}, rows),
      entries: this.#index.entriesOf(table, chain),
      rows,
      moreRows: of.moreRows,
      canExpand: of.canExpand ?? false,
      state: this.#stateOf(table, chain),
    }
    this.#cards.set(key, card)
    return card
  }

  /** Draws where a row leads. */
  #follow(card: GraphCard, row: GraphRow, at: number, name: ServiceName): void {
    const target = targetOf(row)
    if (!target || NAMED_ONLY.has(target.name)) return
    const edge = (to: string): void => {
      this.#edges.push({ id: row.id, from: card.id, row: at, to, state: row.state })
    }
    if (isBuiltinTarget(target.name)) {
      const address = /^DNAT (\S+)$/.exec(row.verdict)?.[1]
      if (address === undefined) return
      const id = `target ${row.id}`
      this.#targets.push({ kind: 'target', id, address })
      edge(id)
      return
    }
    const key = `${row.table} ${target.name}`
    if (this.#cards.has(key)) {
      edge(key)
      return
    }
    const rules = this.#index.rulesOf(row.table, target.name)
    if (!rules || DISPATCH_CHAINS.some((dispatch) => dispatch === key)) return
    edge(key)
    this.#addChain(row.table, target.name, rules, name)
  }

  #addChain(table: string, chain: string, rules: readonly IndexedRule[], name: ServiceName): void {
    const key = `${table} ${chain}`
    const most = this.#expanded.has(key) ? MOST_ENDPOINTS_EXPANDED : MOST_ENDPOINTS
    const endpoints = new Set<string>()
    const drawn = rules.filter((rule) => {
      const target = targetOf(rule)?.name
      if (!target?.startsWith('KUBE-SEP-')) return true
      endpoints.add(target)
      return endpoints.size <= most
    })
    const card = this.#reserve(key, drawn, {
      role: roleOf(chain),
      moreRows: rules.length - drawn.length,
      canExpand: drawn.length < rules.length && most < MOST_ENDPOINTS_EXPANDED,
      name: nameOf(this.#index.origins[chain]) ?? name,
    })
    card.rows.forEach((row, at) => {
      this.#follow(card, row, at, name)
    })
  }

  #titleOf(
    table: string,
    chain: string,
    role: CardRole,
    { service, portName }: ServiceName,
    rows: readonly GraphRow[],
  ): string {
    const port = portName === undefined || portName === '' ? '' : `:${portName}`
    const of = `${service?.replace(/^default\//, '') ?? 'Service'}${port}`
    switch (role) {
      case 'service':
        return chain.startsWith('KUBE-SVL-') ? `${of} on this node` : `${of} cluster IP`
      case 'external':
        return `${of} from outside`
      case 'firewall':
        return `${of} source ranges`
      case 'endpoint': {
        const dnat = rows.find(({ verdict }) => verdict.startsWith('DNAT '))?.verdict.slice('DNAT '.length)
        return `endpoint ${this.#index.origins[chain]?.endpoint ?? dnat ?? ''}`.trim()
      }
      case 'shared': {
        const title = sharedChainTitle(chain, table) ?? chain
        return title.charAt(0).toUpperCase() + title.slice(1)
      }
      case 'other':
        return 'Added by hand'
      default:
        return role satisfies never
    }
  }

  #stateOf(table: string, chain: string): RuleState {
    if (!this.#index.stands(table, chain)) return 'missing'
    const knowsOrigins = Object.keys(this.#index.origins).length > 0
    return roleOf(chain) === 'other' && !chain.startsWith('KUBE-') && knowsOrigins ? 'hand-made' : 'generated'
  }
}

function buildRow(table: string, chain: string, { number, text, state }: IndexedRule): GraphRow {
  const id = `${table} ${chain} ${state === 'missing' ? 'missing ' : ''}${number}`
  return {
    id,
    table,
    chain,
    number,
    text,
    state,
    match: matchLabel({ text }),
    verdict: targetLabel({ text }),
  }
}

function roleOf(chain: string): CardRole {
  if (!isServiceChain(chain)) return 'other'
  if (chain.startsWith('KUBE-SEP-')) return 'endpoint'
  if (chain.startsWith('KUBE-EXT-')) return 'external'
  return chain.startsWith('KUBE-FW-') ? 'firewall' : 'service'
}

function nameOf(origin: ChainOrigin | undefined): ServiceName | undefined {
  if (origin?.service === undefined) return undefined
  return { service: `${origin.namespace}/${origin.service}`, portName: origin.portName }
}
