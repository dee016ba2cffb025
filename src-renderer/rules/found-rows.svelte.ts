import type { ShownRules } from './shown-rules.svelte.ts'
import { searchRows } from './table-search.ts'

/** What the words in the search field are found in. */
export class FoundRows {
  readonly #rules: ShownRules
  byTable = $state.raw<ReadonlyMap<string, Int32Array>>(new Map())
  /** What `byTable` answers; the field may be ahead of it. */
  query = $state('')
  #round = 0

  /** In the shown table. */
  readonly here = $derived.by(() => this.byTable.get(this.#rules.view.table) ?? new Int32Array(0))
  readonly count = $derived.by(() =>
    this.#rules.view.inAllTables
      ? [...this.byTable.values()].reduce((sum, { length }) => sum + length, 0)
      : this.here.length,
  )
  /** Of the cursor among what was found, from 1; 0 where it stands on none of it. */
  readonly place = $derived.by(() => {
    const { cursorRow, view, tableNames } = this.#rules
    const at = cursorRow === undefined ? -1 : this.here.indexOf(cursorRow)
    if (at === -1) return 0
    let before = 0
    if (view.inAllTables)
      for (const name of tableNames) {
        if (name === view.table) break
        before += this.byTable.get(name)?.length ?? 0
      }
    return before + at + 1
  })

  constructor(rules: ShownRules) {
    this.#rules = rules
    // The words are looked for anew when they or the rules change.
    $effect(() => {
      const { model, view, store } = rules
      const { query } = view
      this.#round += 1
      const round = this.#round
      if (query === '' || !model) {
        this.byTable = new Map()
        this.query = ''
        return
      }
      store.engine
        .search(query)
        .then((found) => {
          if (round !== this.#round) return
          this.byTable = searchRows(model, found, query)
          this.query = query
        })
        .catch(() => undefined) // the worker's failure shows where the rules are read
    })
  }
}
