import { expect, test } from 'vitest'
import type { ChainListing } from '../../../src-main/contract/counter-messages.ts'
import { Baseline, CounterTrack, HIT_MS, POLICY } from '../../../src-renderer/rules/delta.ts'
import { modelOf } from './goldens.ts'

type Counted = readonly [text: string, packets: number]

function listing(rules: readonly Counted[], policyPackets?: number): ChainListing {
  return {
    table: 'nat',
    chain: 'C',
    references: 1,
    ...(policyPackets === undefined
      ? {}
      : {
          policy: 'ACCEPT',
          counters: { packets: String(policyPackets), bytes: String(policyPackets * 60) },
        }),
    rules: rules.map(([text, packets]) => ({
      text,
      counters: { packets: String(packets), bytes: String(packets * 60) },
    })),
  }
}

test('the first sample hits nothing, the next ones what moved', () => {
  const track = new CounterTrack()
  track.take(
    [
      listing(
        [
          ['a', 5],
          ['b', 1],
        ],
        7,
      ),
    ],
    0,
  )
  expect(track.hitsIn('C', 0)).toBe(0n)
  track.take(
    [
      listing(
        [
          ['a', 5],
          ['b', 4],
        ],
        9,
      ),
    ],
    300,
  )
  expect(track.hitOf('C', 0, 300)).toBeUndefined()
  expect(track.hitOf('C', 1, 300)).toMatchObject({ packets: 3n, bytes: 180n })
  expect(track.hitOf('C', POLICY, 300)).toMatchObject({ packets: 2n })
  expect(track.hitsIn('C', 300)).toBe(5n)
  expect(track.countersOf('C', 1, 'b')).toEqual({ packets: 4n, bytes: 240n })
})

test('a hit is to be seen for a while, over samples that have others', () => {
  const track = new CounterTrack()
  track.take(
    [
      listing([
        ['a', 0],
        ['b', 0],
      ]),
    ],
    0,
  )
  track.take(
    [
      listing([
        ['a', 1],
        ['b', 0],
      ]),
    ],
    300,
  )
  track.take(
    [
      listing([
        ['a', 1],
        ['b', 2],
      ]),
    ],
    600,
  )
  expect(track.hitOf('C', 0, 600)).toMatchObject({ packets: 1n })
  expect(track.isLively(600 + HIT_MS)).toBe(true)
  expect(track.hitOf('C', 0, 301 + HIT_MS)).toBeUndefined()
  expect(track.isLively(601 + HIT_MS)).toBe(false)
})

test('rules are told apart by text when some come or go', () => {
  const track = new CounterTrack()
  track.take(
    [
      listing([
        ['a', 10],
        ['b', 20],
        ['a', 30],
      ]),
    ],
    0,
  )
  track.take(
    [
      listing([
        ['new', 99],
        ['a', 10],
        ['b', 21],
        ['a', 34],
      ]),
    ],
    300,
  )
  expect(track.hitOf('C', 0, 300)).toBeUndefined()
  expect(track.hitOf('C', 1, 300)).toBeUndefined()
  expect(track.hitOf('C', 2, 300)).toMatchObject({ packets: 1n })
  expect(track.hitOf('C', 3, 300)).toMatchObject({ packets: 4n })
})

test('counters of another rule at the same place are not shown', () => {
  const track = new CounterTrack()
  track.take([listing([['a', 10]])], 0)
  expect(track.countersOf('C', 0, 'b')).toBeUndefined()
  expect(track.countersOf('D', 0, 'a')).toBeUndefined()
})

test('zeroed counters are no hit; what they count afterwards is', () => {
  const track = new CounterTrack()
  track.take([listing([['a', 10]])], 0)
  track.take([listing([['a', 0]])], 300)
  expect(track.hitOf('C', 0, 300)).toBeUndefined()
  track.take([listing([['a', 2]])], 600)
  expect(track.hitOf('C', 0, 600)).toMatchObject({ packets: 2n })
})

test('a chain that was out of sight starts anew', () => {
  const track = new CounterTrack()
  track.take([listing([['a', 1]])], 0)
  track.keepOnly(new Set())
  track.take([listing([['a', 50]])], 5000)
  expect(track.hitOf('C', 0, 5000)).toBeUndefined()
})

test('numbers beyond those of JSON stay exact', () => {
  const track = new CounterTrack()
  const at = (packets: string): ChainListing => ({
    ...listing([]),
    rules: [{ text: 'a', counters: { packets, bytes: packets } }],
  })
  track.take([at('18446744073709551610')], 0)
  track.take([at('18446744073709551615')], 300)
  expect(track.hitOf('C', 0, 300)?.packets).toBe(5n)
})

test('since a mark, equal rules count each for itself, and new ones whole', () => {
  const model = modelOf(
    '*nat\n:OUTPUT ACCEPT [4:240]\n[10:600] -A OUTPUT -j RETURN\n[20:1200] -A OUTPUT -j RETURN\nCOMMIT\n',
  )
  const mark = new Baseline(model)
  const now = (packets: bigint) => ({ packets, bytes: packets * 60n })
  expect(mark.since('nat', 'OUTPUT', '-j RETURN', 0, now(11n)).packets).toBe(1n)
  expect(mark.since('nat', 'OUTPUT', '-j RETURN', 1, now(25n)).packets).toBe(5n)
  expect(mark.since('nat', 'OUTPUT', '-j RETURN', 2, now(3n)).packets).toBe(3n)
  expect(mark.since('nat', 'OUTPUT', '-j RETURN', 0, now(2n)).packets).toBe(2n) // zeroed since
  expect(mark.since('filter', 'nowhere', '-j DROP', 0, now(9n)).packets).toBe(9n)
  expect(mark.policySince('nat', 'OUTPUT', now(6n)).packets).toBe(2n)
})
