import { expect, test } from 'vitest'
import type { LinkCounters } from '../../../src-main/contract/lab-contract.ts'
import { formatBytes, formatCount, RateWindow } from '../../../src-renderer/topology/link-rates.ts'
import { fitView, keepInSight, reveal, zoomAt } from '../../../src-renderer/topology/stage-view.ts'

const counters = (id: string, packets: number): LinkCounters => ({
  id,
  rxPackets: String(packets),
  txPackets: '0',
  rxBytes: String(packets * 100),
  txBytes: '0',
})

test('the first sample tells no rate, the second does', () => {
  const window = new RateWindow()
  expect(window.add(0, [counters('a', 5)]).get('a')).toBeUndefined()
  expect(window.add(500, [counters('a', 10)]).get('a')).toEqual({
    rxPackets: 10,
    txPackets: 0,
    rxBytes: 1000,
    txBytes: 0,
    fresh: 5,
  })
})

test('one burst stays readable for two seconds, and lights up once', () => {
  const window = new RateWindow()
  window.add(0, [counters('a', 0)])
  expect(window.add(500, [counters('a', 10)]).get('a')).toMatchObject({ rxPackets: 20, fresh: 10 })
  // The lab tells nothing further.
  const rates = [500, 1000, 1500, 2000, 2500].map((since) => window.later(since).get('a'))
  expect(rates.map((rate) => rate?.fresh)).toEqual([0, 0, 0, 0, 0])
  expect(rates.map((rate) => rate?.rxPackets)).toEqual([10, 10 / 1.5, 5, 0, 0])
})

test('an even stream has an even rate, whatever the looks’ distance', () => {
  const window = new RateWindow()
  const rates: number[] = []
  let atMs = 0
  for (const step of [500, 620, 1030, 510, 990, 700, 510, 1100, 500, 640]) {
    atMs += step
    rates.push(window.add(atMs, [counters('a', atMs / 10)]).get('a')?.rxPackets ?? 0)
  }
  for (const rate of rates.slice(1)) expect(rate).toBeCloseTo(100, 5)
})

test('after a quiet time a single curl is not spread over it', () => {
  const window = new RateWindow()
  window.add(0, [counters('a', 0)])
  window.add(500, [counters('a', 1)])
  expect(window.add(60_000, [counters('a', 11)]).get('a')?.rxPackets).toBe(5)
})

test('a link that is made anew under the same name does not count backwards', () => {
  const window = new RateWindow()
  window.add(0, [counters('a', 1000)])
  expect(window.add(500, [counters('a', 3)]).get('a')).toBeUndefined()
  expect(window.add(1000, [counters('a', 4)]).get('a')).toMatchObject({ rxPackets: 2, fresh: 1 })
})

test('counts that a number cannot hold are still subtracted exactly', () => {
  const window = new RateWindow()
  const huge = (packets: string): LinkCounters => ({ ...counters('a', 0), rxPackets: packets })
  window.add(0, [huge('18446744073709551610')])
  expect(window.add(1000, [huge('18446744073709551613')]).get('a')?.rxPackets).toBe(3)
})

test('rates are written short', () => {
  expect([0, 0.04, 0.5, 2, 12.4, 999, 999.9, 1234, 56_789, 2.5e6, 3e9].map(formatCount)).toEqual([
    '0',
    '<0.1',
    '0.5',
    '2',
    '12',
    '999',
    '1k',
    '1.2k',
    '57k',
    '2.5M',
    '3G',
  ])
  expect([0, 840, 1234].map(formatBytes)).toEqual(['0 B/s', '840 B/s', '1.2 kB/s'])
})

test('the stage shows all, zooms around a point, and never loses the picture', () => {
  const picture = { width: 1000, height: 400 }
  const stage = { width: 500, height: 400 }
  expect(fitView(picture, stage)).toEqual({ x: 0, y: 0, zoom: 0.5 })
  expect(fitView({ width: 300, height: 200 }, stage)).toEqual({ x: 100, y: 0, zoom: 1 })
  const view = zoomAt({ x: 0, y: 0, zoom: 1 }, 2, { x: 100, y: 50 })
  expect(view).toEqual({ x: -100, y: -50, zoom: 2 })
  const lost = keepInSight({ x: 9000, y: -9000, zoom: 1 }, picture, stage)
  expect(lost).toEqual({ x: 440, y: -340, zoom: 1 })
  expect(reveal({ x: 0, y: 0, zoom: 1 }, { x: 600, y: 10, width: 50, height: 20 }, stage)).toEqual({
    x: -150,
    y: 0,
    zoom: 1,
  })
})
