import type { Finding, Hop, HopPacket, Journey } from './journey.ts'

const MARKS: Readonly<Record<Journey['verdict'], string>> = {
  delivered: '✓',
  dropped: '✗',
  rejected: '✗',
  refused: '✗',
  'no-route': '✗',
  lost: '?',
}

/** The journeys as text: one block a packet, a lane for each node, a line for each hop; `→` marks what a hop changed. */
export function formatJourneys(journeys: readonly Journey[]): string {
  if (journeys.length === 0) return 'The command sent no packet that met a node.\n'
  return journeys.map(formatJourney).join('\n')
}

/** The finding as text: the sentence, what proves it, what to do. */
export function formatFinding({ sentence, proof, remedy }: Finding): string {
  const lines = [`Why it failed: ${sentence}`, ...proof.map((each) => `  ${each}`)]
  if (remedy !== undefined) lines.push(`What to do: ${remedy}`)
  return `${lines.join('\n')}\n`
}

function formatJourney(journey: Journey): string {
  const { id, protocol, direction, kind, summary, hops, verdict, reason } = journey
  const [first] = hops
  const way = first ? `  ${formatEnds(first.packet)}` : ''
  const told =
    kind === 'first' ? ', first of its connection' : kind === 'retransmission' ? ', sent again' : ''
  const lines = [`#${id} ${protocol} ${direction}: ${summary}${told}${way}`]
  let lane = ''
  let place = ''
  for (const hop of hops) {
    if (hop.node !== lane) {
      const { in: from, out } = hop.packet
      const links = [from && `in by ${from}`, out && `out by ${out}`].filter(Boolean).join(', ')
      lines.push(`  ┌ ${hop.node}${links === '' ? '' : `  (${links})`}`)
      lane = hop.node
      place = ''
    }
    const here = `${hop.hook} ${hop.table}`
    lines.push(`  │ ${(here === place ? '' : here).padEnd(23)} ${formatHop(hop)}`)
    if (hop.becomes) lines.push(`  │ ${''.padEnd(23)}   → ${formatChange(hop.packet, hop.becomes)}`)
    place = here
  }
  lines.push(`  ${MARKS[verdict]} ${verdict}: ${reason}`)
  return `${lines.join('\n')}\n`
}

function formatHop({ chain, rule, text, table, skippedCount = 0 }: Hop): string {
  if (table === 'conntrack') return text
  if (rule === null) return skippedCount === 0 ? text : `${text} (${skippedCount} did not match)`
  const skipped = skippedCount === 0 ? '' : ` (after ${skippedCount} that did not match)`
  return `${chain} ${rule}${skipped}  ${text}`
}

const ends = (address: string, port: number): string => (port === 0 ? address : `${address}:${port}`)

const formatEnds = ({ src, sport, dst, dport }: HopPacket): string =>
  `${ends(src, sport)} > ${ends(dst, dport)}`

function formatChange(before: HopPacket, after: HopPacket): string {
  const changes = [
    ends(before.src, before.sport) !== ends(after.src, after.sport) &&
      `source ${ends(before.src, before.sport)} becomes ${ends(after.src, after.sport)}`,
    ends(before.dst, before.dport) !== ends(after.dst, after.dport) &&
      `destination ${ends(before.dst, before.dport)} becomes ${ends(after.dst, after.dport)}`,
    before.mark !== after.mark && `mark ${hex(before.mark)} becomes ${hex(after.mark)}`,
  ]
  return changes.filter(Boolean).join(', ')
}

const hex = (mark: number): string => `0x${mark.toString(16)}`
