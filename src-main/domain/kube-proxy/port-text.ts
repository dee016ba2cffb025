import { addDispatchRules } from './dispatch-rules.ts'
import type { NodeView } from './node-view.ts'
import { addOwnRules, listOwnChains } from './own-chain-rules.ts'
import type { PortPlan } from './port-plan.ts'
import type { ProxyRule } from './rule-origin.ts'

/** One Service port's lines of the restore text, made when first asked for and kept while the port is what it is. */
export class PortText {
  readonly #plan: PortPlan
  readonly #view: NodeView
  readonly #comments: boolean
  #dispatch: { readonly filter: string; readonly nat: string } | undefined
  #own: { readonly chains: string; readonly rules: string } | undefined

  constructor(plan: PortPlan, view: NodeView, comments: boolean) {
    this.#plan = plan
    this.#view = view
    this.#comments = comments
  }

  /** Rules in the chains that all Services share. */
  get dispatch(): { readonly filter: string; readonly nat: string } {
    if (!this.#dispatch) {
      const filter: ProxyRule[] = []
      const nat: ProxyRule[] = []
      addDispatchRules(filter, nat, this.#plan, this.#view)
      this.#dispatch = { filter: formatRules(filter), nat: formatRules(nat) }
    }
    return this.#dispatch
  }

  /** Chain lines and rules of its own chains. */
  get own(): { readonly chains: string; readonly rules: string } {
    if (!this.#own) {
      const rules: ProxyRule[] = []
      addOwnRules(rules, this.#plan, this.#view, this.#comments)
      this.#own = { chains: formatChains(listOwnChains(this.#plan)), rules: formatRules(rules) }
    }
    return this.#own
  }
}

/** `:KUBE-SVC-… - [0:0]` */
export function formatChains(chains: readonly string[]): string {
  return formatLines(chains.map((chain) => `:${chain} - [0:0]`))
}

export function formatRules(rules: readonly ProxyRule[]): string {
  return formatLines(rules.map(({ chain, text }) => `-A ${chain} ${text}`))
}

function formatLines(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}
