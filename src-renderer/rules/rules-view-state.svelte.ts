import type { Selection } from '../lab-state.svelte.ts'
import { perLab } from '../per-lab.svelte.ts'
import type { Place } from './rules-model.ts'

export const WRITINGS = ['listing', 'save', 'words'] as const
export type Writing = (typeof WRITINGS)[number]

/** What the Rules view keeps while another view is shown. */
export class RulesViewState {
  table = $state('nat')
  writing = $state<Writing>('listing')
  /** One chain alone instead of all of the table. */
  isOneChain = $state(false)
  cursor = $state.raw<Place | undefined>()
  query = $state('')
  inAllTables = $state(false)
  /** The list of chains beside the rules. */
  hasChainList = $state(true)
  /** Row heights differ between writings, so the place is kept as a row and not in pixels. */
  topRow = 0
  #back = $state.raw<readonly Place[]>([])
  #forward = $state.raw<readonly Place[]>([])

  get canGoBack(): boolean {
    return this.#back.length > 0
  }

  get canGoForward(): boolean {
    return this.#forward.length > 0
  }

  /** Moves on as a link does: back leads here again. */
  jump(to: Place): void {
    if (this.cursor) this.#back = [...this.#back, this.cursor]
    this.#forward = []
    this.go(to)
  }

  go(to: Place): void {
    this.table = to.table
    this.cursor = to
  }

  back(): Place | undefined {
    const to = this.#back.at(-1)
    if (!to) return undefined
    if (this.cursor) this.#forward = [...this.#forward, this.cursor]
    this.#back = this.#back.slice(0, -1)
    this.go(to)
    return to
  }

  forward(): Place | undefined {
    const to = this.#forward.at(-1)
    if (!to) return undefined
    if (this.cursor) this.#back = [...this.#back, this.cursor]
    this.#forward = this.#forward.slice(0, -1)
    this.go(to)
    return to
  }
}

/** Where a selection stands in the rules; undefined for one that is no part of them. */
export function placeOfSelection(selection: Selection | undefined): Place | undefined {
  switch (selection?.kind) {
    case 'rule':
    case 'step':
      return { table: selection.table, chain: selection.chain, number: selection.number }
    case 'chain':
      return { table: selection.table, chain: selection.chain, number: 0 }
    case 'hook':
      return { table: selection.table, chain: selection.hook, number: 0 }
    default:
      return undefined
  }
}

export function selectionOf({ table, chain, number }: Place): Selection {
  return number === 0 ? { kind: 'chain', table, chain } : { kind: 'rule', table, chain, number }
}

export const rulesViewStateOf = perLab(() => new RulesViewState())
