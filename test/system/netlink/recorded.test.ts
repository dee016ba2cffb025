import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { decodeAddress } from '../../../src-main/system/netlink/address-messages.ts'
import {
  headerLength,
  type MessageView,
  NetlinkDecodeError,
  walkMessages,
} from '../../../src-main/system/netlink/codec.ts'
import {
  decodeConnection,
  decodeConnectionEvent,
} from '../../../src-main/system/netlink/conntrack-messages.ts'
import { decodeLink } from '../../../src-main/system/netlink/link-messages.ts'
import { decodeNeighbour } from '../../../src-main/system/netlink/neighbour-messages.ts'
import {
  decodeChain,
  decodeRuleCounters,
  decodeRuleSetEvent,
} from '../../../src-main/system/netlink/nf-tables-messages.ts'
import { decodeRoute } from '../../../src-main/system/netlink/route-messages.ts'
import { decodeAnswer } from '../../../src-main/system/netlink/socket.ts'

type Decode = (buffer: Buffer, message: MessageView) => unknown

const decoders = {
  links: (b, { start, end, type }) => decodeLink(b, start, end, type),
  addresses: (b, { start, end, type }) => decodeAddress(b, start, end, type),
  routes: (b, { start, end, type }) => decodeRoute(b, start, end, type),
  neighbours: (b, { start, end, type }) => decodeNeighbour(b, start, end, type),
  rules: (b, { start, end }) => decodeRuleCounters(b, start, end),
  chains: (b, { start, end }) => decodeChain(b, start, end),
  'rule-set-events': (b, { start, end, type }) => decodeRuleSetEvent(b, start, end, type),
  connections: (b, { start, end, type }) => decodeConnection(b, start, end, type),
  'connection-events': (b, { start, end, type, flags }) => decodeConnectionEvent(b, start, end, type, flags),
  refusals: (b, message) => decodeAnswer(b, message, 'the request')?.message,
} satisfies Record<string, Decode>
type Recording = keyof typeof decoders

function messagesOf(name: Recording): Buffer[] {
  const text = readFileSync(join(import.meta.dirname, 'recorded', `${name}.json`), 'utf8')
  const { messages } = JSON.parse(text) as { messages: string[] }
  return messages.map((hex) => Buffer.from(hex, 'hex'))
}

function decodeMessage(name: Recording, message: Buffer): unknown {
  let decoded: unknown
  walkMessages(message, message.length, (view) => {
    decoded = decoders[name](message, view)
    return undefined
  })
  return decoded
}

function decodeAll(name: Recording): unknown[] {
  return messagesOf(name).map((message) => decodeMessage(name, message))
}

