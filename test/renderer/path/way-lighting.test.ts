import { expect, test } from 'vitest'
import { buildNetfilterMap } from '../../../src-renderer/path/netfilter-map.ts'
import { linkLight, stationLight, stepOf, WAYS, wayNamed } from '../../../src-renderer/path/way-lighting.ts'

const map = buildNetfilterMap()

test.each(WAYS)('$name is one line of links without a gap', (way) => {
  const lit = map.links.filter((link) => linkLight(way, link) === 'lit')
  expect(lit).toHaveLength(way.stations.length - 1)
})

test.each([
  ['received', ['PREROUTING', 'INPUT']],
  ['forwarded', ['PREROUTING', 'FORWARD', 'POSTROUTING']],
  ['sent', ['OUTPUT', 'POSTROUTING']],
] as const)('%s meets %j', (name, hooks) => {
  const way = wayNamed(name)
  const met = map.hooks.filter(({ hook }) => stationLight(way, hook) === 'lit')
  expect(met.map(({ hook }) => hook)).toEqual(hooks)
  expect(met.map(({ hook }) => stepOf(way, hook))).toEqual(hooks.map((_, at) => at + 1))
})

test('without a way nothing is lit, dimmed or numbered', () => {
  expect(map.links.every((link) => linkLight(undefined, link) === 'plain')).toBe(true)
  expect(map.hooks.every(({ hook }) => stationLight(undefined, hook) === 'plain')).toBe(true)
  expect(stepOf(undefined, 'INPUT')).toBeUndefined()
})
