import type { RulePlace, TargetRules } from '../../src-main/contract/lab-contract.ts'
import type { TextProblem } from '../../src-main/domain/iptables/text-problem.ts'
import {
  type ChainGroup,
  chainTitle,
  groupChains,
  isServiceChain,
  type Origins,
  type ServiceRef,
  serviceInComment,
  serviceOf,
} from './chain-groups.ts'
import type { RuleIndex } from './rule-index.ts'
import { RuleTable } from './rule-table.ts'

/** The tables of an ordinary kernel, in the order in which a packet meets them. */
export const TABLES = ['raw', 'mangle', 'nat', 'filter'] as const

/** One line of the view; `at` counts a chain's rules from 0. */
export type Row =
  | { readonly kind: 'head'; readonly chain: string }
  | { readonly kind: 'rule'; readonly chain: string; readonly at: number; readonly rule: number }
  /** A rule that kube-proxy wrote and somebody took away, where it belongs. */
  | { readonly kind: 'missing'; readonly chain: string; readonly place: RulePlace }

export interface Place {
  readonly table: string
  readonly chain: string
  /** From 1; 0 for the chain itself. */
  readonly number: number
}

/** The rules of one target at one moment, with what is known about where they come from. */
export class RulesModel {
  readonly target: string
  readonly problems: readonly TextProblem[]
  readonly origins: Origins
  readonly tables: readonly RuleTable[]
  readonly handMade: readonly RulePlace[]
  readonly missing: readonly RulePlace[]
  readonly #handMade = new Set<string>()
  readonly #layouts = new Map<string, TableLayout>()

  constructor(rules: TargetRules, index: RuleIndex) {
    this.target = rules.target
    this.origins = rules.origins
    this.problems = index.problems
    this.handMade = rules.handMade ?? []
    this.missing = rules.missing ?? []
    const tables = index.tables.map((table) => new RuleTable(rules.text, table))
    // A text that was joined of two dumps may hold a table twice: the first one counts, as in tableNamed.
    this.tables = tables.filter(({ name }, at) => tables.findIndex((table) => table.name === name) === at)
    for (const place of this.handMade) this.#handMade.add(keyOf(place))
  }

  /** Rules by hand that go when kube-proxy's rules are written anew: those in its own chains. */
  get lostByRestore(): readonly RulePlace[] {
    return this.handMade.filter(
      ({ table, chain }) =>
        (table === 'nat' || table === 'filter') &&
        (Object.hasOwn(this.origins, chain) || isServiceChain(chain)),
    )
  }

  table(name: string): RuleTable | undefined {
    return this.tables.find((table) => table.name === name)
  }

  title(table: string, chain: string): string | undefined {
    return chainTitle(this.origins, table, chain)
  }

  /** The title where it stands alone, as a heading. */
  heading(table: string, chain: string): string | undefined {
    const title = this.title(table, chain)
    // A Service's name keeps its small letters.
    return title === undefined || serviceOf(this.origins, chain)
      ? title
      : title.charAt(0).toUpperCase() + title.slice(1)
  }

  isHandMade(place: Place): boolean {
    return this.#handMade.has(keyOf(place))
  }

  /** The Service that a rule serves: its chain's, that of the chain it leads to, or the one its comment names. */
  serviceOfRule(table: RuleTable, rule: number): ServiceRef | undefined {
    const own = serviceOf(this.origins, table.chains[table.chainOf(rule)] ?? '')
    if (own) return own
    const jump = table.jumpOf(rule)
    const next = jump === undefined ? undefined : serviceOf(this.origins, jump)
    if (next) return next
    const comment = /--comment "?([^"]*)/.exec(table.textOf(rule))?.[1]
    return comment === undefined ? undefined : serviceInComment(comment)
  }

  layout(table: string): TableLayout {
    let layout = this.#layouts.get(table)
    if (!layout) {
      layout = new TableLayout(this, table)
      this.#layouts.set(table, layout)
    }
    return layout
  }

  /** Where a rule of an earlier model stands now: the n-th of equal rules of its chain as the n-th. */
  follow(place: Place, before: RulesModel): Place | undefined {
    const old = before.table(place.table)
    const now = this.table(place.table)
    const oldChain = old?.chainAt(place.chain)
    const chain = now?.chainAt(place.chain)
    if (!old || !now || oldChain === undefined || chain === undefined) return undefined
    if (place.number === 0) return place
    const texts = old.textsOf(oldChain)
    const text = texts[place.number - 1]
    const occurrence = texts.slice(0, place.number).filter((other) => other === text).length
    let seen = 0
    const at = now.textsOf(chain).findIndex((other) => {
      if (other === text) seen += 1
      return other === text && seen === occurrence
    })
    return at === -1 ? undefined : { ...place, number: at + 1 }
  }
}

