import { describe, expect, test } from 'vitest'
import { type CulpritFacts, findCulprit as find } from '../../../src-main/domain/trace/find-culprit.ts'
import type { Hop, HopPacket, Journey } from '../../../src-main/domain/trace/journey.ts'

const packet: HopPacket = {
  src: '10.1.0.7',
  dst: '10.96.0.10',
  sport: 40000,
  dport: 53,
  in: 'cni0',
  out: '',
  mark: 0,
}

function stop(rule: number | null, text: string, verdict: string, more: Partial<Hop> = {}): Hop {
  return {
    node: 'w1',
    hook: 'FORWARD',
    table: 'filter',
    chain: 'GUARD',
    rule,
    text,
    verdict,
    packet,
    ...more,
  }
}

function journey(
  id: number,
  verdict: Journey['verdict'],
  reason: string,
  hop: Hop,
  more: Partial<Journey> = {},
): Journey {
  return {
    id,
    connection: 1,
    protocol: 'udp',
    direction: 'request',
    kind: 'first',
    summary: '5 bytes',
    verdict,
    reason,
    hops: [hop],
    ...more,
  }
}

const accepted = stop(1, '-j ACCEPT', 'ACCEPT')

const facts: CulpritFacts = {
  isWhole: true,
  nodeOfPod: () => 'w1',
  callsIptablesOnBridge: () => true,
  isHairpin: () => true,
  rpFilter: () => 0,
}
const findCulprit = (journeys: readonly Journey[], known: Partial<CulpritFacts> = {}) =>
  find(journeys, { ...facts, ...known })

describe('the culprit', () => {
  test('is a hand-made rule that dropped the packet, told with what it is and how often', () => {
    const drop = stop(2, '-p udp -j DROP', 'DROP')
    expect(
      findCulprit([
        journey(1, 'dropped', 'rule 2 dropped it', drop),
        journey(2, 'dropped', 'rule 2 dropped it', drop, { kind: 'retransmission' }),
      ]),
    ).toMatchObject({
      kind: 'dropped-by-rule',
      sentence: 'The packet was dropped by rule 2 of GUARD (table filter) on w1.',
      proof: [
        'Packet 1 (5 bytes): rule 2 dropped it.',
        'The rule: -A GUARD -p udp -j DROP',
        'It was sent 2 times, with the same end.',
      ],
      at: { journey: 1, hop: 0 },
    })
  })

  test('is a rule that rejects by itself, not for want of endpoints', () => {
    const reject = stop(4, '-m comment --comment "no thanks" -j REJECT', 'REJECT')
    expect(findCulprit([journey(1, 'rejected', 'rule 4 rejected it', reject)])?.kind).toBe('rejected-by-rule')
  })

  test('is an entry of conntrack that leads to a pod of old', () => {
    const nat = stop(null, 'conntrack does what the nat table decided', 'NAT', {
      table: 'conntrack',
      becomes: { ...packet, dst: '10.1.0.99' },
    })
    const found = findCulprit([
      journey(1, 'lost', 'it left w1 for 10.1.0.99, an address that nobody in the lab has', nat, {
        kind: 'later',
      }),
    ])
    expect(found?.kind).toBe('stale-conntrack')
    expect(found?.sentence).toContain('conntrack on w1 still sends this connection to 10.1.0.99:53')
  })

  test('is what stopped the answer where the request came through', () => {
    const drop = stop(1, '-j DROP', 'DROP')
    expect(
      findCulprit([
        journey(1, 'delivered', 'it reached pod b', accepted),
        journey(2, 'dropped', 'rule 1 dropped it', drop, { direction: 'reply', kind: 'later' }),
      ]),
    ).toMatchObject({ kind: 'dropped-by-rule', at: { journey: 2, hop: 0 } })
  })
})

test('a TCP request that nobody answers is lost, unless events of the trace are missing', () => {
  const syn = journey(1, 'delivered', 'it reached pod b', accepted, { protocol: 'tcp' })
  expect(findCulprit([syn])?.kind).toBe('lost')
  expect(findCulprit([syn], { isWhole: false })).toBeUndefined()
  expect(findCulprit([{ ...syn, protocol: 'udp' }])).toBeUndefined()
})

test('where an ICMP error tells that there is no route, the reverse path filter is not asked', () => {
  const lost = journey(1, 'no-route', 'no way', accepted)
  const error = journey(2, 'delivered', 'it reached pod a', accepted, {
    protocol: 'icmp',
    direction: 'reply',
    kind: 'later',
  })
  expect(findCulprit([lost, error], { rpFilter: () => 1 })?.kind).toBe('no-route')
  expect(findCulprit([lost], { rpFilter: () => 1 })?.kind).toBe('reverse-path-filter')
  expect(findCulprit([lost])?.kind).toBe('no-route')
})

test('there is none where an answer came through, nor where a second try did', () => {
  const through = (connection: number, id: number): Journey[] => [
    journey(id, 'delivered', 'it reached pod b', accepted, { connection }),
    journey(id + 1, 'delivered', 'it reached pod a', accepted, {
      connection,
      direction: 'reply',
      kind: 'later',
    }),
  ]
  expect(findCulprit(through(1, 1))).toBeUndefined()
  const failed = journey(1, 'dropped', 'rule 1 dropped it', stop(1, '-j DROP', 'DROP'))
  expect(findCulprit([failed, ...through(2, 2)])).toBeUndefined()
  expect(findCulprit([])).toBeUndefined()
})

describe('a drop without a rule’s number', () => {
  const dropped = (hop: Hop) => findCulprit([journey(1, 'dropped', 'a rule dropped it', hop)])

  test('is the policy’s where the policy decided', () => {
    expect(dropped(stop(null, '-P FORWARD DROP', 'DROP', { chain: 'FORWARD' }))).toMatchObject({
      kind: 'dropped-by-policy',
    })
  })

  test('is not blamed on the policy where the rule has gone meanwhile', () => {
    const finding = dropped(stop(null, 'a rule that has gone meanwhile', 'DROP'))
    expect(finding).toMatchObject({ kind: 'dropped-by-rule' })
    expect(finding?.sentence).toBe(
      'A rule of GUARD (table filter) on w1 that has gone meanwhile dropped the packet.',
    )
  })
})