describe('recorded messages', () => {
  test('of links', () => {
    expect(decodeAll('links')).toMatchObject([
      { index: 1, name: 'lo', kind: undefined, isLoopback: true, isUp: true, mtu: 65536 },
      { index: 2, name: 'cni0', kind: 'bridge', macAddress: '02:00:00:00:00:01', operationalState: 'up' },
      { index: 10, name: 'veth1', kind: 'veth', mtu: 1400, master: 2, peer: 11, hasCarrier: true },
      { index: 11, name: 'eth0', kind: 'veth', mtu: 1500, master: undefined, peer: 10 },
    ])
    expect(decodeAll('links')[2]).toHaveProperty('statistics', {
      rxPackets: expect.any(BigInt) as bigint,
      txPackets: expect.any(BigInt) as bigint,
      rxBytes: expect.any(BigInt) as bigint,
      txBytes: expect.any(BigInt) as bigint,
      rxErrors: 0n,
      txErrors: 0n,
      rxDropped: 0n,
      txDropped: 0n,
    })
  })

  test('of addresses', () => {
    expect(decodeAll('addresses')).toEqual(
      expect.arrayContaining([
        { link: 1, family: 4, address: '127.0.0.1', prefixLength: 8, broadcast: undefined, scope: 'host' },
        {
          link: 2,
          family: 4,
          address: '10.244.1.1',
          prefixLength: 24,
          broadcast: '10.244.1.255',
          scope: 'universe',
        },
        {
          link: 2,
          family: 6,
          address: 'fd00:10:244::1',
          prefixLength: 64,
          broadcast: undefined,
          scope: 'universe',
        },
      ]),
    )
  })

  test('of routes', () => {
    const route = { source: undefined, metric: undefined, table: 254, type: 'unicast', protocol: 3 }
    const plain = { ...route, gateway: undefined, isOnLink: false }
    expect(decodeAll('routes')).toEqual(
      expect.arrayContaining([
        {
          ...plain,
          family: 4,
          destination: '0.0.0.0/0',
          gateway: '10.244.1.9',
          link: 2,
          metric: 50,
          scope: 'universe',
        },
        {
          ...plain,
          family: 4,
          destination: '10.10.0.0/16',
          link: undefined,
          type: 'unreachable',
          scope: 'universe',
        },
        {
          ...plain,
          family: 4,
          destination: '10.244.1.0/24',
          link: 2,
          source: '10.244.1.1',
          protocol: 2,
          scope: 'link',
        },
        {
          ...plain,
          family: 4,
          destination: '10.244.2.0/24',
          gateway: '172.18.0.3',
          link: 2,
          scope: 'universe',
          isOnLink: true,
        },
        {
          ...plain,
          family: 6,
          destination: 'fd00:99::/64',
          gateway: 'fd00:10:244::5',
          link: 2,
          metric: 1024,
          scope: 'universe',
        },
      ]),
    )
  })

  test('of neighbours', () => {
    expect(decodeAll('neighbours')).toContainEqual({
      link: 2,
      address: '172.18.0.3',
      macAddress: '02:00:00:00:00:33',
      state: 0x80,
    })
  })

  test('of refusals', () => {
    expect(decodeAll('refusals')).toEqual([
      'the request: File exists (EEXIST)',
      'the request: Nexthop has invalid gateway (ENETUNREACH)',
      'the request: No such device (ENODEV)',
    ])
  })

  test('of rules', () => {
    // In the order of the chains' making; three datagrams of 34 bytes, and what curl and ping sent.
    expect(decodeAll('rules')).toEqual([
      { handle: 7, packets: 3n, bytes: 102n },
      { handle: 8, packets: 3n, bytes: 102n },
      { handle: 9, packets: 3n, bytes: 102n },
      { handle: 5, packets: 0n, bytes: 0n },
      { handle: 6, packets: 5n, bytes: 246n },
      { handle: 4, packets: 3n, bytes: 102n },
    ])
  })

  test('of chains', () => {
    expect(decodeAll('chains')).toEqual([
      { table: 'nat', name: 'KUBE-SERVICES', handle: 1, base: undefined },
      { table: 'nat', name: 'KUBE-SVC-A', handle: 2, base: undefined },
      ...[
        ['nat', 'PREROUTING', 3, 0, -100, 'nat', 'ACCEPT', 0n, 0n] as const,
        ['nat', 'OUTPUT', 4, 3, -100, 'nat', 'ACCEPT', 2n, 144n] as const,
        ['filter', 'INPUT', 1, 1, 0, 'filter', 'ACCEPT', 10n, 556n] as const,
        ['filter', 'FORWARD', 2, 2, 0, 'filter', 'DROP', 0n, 0n] as const,
        ['filter', 'OUTPUT', 3, 3, 0, 'filter', 'ACCEPT', 10n, 556n] as const,
      ].map(([table, name, handle, hook, priority, type, policy, packets, bytes]) => ({
        table,
        name,
        handle,
        base: { hook, priority, type, policy, counters: { packets, bytes } },
      })),
    ])
  })

  test('of rule set changes', () => {
    const events = decodeAll('rule-set-events')
    expect(events.slice(-6)).toEqual([
      { kind: 'rule', change: 'delete', family: 'ip', table: 'nat', chain: 'KUBE-SVC-A', handle: 8 },
      {
        kind: 'generation',
        generation: 4,
        processId: expect.any(Number) as number,
        processName: 'iptables-nft',
      },
      { kind: 'chain', change: 'new', family: 'ip', table: 'filter', chain: 'GONE', handle: 0 },
      {
        kind: 'generation',
        generation: 5,
        processId: expect.any(Number) as number,
        processName: 'iptables-nft',
      },
      { kind: 'chain', change: 'delete', family: 'ip', table: 'filter', chain: 'GONE', handle: 0 },
      {
        kind: 'generation',
        generation: 6,
        processId: expect.any(Number) as number,
        processName: 'iptables-nft',
      },
    ])
    expect(events[0]).toEqual({
      kind: 'table',
      change: 'new',
      family: 'ip',
      table: 'nat',
      chain: '',
      handle: 0,
    })
    expect(events.filter((event) => event === undefined)).toEqual([])
  })

  test('of connections', () => {
    const connections = decodeAll('connections')
    const udp = connections.find((connection) => (connection as { status: number }).status === 424)
    expect(udp).toEqual({
      family: 4,
      id: expect.any(Number) as number,
      original: {
        source: '127.0.0.1',
        destination: '10.96.0.10',
        protocol: 17,
        sourcePort: expect.any(Number) as number,
        destinationPort: 80,
        icmp: undefined,
      },
      reply: {
        source: '127.0.0.1',
        destination: '127.0.0.1',
        protocol: 17,
        sourcePort: 8080,
        destinationPort: expect.any(Number) as number,
        icmp: undefined,
      },
      status: 424,
      tcpState: undefined,
      mark: 0,
      timeoutSeconds: 29,
      originalCounters: { packets: 1n, bytes: 34n },
      replyCounters: { packets: 0n, bytes: 0n },
    })
    expect(connections).toContainEqual(
      expect.objectContaining({
        original: expect.objectContaining({ protocol: 1, icmp: { id: 18712, type: 8, code: 0 } }) as unknown,
        reply: expect.objectContaining({ protocol: 1, icmp: { id: 18712, type: 0, code: 0 } }) as unknown,
      }),
    )
  })

  test('of connection events', () => {
    const events = decodeAll('connection-events')
    expect(events.map((event) => (event as { change: string }).change)).toEqual([
      'new',
      'new',
      'new',
      'new',
      'destroy',
      'new',
      'update',
      'destroy',
    ])
    expect(events[3]).toMatchObject({
      connection: { tcpState: 'SYN_SENT', original: { destinationPort: 1 } },
    })
    expect(events[4]).toMatchObject({
      connection: { tcpState: 'CLOSE', originalCounters: { packets: 1n, bytes: 60n } },
    })
  })
})

