import type { Finding, Hop, HopPacket, Journey } from './journey.ts'

/** Journeys as Markdown: a section a packet with a table of its steps, NAT and marks in bold, the finding first. */
export function formatJourneysMarkdown(journeys: readonly Journey[], finding?: Finding): string {
  const parts = finding ? [formatFinding(finding)] : []
  return [...parts, ...journeys.map(formatJourney)].join('\n')
}

function formatFinding({ sentence, proof, remedy }: Finding): string {
  const lines = ['## Why it failed', '', sentence, '', ...proof.map((each) => `- ${each}`)]
  if (remedy !== undefined) lines.push('', `What to do: ${remedy}`)
  return `${lines.join('\n')}\n`
}

function formatJourney({ id, protocol, direction, kind, summary, hops, verdict, reason }: Journey): string {
  const lines = [
    `## Packet ${id}: ${protocol} ${direction}, ${summary}`,
    '',
    `${kind === 'first' ? 'First packet of its connection. ' : ''}**${verdict}**: ${reason}.`,
  ]
  if (hops.length > 0)
    lines.push(
      '',
      '| # | node | hook | table | chain | rule | what it did |',
      '| ---: | --- | --- | --- | --- | ---: | --- |',
      ...hops.map(formatRow),
    )
  return `${lines.join('\n')}\n`
}

function formatRow(hop: Hop, index: number): string {
  const { node, hook, table, chain, rule, text, verdict, packet, becomes } = hop
  const change = becomes ? ` **${changesOf(packet, becomes).join(', ')}**` : ''
  const cells = [
    String(index + 1),
    node,
    hook,
    table,
    table === 'conntrack' ? '' : `\`${chain}\``,
    rule === null ? '' : String(rule),
    `${verdict}${change}: \`${text}\``,
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** What a hop changed in the packet's header: `dst 10.96.0.10:80 → 10.244.1.7:80`, `mark 0x0 → 0x4000`. */
export function changesOf(before: HopPacket, after: HopPacket): string[] {
  const end = (address: string, port: number): string => (port === 0 ? address : `${address}:${port}`)
  const pairs = [
    ['src', end(before.src, before.sport), end(after.src, after.sport)],
    ['dst', end(before.dst, before.dport), end(after.dst, after.dport)],
    ['mark', `0x${before.mark.toString(16)}`, `0x${after.mark.toString(16)}`],
  ]
  return pairs.flatMap(([name, from, to]) => (from === to ? [] : [`${name} ${from} → ${to}`]))
}
