import { formatRow } from '../../src-main/domain/iptables/format-listing.ts'
import type { RuleTable } from './rule-table.ts'
import type { Row, RulesModel } from './rules-model.ts'

/** Found rules as rows of each table's layout, rising; with the headings of chains whose name or meaning fits. */
export function searchRows(
  model: RulesModel,
  found: readonly Int32Array[],
  query: string,
): ReadonlyMap<string, Int32Array> {
  const wanted = query.toLowerCase()
  return new Map(
    model.tables.map((table, at) => {
      const layout = model.layout(table.name)
      const rules = found[at] ?? new Int32Array(0)
      const heads: number[] = []
      for (const chain of layout.groups.flatMap((group) => group.chains)) {
        const fits =
          chain.toLowerCase().includes(wanted) ||
          model.title(table.name, chain)?.toLowerCase().includes(wanted)
        const head = fits ? layout.headAt(chain) : undefined
        if (head !== undefined) heads.push(head)
      }
      const rows = new Int32Array(heads.length + rules.length)
      rows.set(heads)
      rules.forEach((rule, place) => {
        rows[heads.length + place] = layout.rowOfRule[rule] ?? 0
      })
      return [table.name, rows.sort()] as const
    }),
  )
}

/** The text of a row's line, for its width. */
export function rowText(table: RuleTable, row: Row, writing: 'listing' | 'save'): string {
  switch (row.kind) {
    case 'head':
      return '' // it stays in sight by itself
    case 'missing':
      return `-A ${row.chain} ${row.place.text}`
    case 'rule': {
      const text = table.textOf(row.rule)
      return writing === 'save'
        ? `-A ${row.chain} ${text}`
        : formatRow({ text }, row.at + 1, { lineNumbers: true })
    }
    default:
      return row satisfies never
  }
}
