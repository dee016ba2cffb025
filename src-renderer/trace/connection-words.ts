import type { ConnectionEntry, ConnectionTuple } from '../../src-main/domain/conntrack/connection-entry.ts'
import { addressText } from '../frame/service-words.ts'

export const NAT_WORDS: Readonly<Record<ConnectionEntry['nat'], string>> = {
  none: 'not translated',
  dnat: 'destination translated (DNAT)',
  snat: 'source translated (SNAT)',
  both: 'both sides translated (DNAT and SNAT)',
}

const hasPorts = ({ sourcePort, destinationPort }: ConnectionTuple): boolean =>
  sourcePort !== 0 || destinationPort !== 0

export const sourceText = (tuple: ConnectionTuple): string =>
  hasPorts(tuple) ? addressText(tuple.source, tuple.sourcePort) : tuple.source

export const destinationText = (tuple: ConnectionTuple): string =>
  hasPorts(tuple) ? addressText(tuple.destination, tuple.destinationPort) : tuple.destination

/** `10.244.1.7:4001 → 10.96.0.10:80` */
export const wayText = (tuple: ConnectionTuple): string => `${sourceText(tuple)} → ${destinationText(tuple)}`

/** In the order of their beginning, so that a row stays where it is. */
export function sortedConnections(entries: readonly ConnectionEntry[]): readonly ConnectionEntry[] {
  const key = ({ protocol, original }: ConnectionEntry): string => `${protocol} ${wayText(original)}`
  return [...entries].sort((a, b) => key(a).localeCompare(key(b), 'en', { numeric: true }) || a.id - b.id)
}
