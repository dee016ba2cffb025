import type { GraphCard, GraphRow } from './chain-graph.ts'
import type { CountState } from './count-burst.ts'
import { bytesText, packetsText } from './count-burst.ts'
import { MATCH_LENGTH } from './graph-layout.ts'
import { shortened } from './wrap-text.ts'

const ANY = 'any packet'

/** A rule without a match behind rules that take a share gets what they leave. */
export function matchText(card: GraphCard, at: number): string {
  const match = card.rows[at]?.match ?? ''
  if (match !== '') return shortened(match, MATCH_LENGTH)
  return card.rows[at - 1]?.match.endsWith('%') ? 'all others' : ANY
}

/** `state` is what the row's counter shows; undefined before the first sample. */
export function rowName(row: GraphRow, state: CountState | undefined): string {
  const what =
    row.state === 'missing' ? 'Missing rule' : row.state === 'hand-made' ? 'Hand-made rule' : 'Rule'
  const count = row.state === 'missing' || !state ? '' : `, ${packetsText(state.packets)}`
  return `${what} ${row.number} of ${row.chain}: ${row.match || ANY}, ${row.verdict || 'only counts'}${count}`
}

/** The whole rule, for the pointer. */
export function rowTip(row: GraphRow, state: CountState | undefined): string {
  const rule = `-t ${row.table} -A ${row.chain} ${row.text}`
  if (row.state === 'missing') return `${rule}\nkube-proxy wrote this rule; somebody took it away`
  const mark = row.state === 'hand-made' ? '\nadded by hand' : ''
  return `${rule}\n${state ? `${packetsText(state.packets)}, ${bytesText(state.bytes)}` : 'no counters yet'}${mark}`
}
