import type { ServiceRef } from './chain-groups.ts'
import type { Baseline } from './delta.ts'
import type { LiveCounters } from './live-counters.svelte.ts'
import type { RuleTable } from './rule-table.ts'
import type { RulesModel } from './rules-model.ts'
import type { Writing } from './rules-view-state.svelte.ts'

/** What the rows of chains and those of rules are drawn from. */
export interface RowProps {
  model: RulesModel
  table: RuleTable
  live: LiveCounters
  baseline: Baseline | undefined
  writing: Writing
  query: string
  isSelected: boolean
  id: string
  rowIndex: number
  hasService: (service: ServiceRef) => boolean
  onservice: (service: ServiceRef) => void
}
