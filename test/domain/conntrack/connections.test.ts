import { describe, expect, it } from 'vitest'
import {
  type ConnectionEntry,
  matchesConnection,
  type PacketPattern,
} from '../../../src-main/domain/conntrack/connection-entry.ts'
import { formatConnections } from '../../../src-main/domain/conntrack/format-connections.ts'

/** A client's connection to a NodePort with both addresses translated. */
const nodePort: ConnectionEntry = {
  id: 7,
  family: 4,
  protocol: 'tcp',
  protocolNumber: 6,
  original: { source: '172.18.0.254', destination: '172.18.0.3', sourcePort: 40000, destinationPort: 32054 },
  reply: { source: '10.244.2.8', destination: '172.18.0.3', sourcePort: 80, destinationPort: 61000 },
  state: 'ESTABLISHED',
  timeoutSeconds: 431999,
  flags: ['ASSURED'],
  nat: 'both',
  mark: 0,
}
const query: ConnectionEntry = {
  id: 8,
  family: 4,
  protocol: 'udp',
  protocolNumber: 17,
  original: { source: '10.244.1.7', destination: '10.96.0.10', sourcePort: 5000, destinationPort: 53 },
  reply: { source: '10.96.0.10', destination: '10.244.1.7', sourcePort: 53, destinationPort: 5000 },
  timeoutSeconds: 29,
  flags: ['UNREPLIED'],
  nat: 'none',
  mark: 16384,
}
const ping: ConnectionEntry = {
  ...query,
  id: 9,
  protocol: 'icmp',
  protocolNumber: 1,
  original: {
    source: '10.244.1.7',
    destination: '10.244.2.8',
    sourcePort: 0,
    destinationPort: 0,
    icmp: { type: 8, code: 0, id: 99 },
  },
  reply: {
    source: '10.244.2.8',
    destination: '10.244.1.7',
    sourcePort: 0,
    destinationPort: 0,
    icmp: { type: 0, code: 0, id: 99 },
  },
  flags: [],
  mark: 0,
}

describe('connections', () => {
  it('are listed as conntrack -L does, with NAT at the end', () => {
    expect(formatConnections([nodePort, query, ping]).split('\n')).toEqual([
      'tcp      6 431999 ESTABLISHED src=172.18.0.254 dst=172.18.0.3 sport=40000 dport=32054 src=10.244.2.8 dst=172.18.0.3 sport=80 dport=61000 [ASSURED] mark=0 nat=both',
      'udp      17 29 src=10.244.1.7 dst=10.96.0.10 sport=5000 dport=53 [UNREPLIED] src=10.96.0.10 dst=10.244.1.7 sport=53 dport=5000 mark=16384',
      'icmp     1 29 src=10.244.1.7 dst=10.244.2.8 type=8 code=0 id=99 src=10.244.2.8 dst=10.244.1.7 type=0 code=0 id=99 mark=0',
      '',
    ])
  })

  const isOf = (packet: PacketPattern) => matchesConnection(nodePort, { packets: [packet] })

  it('are found by their packets, in both directions and on both sides of NAT', () => {
    const packet = (source: string, sourcePort: number, destination: string, destinationPort: number) =>
      isOf({ protocol: 'tcp', source, sourcePort, destination, destinationPort })
    expect(packet('172.18.0.254', 40000, '172.18.0.3', 32054)).toBe(true)
    expect(packet('172.18.0.3', 61000, '10.244.2.8', 80)).toBe(true)
    expect(packet('10.244.2.8', 80, '172.18.0.3', 61000)).toBe(true)
    expect(packet('172.18.0.3', 32054, '172.18.0.254', 40000)).toBe(true)
    expect(packet('172.18.0.254', 40001, '172.18.0.3', 32054)).toBe(false)
    expect(packet('172.18.0.254', 40000, '10.244.2.8', 80)).toBe(false) // no such packet exists
  })

  it('are found by part of a header, by protocol and by id; all that is given must hold', () => {
    expect(isOf({ destinationPort: 32054 })).toBe(true)
    expect(isOf({ source: '10.244.2.9' })).toBe(false)
    expect(isOf({ protocol: 'udp' })).toBe(false)
    expect(matchesConnection(query, {})).toBe(true)
    expect(matchesConnection(query, { ids: [7, 8] })).toBe(true)
    expect(matchesConnection(query, { ids: [7] })).toBe(false)
    expect(matchesConnection(query, { ids: [8], packets: [{ protocol: 'tcp' }] })).toBe(false)
    expect(matchesConnection(query, { packets: [{ protocol: 'tcp' }, { source: '10.244.1.7' }] })).toBe(true)
    expect(matchesConnection(query, { packets: [] })).toBe(false)
  })
})
