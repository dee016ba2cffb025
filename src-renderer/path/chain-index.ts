import type { ChainOrigin, RulePlace, TargetRules } from '../../src-main/contract/lab-contract.ts'
import { builtinChains } from '../../src-main/domain/iptables/check-jumps.ts'
import { type RuleSet, rulesByChain } from '../../src-main/domain/iptables/rule-set.ts'
import { targetOf } from '../../src-main/domain/iptables/rule-spec.ts'

export type RuleState = 'generated' | 'hand-made' | 'missing'

/** A rule of a chain as the picture knows it; `number` counts from 1, a missing rule's says where it belongs. */
export interface IndexedRule {
  readonly number: number
  readonly text: string
  readonly state: RuleState
}

/** Where packets for a Service are told apart from others: one rule of a chain that all Services share. */
export interface DispatchRule extends IndexedRule {
  readonly table: string
  readonly chain: string
}

export interface ServiceEntry {
  /** `default/http-svc` */
  readonly key: string
  readonly dispatch: readonly DispatchRule[]
}

/** The chains in which each Service has rules of its own, as `table chain`. */
export const DISPATCH_CHAINS = [
  'nat KUBE-SERVICES',
  'nat KUBE-NODEPORTS',
  'filter KUBE-SERVICES',
  'filter KUBE-EXTERNAL-SERVICES',
  'filter KUBE-PROXY-FIREWALL',
  'filter KUBE-NODEPORTS',
] as const

export type PictureRules = Pick<TargetRules, 'origins' | 'handMade' | 'missing'>

/** A node's rules by chain and by Service. Made once for each text: looks at no rule's words but the comment's. */
export class ChainIndex {
  /** In the order of the rules, which is the one of their names. */
  readonly services: readonly ServiceEntry[]
  readonly origins: Readonly<Record<string, ChainOrigin>>
  readonly #chains = new Map<string, readonly IndexedRule[]>()
  readonly #standing = new Set<string>()
  readonly #entries = new Map<string, string[]>()
  readonly #texts = new Map<string, string>()

  constructor(ruleSet: RuleSet, { origins, handMade, missing }: PictureRules) {
    this.origins = origins
    const byHand = new Set(handMade.map(({ table, chain, number }) => `${table} ${chain} ${number}`))
    for (const table of ruleSet.tables) {
      if (table.name !== 'nat' && table.name !== 'filter') continue
      for (const [chain, rules] of rulesByChain(table)) {
        const key = `${table.name} ${chain}`
        this.#standing.add(key)
        this.#chains.set(
          key,
          rules.map(({ text }, at) => ({
            number: at + 1,
            text,
            state: byHand.has(`${key} ${at + 1}`) ? 'hand-made' : 'generated',
          })),
        )
      }
      this.#noteEntries(table.name)
    }
    this.#addMissing(missing)
    this.services = this.#findServices()
  }

  /** In order, missing ones where they belong; undefined for a chain that neither stands nor is missed. */
  rulesOf(table: string, chain: string): readonly IndexedRule[] | undefined {
    return this.#chains.get(`${table} ${chain}`)
  }

  /** False for a chain that is only known from its missing rules. */
  stands(table: string, chain: string): boolean {
    return this.#standing.has(`${table} ${chain}`)
  }

  /** The built-in chains that jump to it, in hook order. */
  entriesOf(table: string, chain: string): readonly string[] {
    return this.#entries.get(`${table} ${chain}`) ?? []
  }

  /** Whether a text stands in a Service's name or any of its rules (so: addresses, ports, chain names). */
  mentions(service: ServiceEntry, text: string): boolean {
    return service.key.toLowerCase().includes(text) || this.#textOf(service).includes(text)
  }

  #noteEntries(table: string): void {
    for (const hook of builtinChains(table))
      for (const rule of this.#chains.get(`${table} ${hook}`) ?? []) {
        const target = targetOf(rule)
        if (!target) continue
        const key = `${table} ${target.name}`
        const hooks = this.#entries.get(key) ?? []
        if (!hooks.includes(hook)) this.#entries.set(key, [...hooks, hook])
      }
  }

  #addMissing(missing: readonly RulePlace[]): void {
    for (const { table, chain, number, text } of missing.toSorted((a, b) => a.number - b.number)) {
      const rules = this.#chains.get(`${table} ${chain}`) ?? []
      this.#chains.set(
        `${table} ${chain}`,
        rules.toSpliced(placeOf(number, rules), 0, { number, text, state: 'missing' }),
      )
    }
  }

  #findServices(): ServiceEntry[] {
    const byName = new Map<string, DispatchRule[]>()
    for (const key of DISPATCH_CHAINS) {
      const [table = '', chain = ''] = key.split(' ')
      for (const rule of this.#chains.get(key) ?? []) {
        const name = serviceOf(rule.text)
        if (name === undefined) continue
        const found = byName.get(name)
        const dispatch = { ...rule, table, chain }
        if (found) found.push(dispatch)
        else byName.set(name, [dispatch])
      }
    }
    return Array.from(byName, ([key, dispatch]) => ({ key, dispatch }))
  }

  #textOf(service: ServiceEntry): string {
    const known = this.#texts.get(service.key)
    if (known !== undefined) return known
    const texts = service.dispatch.map(({ text }) => text)
    const seen = new Set<string>()
    for (const { table, text } of service.dispatch) {
      const reach = [targetOf({ text })?.name]
      // What is pushed while the list is walked is walked, too.
      for (const chain of reach) {
        if (chain === undefined || seen.has(chain) || !isServiceChain(chain)) continue
        seen.add(chain)
        for (const rule of this.rulesOf(table, chain) ?? []) {
          texts.push(rule.text)
          reach.push(targetOf(rule)?.name)
        }
      }
    }
    const all = texts.join('\n').toLowerCase()
    this.#texts.set(service.key, all)
    return all
  }
}

/** Its number counts kube-proxy's own rules: what people have put between them does not move it. */
function placeOf(number: number, rules: readonly IndexedRule[]): number {
  let own = 0
  const at = rules.findIndex(({ state }) => {
    if (state !== 'hand-made') own += 1
    return own === number
  })
  return at === -1 ? rules.length : at
}

/** `default/http-svc` of `--comment "default/http-svc:web cluster IP"`; undefined for rules of no one Service. */
export function serviceOf(text: string): string | undefined {
  return SERVICE_COMMENT.exec(text)?.[1]
}

/** The name of the Service's port in such a comment; undefined when unnamed. */
export function portNameOf(text: string): string | undefined {
  return SERVICE_COMMENT.exec(text)?.[2]
}

const SERVICE_COMMENT = /--comment "?([a-z0-9][-a-z0-9.]*\/[a-z0-9][-a-z0-9.]*)(?::([-a-z0-9]+))?[" ]/

/** A chain that stands for one Service port or endpoint. */
export function isServiceChain(chain: string): boolean {
  return /^KUBE-(SVC|SVL|SEP|FW|EXT)-/.test(chain)
}
