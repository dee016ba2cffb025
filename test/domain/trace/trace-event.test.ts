import { describe, expect, test } from 'vitest'
import { NetlinkDecodeError } from '../../../src-main/system/netlink/codec.ts'
import { decode, headerLength, loadMessages } from './load-capture.ts'

const messages = loadMessages('trace-cluster-ip')
const events = (host: string) => (messages.get(host) ?? []).map(decode)

describe('trace messages of a recorded connection', () => {
  test('the first event of a walk carries the packet', () => {
    const [first] = events('node/worker1')
    expect(first).toMatchObject({
      table: 'chainwalk_trace',
      chain: 'arrived_PREROUTING',
      type: 'rule',
      verdict: 'ACCEPT',
    })
    expect(first?.packet).toMatchObject({
      outLink: 0,
      mark: 0,
      header: { source: '10.244.1.10', destination: '10.96.1.3', protocol: 6, ttl: 64, destinationPort: 80 },
    })
    expect(first?.packet?.header.tcp).toMatchObject({ flags: 2, acknowledgement: 0 })
    expect(first?.packet?.header.payloadLength).toBe(0)
    expect(first?.packet?.connection).toBeUndefined()
  })

  test('behind conntrack the event names the connection', () => {
    const tracked = events('node/worker1').filter(
      (event) => event?.chain === 'tracked_PREROUTING' && event.packet,
    )
    expect(tracked.map((event) => event?.packet?.connection?.direction)).toContain('reply')
    expect(new Set(tracked.map((event) => event?.packet?.connection?.id)).size).toBe(1)
    expect(tracked[0]?.packet?.connection?.state).toBe('new')
  })

  test('verdicts: jumps name their chain, policies are policies, a chain’s end is no rule', () => {
    const seen = events('node/worker1')
    expect(seen).toContainEqual(
      expect.objectContaining({ table: 'nat', chain: 'PREROUTING', verdict: { jump: 'KUBE-SERVICES' } }),
    )
    expect(seen).toContainEqual(
      expect.objectContaining({ table: 'filter', chain: 'FORWARD', type: 'policy', verdict: 'ACCEPT' }),
    )
    expect(seen.filter((event) => event?.type === 'rule' && event.handle === 0)).toEqual([])
    expect(seen.some((event) => event?.type === 'return')).toBe(true)
  })

  test('every message cut short is refused, or says less', () => {
    const [message] = messages.get('node/worker1') ?? []
    if (!message) throw new Error('nothing is recorded')
    for (let length = headerLength; length < message.length; length += 1) {
      const cut = Buffer.from(message.subarray(0, length))
      cut.writeUInt32LE(length, 0)
      try {
        decode(cut)
      } catch (error) {
        expect(error).toBeInstanceOf(NetlinkDecodeError)
      }
    }
  })
})
