import { formatRow } from '../../src-main/domain/iptables/format-listing.ts'
import type { Counters, Family } from '../../src-main/domain/iptables/rule-set.ts'
import { matchRanges } from './search.ts'

/** A piece of a line; the pieces' texts follow each other without anything between. */
export interface Segment {
  readonly kind: 'plain' | 'quiet' | 'count' | 'option' | 'target' | 'chain' | 'comment' | 'address'
  readonly text: string
  /** The words that somebody looks for. */
  readonly isHit?: true
}

/** `iptables -vnL --line-numbers` prints so many columns before the target: number, packets, bytes. */
const TARGET_FROM = 17

/** A line of `iptables -vnL --line-numbers`, character for character; `jump` is the chain that it leads to. */
export function listingSegments(
  rule: { readonly text: string; readonly counters: Counters },
  number: number,
  jump: string | undefined,
  family: Family = 'ipv4',
): Segment[] {
  const row = formatRow(rule, number, { lineNumbers: true, family })
  const wide = Math.max(0, String(number).length - 4)
  const from = TARGET_FROM + wide
  const target = /^\S*/.exec(row.slice(from))?.[0] ?? ''
  const rest = row.slice(from + target.length)
  return compact([
    { kind: 'quiet', text: row.slice(0, 5 + wide) },
    { kind: 'count', text: row.slice(5 + wide, from) },
    { kind: jump === undefined ? 'target' : 'chain', text: target },
    ...restSegments(rest),
  ])
}

const EXTRA = /(\/\* .*? \*\/)|((?<![\w.])!?(?:\d{1,3}\.){3}\d{1,3}(?:\/\d+)?(?::\d+)?)/g

function restSegments(text: string): Segment[] {
  const segments: Segment[] = []
  let at = 0
  for (const found of text.matchAll(EXTRA)) {
    segments.push({ kind: 'plain', text: text.slice(at, found.index) })
    const [whole, comment] = found
    const isAny = whole === '0.0.0.0/0'
    segments.push({ kind: comment ? 'comment' : isAny ? 'quiet' : 'address', text: whole })
    at = found.index + whole.length
  }
  segments.push({ kind: 'plain', text: text.slice(at) })
  return segments
}

const WORDS =
  /(--comment )("(?:[^"\\]|\\.)*"|\S+)|(?<=^| )(-j |-g )(\S+)|(?<=^| )(--?[a-zA-Z][\w-]*)(?= |$)|(?<=^| )((?:\d{1,3}\.){3}\d{1,3}\S*)/g

/** A rule as iptables-save writes it, without counters. */
export function saveSegments(chain: string, text: string, jump: string | undefined): Segment[] {
  const segments: Segment[] = [{ kind: 'quiet', text: `-A ${chain}${text === '' ? '' : ' '}` }]
  let at = 0
  for (const found of text.matchAll(WORDS)) {
    segments.push({ kind: 'plain', text: text.slice(at, found.index) })
    const [whole, commentOption, comment, targetOption, target, option] = found
    if (commentOption && comment)
      segments.push({ kind: 'option', text: commentOption }, { kind: 'comment', text: comment })
    else if (targetOption && target)
      segments.push(
        { kind: 'option', text: targetOption },
        { kind: target === jump ? 'chain' : 'target', text: target },
      )
    else segments.push({ kind: option ? 'option' : 'address', text: whole })
    at = found.index + whole.length
  }
  segments.push({ kind: 'plain', text: text.slice(at) })
  return compact(segments)
}

/** The same pieces, cut where what somebody looks for begins and ends. */
export function highlight(segments: readonly Segment[], query: string): Segment[] {
  const ranges = matchRanges(segments.map(({ text }) => text).join(''), query)
  if (ranges.length === 0) return [...segments]
  const cut: Segment[] = []
  let start = 0
  for (const segment of segments) {
    const end = start + segment.text.length
    let at = start
    for (const { from, to } of ranges) {
      if (to <= at || from >= end) continue
      const first = Math.max(from, at)
      const last = Math.min(to, end)
      cut.push({ ...segment, text: segment.text.slice(at - start, first - start) })
      cut.push({ ...segment, text: segment.text.slice(first - start, last - start), isHit: true })
      at = last
    }
    cut.push({ ...segment, text: segment.text.slice(at - start) })
    start = end
  }
  return compact(cut)
}

function compact(segments: readonly Segment[]): Segment[] {
  return segments.filter(({ text }) => text !== '')
}
