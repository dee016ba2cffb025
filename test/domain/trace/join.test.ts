import { describe, expect, test } from 'vitest'
import { joinJourneys } from '../../../src-main/domain/trace/join-journeys.ts'
import { facts, loadEvents } from './load-capture.ts'

describe('a recorded connection through a ClusterIP', () => {
  const events = loadEvents('trace-cluster-ip')
  const { journeys, gaps } = joinJourneys(events, facts)

  test('a journey for each packet, in order, each delivered', () => {
    expect(gaps).toEqual([])
    expect(journeys.map(({ direction, kind, summary }) => `${direction} ${kind} ${summary}`)).toEqual([
      'request first SYN',
      'reply later SYN ACK',
      'request later ACK',
      'request later PSH ACK, 73 bytes',
      'reply later ACK',
      expect.stringMatching(/^reply later PSH ACK, 33\d bytes$/),
      'request later ACK',
      'request later FIN ACK',
      'reply later FIN ACK',
      'request later ACK',
    ])
    expect(new Set(journeys.map(({ verdict }) => verdict))).toEqual(new Set(['delivered']))
    expect(journeys[0]?.reason).toBe('it reached pod c')
    expect(journeys[1]?.reason).toBe('it reached pod a')
  })

  test('nat is consulted once; later conntrack does its work', () => {
    const tables = journeys.map(({ hops }) => new Set(hops.map(({ table }) => table)))
    expect(tables.map((used) => used.has('nat'))).toEqual([true, ...Array(9).fill(false)])
    expect(tables.map((used) => used.has('conntrack'))).toEqual([false, ...Array(9).fill(true)])
  })

  test('the packet goes by both nodes', () => {
    const nodes = journeys.map(({ hops }) => [...new Set(hops.map(({ node }) => node))].join(' '))
    expect(new Set(nodes)).toEqual(new Set(['worker1 worker2', 'worker2 worker1']))
    expect(journeys[1]?.hops[0]?.node).toBe('worker2')
  })

  test('the order in which the hosts were read does not matter', () => {
    const reversed = joinJourneys(new Map([...events].toReversed()), facts)
    expect(reversed.journeys.map(({ summary, hops }) => [summary, hops.length])).toEqual(
      journeys.map(({ summary, hops }) => [summary, hops.length]),
    )
  })

  test('packets that the command did not send are left out', () => {
    const others = new Map([...events].filter(([host]) => host !== 'pod/default/a'))
    expect(joinJourneys(others, facts).journeys).toEqual([])
  })

  test('without its last node’s events a packet is lost, and where is said', () => {
    const cut = new Map([...events].filter(([host]) => host !== 'node/worker2'))
    const [syn] = joinJourneys(cut, facts).journeys
    expect(syn).toMatchObject({
      verdict: 'lost',
      reason: 'it left worker1 for pod c and was not seen there',
    })
  })

  test('events whose walk’s beginning was lost are counted', () => {
    const holed = new Map(
      [...events].map(([host, seen]) => [host, seen.slice(host === 'node/worker1' ? 4 : 0)]),
    )
    expect(joinJourneys(holed, facts).gaps).toHaveLength(1)
  })
})

test('a rejected packet, and the ICMP error that tells its sender', () => {
  const rejecting = {
    ...facts,
    ruleOf: () => ({ number: 1, text: '-j REJECT --reject-with icmp-port-unreachable' }),
  }
  const { journeys } = joinJourneys(loadEvents('trace-no-endpoints'), rejecting)
  expect(journeys).toMatchObject([
    {
      protocol: 'tcp',
      verdict: 'rejected',
      reason: 'rule 1 in filter KUBE-SERVICES on worker1 rejected it with icmp-port-unreachable',
    },
    { protocol: 'icmp', direction: 'reply', summary: 'destination unreachable', verdict: 'delivered' },
  ])
})
