import { bytesText, type CountState, packetsText } from './count-burst.ts'
import type { MapCell } from './netfilter-map.ts'

/** `rules` is undefined before the first sample. */
export function rulesText(rules: number | undefined): string {
  if (rules === undefined) return 'no counters yet'
  return rules === 0 ? 'no rules' : rules === 1 ? '1 rule' : `${rules} rules`
}

export function cellName(cell: MapCell, state: CountState | undefined, rules: number | undefined): string {
  const count = state ? `${packetsText(state.packets)}, ${bytesText(state.bytes)}, ` : ''
  const first = cell.table === 'nat' ? '; only the first packet of each connection' : ''
  return `${cell.table} table at ${cell.hook}: ${count}${rulesText(rules)}${first}`
}
