import { expect, test } from 'vitest'
import type { ConnectionEntry } from '../../../src-main/domain/conntrack/connection-entry.ts'
import { sortedConnections, wayText } from '../../../src-renderer/trace/connection-words.ts'

const entry = (id: number, source: string, sourcePort: number, destinationPort = 80): ConnectionEntry => ({
  id,
  family: 4,
  protocol: sourcePort === 0 ? 'icmp' : 'tcp',
  protocolNumber: sourcePort === 0 ? 1 : 6,
  original: { source, destination: '10.96.0.10', sourcePort, destinationPort },
  reply: {
    source: '10.244.2.8',
    destination: source,
    sourcePort: destinationPort,
    destinationPort: sourcePort,
  },
  timeoutSeconds: 10,
  flags: [],
  nat: 'none',
  mark: 0,
})

test('ports are written where a protocol has them', () => {
  expect(wayText(entry(1, '10.244.1.7', 4001).original)).toBe('10.244.1.7:4001 → 10.96.0.10:80')
  expect(wayText(entry(1, '10.244.1.7', 0, 0).original)).toBe('10.244.1.7 → 10.96.0.10')
})

test('rows keep their order from sample to sample, numbers as numbers', () => {
  const entries = [entry(9, '10.244.1.10', 40), entry(3, '10.244.1.9', 5000), entry(1, '10.244.1.9', 400)]
  const ids = (list: readonly ConnectionEntry[]): number[] => sortedConnections(list).map(({ id }) => id)
  expect(ids(entries)).toEqual([1, 3, 9])
  expect(ids([...entries].reverse())).toEqual([1, 3, 9])
})