/** The order in which the view shows a table's chains and rules. */
export class TableLayout {
  readonly groups: readonly ChainGroup[]
  /** All chains under one another. */
  readonly rows: readonly Row[]
  /** The row of each rule of the table's index. */
  readonly rowOfRule: Int32Array
  readonly #headAt = new Map<string, number>()

  constructor(model: RulesModel, name: string) {
    const table = model.table(name)
    const missing = byChain(model.missing.filter((place) => place.table === name))
    const chains = table?.chains ?? []
    const known = new Set(chains)
    const gone = [...missing.keys()].filter((chain) => !known.has(chain))
    this.groups = groupChains(name, gone.length > 0 ? [...chains, ...gone] : chains, model.origins)
    const rows: Row[] = []
    this.rowOfRule = new Int32Array(table?.ruleCount ?? 0)
    for (const chain of this.groups.flatMap((group) => group.chains)) {
      this.#headAt.set(chain, rows.length)
      rows.push({ kind: 'head', chain })
      const at = table?.chainAt(chain)
      const count = table && at !== undefined ? table.sizeOf(at) : 0
      const ghosts = missing.get(chain) ?? []
      let ghost = 0
      /** The number that the next rule has in what kube-proxy wrote. */
      let written = 1
      const pushGhosts = (isEnd: boolean): void => {
        for (let place = ghosts[ghost]; place && (isEnd || place.number <= written); place = ghosts[ghost]) {
          rows.push({ kind: 'missing', chain, place })
          ghost += 1
          written += 1
        }
      }
      for (let rule = 0; rule < count; rule += 1) {
        if (ghosts.length > 0) {
          pushGhosts(false)
          if (!model.isHandMade({ table: name, chain, number: rule + 1 })) written += 1
        }
        const id = table?.ruleOf(at ?? 0, rule) ?? 0
        this.rowOfRule[id] = rows.length
        rows.push({ kind: 'rule', chain, at: rule, rule: id })
      }
      pushGhosts(true)
    }
    this.rows = rows
  }

  headAt(chain: string): number | undefined {
    return this.#headAt.get(chain)
  }

  /** The rows of one chain alone. */
  rowsOf(chain: string): readonly Row[] {
    const from = this.#headAt.get(chain)
    if (from === undefined) return []
    let to = from + 1
    while (this.rows[to]?.chain === chain && this.rows[to]?.kind !== 'head') to += 1
    return this.rows.slice(from, to)
  }

  /** Of a place, in `rows`; undefined for what is not there. */
  rowAt(table: RuleTable, { chain, number }: Place): number | undefined {
    if (number === 0) return this.#headAt.get(chain)
    const at = table.chainAt(chain)
    if (at === undefined || number > table.sizeOf(at)) return undefined
    return this.rowOfRule[table.ruleOf(at, number - 1)]
  }
}

/** The place of a row; a missing rule has none of its own. */
export function placeOf(table: string, row: Row): Place | undefined {
  switch (row.kind) {
    case 'head':
      return { table, chain: row.chain, number: 0 }
    case 'rule':
      return { table, chain: row.chain, number: row.at + 1 }
    case 'missing':
      return undefined
    default:
      return row satisfies never
  }
}

function keyOf({ table, chain, number }: Place): string {
  return `${table} ${chain} ${number}`
}

function byChain(places: readonly RulePlace[]): Map<string, RulePlace[]> {
  const chains = new Map<string, RulePlace[]>()
  for (const place of places.toSorted((a, b) => a.number - b.number)) {
    const list = chains.get(place.chain)
    if (list) list.push(place)
    else chains.set(place.chain, [place])
  }
  return chains
}