describe('a message that is cut off', () => {
  const names = Object.keys(decoders) as Recording[]

  test.each(names)('is refused by its own length (%s)', (name) => {
    for (const message of messagesOf(name)) {
      for (let length = 1; length < message.length; length += length < 40 ? 1 : 7) {
        const part = message.subarray(0, length)
        // The padding of the last attribute is no part of the message.
        if (length >= message.readUInt32LE(0)) continue
        expect(() => decodeMessage(name, part), `${length} of ${message.length} bytes`).toThrow(
          NetlinkDecodeError,
        )
      }
    }
  })

  test.each(names)('is decoded in part or refused clearly when its length was made to fit (%s)', (name) => {
    for (const message of messagesOf(name)) {
      for (let length = headerLength; length < message.length; length++) {
        const part = Buffer.from(message.subarray(0, length))
        part.writeUInt32LE(length, 0)
        try {
          decodeMessage(name, part)
        } catch (error) {
          expect(error).toBeInstanceOf(NetlinkDecodeError)
        }
      }
    }
  })

  test.each(names)('or has a byte changed never reads outside of it (%s)', (name) => {
    for (const message of messagesOf(name)) {
      for (let at = headerLength; at < message.length; at += 3) {
        const changed = Buffer.from(message)
        changed[at] = 0xff
        try {
          decodeMessage(name, changed)
        } catch (error) {
          expect(error).toBeInstanceOf(NetlinkDecodeError)
        }
      }
    }
  })
})
