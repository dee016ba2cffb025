import { type Hop, hopPlace, type Journey } from './journey.ts'
import { changesOf } from './journey-markdown.ts'

const WIDTH = 1240
const ROW = 22
const MARGIN = 16
const BASELINE = 15
/** Legible on white and on dark paper alike: the picture brings its own white ground. */
const HUES: Readonly<Record<string, string>> = {
  raw: '#8a5a00',
  mangle: '#7a3db8',
  nat: '#0b63b5',
  filter: '#1f7a33',
  conntrack: '#555555',
}
const INK = '#1a1a1a'
const FAINT = '#5c5c5c'
const GOOD = '#1f7a33'
const BAD = '#b3261e'

/** One packet's way as a picture of its own: a band a node, a line a step, what a step changed in a box beside it. */
export function formatJourneySvg(journey: Journey): string {
  const { id, protocol, direction, summary, verdict, reason } = journey
  const rows = rowsOf(journey.hops)
  const height = MARGIN * 2 + ROW * (rows.length + 3)
  const at = (row: number): number => MARGIN + ROW * row
  const drawn = rows.map((row, index) => drawRow(row, at(index + 2)))
  const end = at(rows.length + 2)
  const colour = verdict === 'delivered' ? GOOD : BAD
  const title = `Packet ${id}: ${protocol} ${direction}, ${summary}`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeXml(title)}" font-family="ui-monospace, 'DejaVu Sans Mono', monospace" font-size="13">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    write(MARGIN, at(0) + BASELINE, title, INK, 'bold'),
    ...drawn,
    write(MARGIN, end + BASELINE, `${verdict}: ${reason}`, colour, 'bold'),
    '</svg>',
    '',
  ].join('\n')
}

type Row = { readonly node: string; readonly links: string } | { readonly hop: Hop; readonly place: string }

function rowsOf(hops: readonly Hop[]): Row[] {
  return hops.flatMap((hop, index): Row[] => {
    const before = hops[index - 1]
    const place = `${hop.hook} ${hop.table}`
    const isSame = before?.node === hop.node && `${before.hook} ${before.table}` === place
    const step = { hop, place: isSame ? '' : place }
    if (before?.node === hop.node) return [step]
    const { in: from, out } = hop.packet
    const links = [from && `in by ${from}`, out && `out by ${out}`].filter(Boolean).join(', ')
    return [{ node: hop.node, links }, step]
  })
}

function drawRow(row: Row, top: number): string {
  if ('node' in row)
    return [
      `<rect x="${MARGIN}" y="${top}" width="${WIDTH - 2 * MARGIN}" height="${ROW - 2}" fill="#e8edf3"/>`,
      write(MARGIN + 8, top + BASELINE, row.node, INK, 'bold'),
      write(MARGIN + 200, top + BASELINE, row.links, FAINT),
    ].join('\n')
  const { hop, place } = row
  const hue = HUES[hop.table] ?? INK
  const change = hop.becomes ? changesOf(hop.packet, hop.becomes).join(', ') : ''
  const name = hop.table === 'conntrack' ? 'NAT as decided before' : hopPlace(hop)
  return [
    write(MARGIN + 8, top + BASELINE, place, hue),
    `<circle cx="${MARGIN + 190}" cy="${top + 10}" r="4" fill="${hue}"/>`,
    write(MARGIN + 204, top + BASELINE, name, INK),
    write(MARGIN + 470, top + BASELINE, hop.verdict, hue, 'bold'),
    ...(change === '' ? [] : [write(MARGIN + 580, top + BASELINE, change, INK)]),
  ].join('\n')
}

function write(x: number, y: number, text: string, fill: string, weight = 'normal'): string {
  return text === ''
    ? ''
    : `<text x="${x}" y="${y}" fill="${fill}" font-weight="${weight}">${escapeXml(text)}</text>`
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign] ?? '&quot;')
}
