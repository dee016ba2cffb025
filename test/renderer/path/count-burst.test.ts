import { expect, test } from 'vitest'
import {
  BURST_MS,
  bytesText,
  type CountState,
  countSample,
  gainText,
  strokeOf,
} from '../../../src-renderer/path/count-burst.ts'

function run(...samples: readonly (readonly [packets: number, atMs: number])[]): CountState | undefined {
  let state: CountState | undefined
  for (const [packets, atMs] of samples)
    state = countSample(state, { packets: BigInt(packets), bytes: BigInt(packets * 60) }, atMs)
  return state
}

test('the first sample is no hit', () => {
  expect(run([12, 0])).toMatchObject({ packets: 12n, gained: 0n, hits: 0 })
})

test('a change is a hit; no change is the same state', () => {
  const before = run([12, 0], [15, 250])
  expect(before).toMatchObject({ gained: 3n, hits: 1, hitAtMs: 250 })
  expect(countSample(before, { packets: 15n, bytes: 900n }, 500)).toBe(before)
})

test('samples of one curl add up', () => {
  expect(run([0, 0], [6, 250], [10, 500])).toMatchObject({ gained: 10n, hits: 2 })
})

test('a later curl counts from nothing', () => {
  expect(run([0, 0], [6, 250], [10, 3000])?.gained).toBe(4n)
})

test('lasting traffic starts a new burst after a while', () => {
  const samples = Array.from({ length: 40 }, (_, at) => [at, at * 250] as const)
  expect(run(...samples)?.gained).toBeLessThanOrEqual(BigInt(BURST_MS / 250 + 1))
})

test('a zeroed counter is no hit', () => {
  expect(run([12, 0], [2, 250])).toMatchObject({ packets: 2n, gained: 0n, hits: 0 })
})

test('strokes grow with the logarithm and end at 6', () => {
  const strokes = [0n, 1n, 10n, 1000n, 10n ** 15n].map(strokeOf)
  expect(strokes).toEqual(strokes.toSorted((a, b) => a - b))
  expect(strokes.at(-1)).toBe(6)
  expect(strokeOf(undefined)).toBe(strokeOf(0n))
})

test.each([
  [0n, '0 B'],
  [999n, '999 B'],
  [1200n, '1.2 kB'],
  [45_678n, '46 kB'],
  [3_400_000n, '3.4 MB'],
])('%d bytes are %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text)
})

test('a gain is rounded as iptables rounds', () => {
  expect([0n, 3n, 123_456n].map(gainText)).toEqual(['', '+3', '+123K'])
})
