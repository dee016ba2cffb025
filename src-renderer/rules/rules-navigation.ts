import { tick } from 'svelte'
import type { LabState } from '../lab-state.svelte.ts'
import type { FoundRows } from './found-rows.svelte.ts'
import { type Place, placeOf } from './rules-model.ts'
import { selectionOf, type Writing } from './rules-view-state.svelte.ts'
import { nextHit } from './search.ts'
import type { ShownRules } from './shown-rules.svelte.ts'

/** The lines on the screen, as far as going through the rules moves them. */
export interface Lines {
  reveal(place: Place): void
  /** What was found in the row at the cursor comes into sight: long lines reach out of it. */
  showFound(): void
  scrollToStart(): void
  /** `row` counts from the first one shown. */
  scrollToRow(row: number, align: 'start' | 'center'): void
  forgetWidths(): void
  focus(): void
}

/** Going through the rules: what is gone to here is picked for the whole window. */
export class RulesNavigation {
  readonly #lab: () => LabState
  readonly #rules: ShownRules
  readonly #found: FoundRows
  /** Undefined while no rule is shown. */
  readonly #lines: () => Lines | undefined

  constructor(lab: () => LabState, rules: ShownRules, found: FoundRows, lines: () => Lines | undefined) {
    this.#lab = lab
    this.#rules = rules
    this.#found = found
    this.#lines = lines
  }

  async reveal(place: Place): Promise<void> {
    await tick()
    this.#lines()?.reveal(place)
  }

  pick(place: Place): void {
    this.#rules.view.go(place)
    this.#lab().selection = selectionOf(place)
  }

  jumpTo(place: Place): void {
    this.#rules.view.jump(place)
    this.#lab().selection = selectionOf(place)
    void this.reveal(place)
  }

  jumpToChain(chain: string): void {
    this.jumpTo({ table: this.#rules.view.table, chain, number: 0 })
  }

  back(): void {
    this.#arrive(this.#rules.view.back())
  }

  forward(): void {
    this.#arrive(this.#rules.view.forward())
  }

  #arrive(place: Place | undefined): void {
    if (!place) return
    this.#lab().selection = selectionOf(place)
    void this.reveal(place)
  }

  chooseTable(name: string): void {
    const { view } = this.#rules
    if (name === view.table) return
    view.table = name
    this.#lines()?.forgetWidths()
    this.#lines()?.scrollToStart()
  }

  /** The row on top stays there, though it has another height. */
  async chooseWriting(writing: Writing): Promise<void> {
    const { view, rowOffset } = this.#rules
    if (writing === view.writing) return
    const top = view.topRow - rowOffset
    view.writing = writing
    this.#lines()?.forgetWidths()
    await tick()
    this.#lines()?.scrollToRow(top, 'start')
    await tick()
    if (view.cursor) void this.reveal(view.cursor)
  }

  showOneChain(isOne: boolean): void {
    const { view, rows, seen } = this.#rules
    const hadCursor = this.#rules.cursor !== undefined
    view.isOneChain = isOne
    if (isOne && !hadCursor) {
      const chain = rows[seen.from]?.chain
      if (chain !== undefined) this.pick({ table: view.table, chain, number: 0 })
    }
    if (isOne) this.#lines()?.scrollToStart()
    else if (view.cursor) void this.reveal(view.cursor)
  }

  moveCursor(step: number): void {
    const { view, rows, rowOffset, cursorRow, seen } = this.#rules
    const way = Math.sign(step)
    const start = cursorRow === undefined ? seen.from - way : cursorRow - rowOffset
    let at = Math.min(Math.max(start + step, 0), rows.length - 1)
    while (rows[at]?.kind === 'missing') at += way
    const row = rows[at]
    const place = row && placeOf(view.table, row)
    if (!place) return
    this.pick(place)
    void this.reveal(place)
  }

  followJump(): void {
    const { table, layout, cursorRow } = this.#rules
    const row = cursorRow === undefined ? undefined : layout?.rows[cursorRow]
    const chain = row?.kind === 'rule' ? table?.jumpOf(row.rule) : undefined
    if (chain !== undefined) this.jumpToChain(chain)
  }

  goToHit(step: 1 | -1): void {
    const { view, cursorRow, tableNames } = this.#rules
    const { here, byTable } = this.#found
    const at = nextHit(here, cursorRow ?? view.topRow - 1, step)
    const isRound =
      at === undefined ||
      (step === 1 ? (here[at] ?? 0) <= (cursorRow ?? -1) : (here[at] ?? 0) >= (cursorRow ?? Infinity))
    if (isRound && view.inAllTables) {
      const names = tableNames.filter((name) => (byTable.get(name)?.length ?? 0) > 0)
      const next = names[(names.indexOf(view.table) + step + names.length) % names.length]
      if (next === undefined) return
      const found = byTable.get(next)
      this.#goToRow(next, found?.[step === 1 ? 0 : found.length - 1])
      return
    }
    if (at !== undefined) this.#goToRow(view.table, here[at])
  }

  /** The next one of those places after the cursor, round at the end. */
  goToNext(places: readonly Place[]): void {
    const { view, table, layout, cursorRow } = this.#rules
    const rows = places.flatMap((place) => (table && layout ? (layout.rowAt(table, place) ?? []) : []))
    const sorted = Int32Array.from(rows).sort()
    const at = nextHit(sorted, cursorRow ?? -1, 1)
    if (at !== undefined) this.#goToRow(view.table, sorted[at])
  }

  goToMissing(): void {
    const { view, layout } = this.#rules
    const at = layout?.rows.findIndex((row) => row.kind === 'missing') ?? -1
    if (at === -1) return
    if (view.isOneChain) this.showOneChain(false)
    void tick().then(() => this.#lines()?.scrollToRow(at, 'center'))
  }

  #goToRow(name: string, at: number | undefined): void {
    const row = at === undefined ? undefined : this.#rules.model?.layout(name).rows[at]
    const place = row && placeOf(name, row)
    if (!place) return
    this.chooseTable(name)
    this.pick(place)
    void this.reveal(place).then(() => this.#lines()?.showFound())
  }
}
