import type { LabState } from '../lab-state.svelte.ts'
import { type Row, TABLES } from './rules-model.ts'
import { rulesStoreOf } from './rules-store.svelte.ts'
import { rulesViewStateOf } from './rules-view-state.svelte.ts'

/** What of a node's rules the Rules view shows, and where among them the cursor stands. */
export class ShownRules {
  readonly #lab: () => LabState
  /** Which rows can be seen: places in `rows`. */
  seen = $state.raw({ from: 0, to: 40 })

  readonly store = $derived.by(() => rulesStoreOf(this.#lab()))
  readonly view = $derived.by(() => rulesViewStateOf(this.#lab()))
  readonly model = $derived.by(() => {
    const { model } = this.store
    return model?.target === this.#lab().target ? model : undefined
  })
  readonly tableNames = $derived([
    ...TABLES,
    ...(this.model?.tables.flatMap(({ name }) => (TABLES.some((known) => known === name) ? [] : [name])) ??
      []),
  ])
  readonly table = $derived(this.model?.table(this.view.table))
  readonly layout = $derived(this.model?.layout(this.view.table))
  readonly cursor = $derived(this.view.cursor?.table === this.view.table ? this.view.cursor : undefined)
  readonly rows = $derived.by((): readonly Row[] => {
    const { layout } = this
    if (!layout) return []
    const chain = this.cursor?.chain ?? layout.groups[0]?.chains[0]
    return this.view.isOneChain && chain !== undefined ? layout.rowsOf(chain) : layout.rows
  })
  /** Rows of the whole table that come before those shown. */
  readonly rowOffset = $derived.by(() => {
    const [first] = this.rows
    return this.view.isOneChain && first ? (this.layout?.headAt(first.chain) ?? 0) : 0
  })
  /** Of the whole table. */
  readonly cursorRow = $derived(
    this.cursor && this.table && this.layout ? this.layout.rowAt(this.table, this.cursor) : undefined,
  )

  constructor(lab: () => LabState) {
    this.#lab = lab
    $effect(() => {
      const { connection, target, ruleVersions, node } = lab()
      this.store.want(connection, target, ruleVersions[node] ?? 0)
    })
  }
}
