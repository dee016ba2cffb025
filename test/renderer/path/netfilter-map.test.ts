import { expect, test } from 'vitest'
import { HOOKS } from '../../../src-main/domain/iptables/check-jumps.ts'
import { buildNetfilterMap, MAP_HEIGHT, MAP_WIDTH } from '../../../src-renderer/path/netfilter-map.ts'

const map = buildNetfilterMap()

test('each hook lists its tables in the kernel’s order', () => {
  const tables = map.hooks.map(({ hook, cells }) => [hook, ...cells.map(({ table }) => table)])
  expect(tables).toEqual([
    ['PREROUTING', 'raw', 'mangle', 'nat'],
    ['INPUT', 'mangle', 'filter', 'nat'],
    ['FORWARD', 'mangle', 'filter'],
    ['OUTPUT', 'raw', 'mangle', 'nat', 'filter'],
    ['POSTROUTING', 'mangle', 'nat'],
  ])
})

test('everything lies in the picture and nothing on something else', () => {
  const boxes = [...map.hooks, ...map.places]
  for (const { x, y, width, height } of boxes) {
    expect(Math.min(x, y)).toBeGreaterThanOrEqual(0)
    expect(x + width).toBeLessThanOrEqual(MAP_WIDTH)
    expect(y + height).toBeLessThanOrEqual(MAP_HEIGHT)
  }
  boxes.forEach((a, at) => {
    for (const b of boxes.slice(at + 1))
      expect(a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height).toBe(
        false,
      )
  })
})

test('links go level or upright, from the edge of one box to the edge of the next', () => {
  const boxes = new Map<string, { x: number; y: number; width: number; height: number }>([
    ...map.hooks.map((hook) => [hook.hook, hook] as const),
    ...map.places.map((place) => [place.id, place] as const),
  ])
  for (const { from, to, points } of map.links) {
    for (const [at, point] of points.entries()) {
      const next = points[at + 1]
      if (next) expect(point.x === next.x || point.y === next.y).toBe(true)
    }
    for (const [id, point] of [
      [from, points[0]],
      [to, points.at(-1)],
    ] as const) {
      const box = boxes.get(id)
      expect(point?.x).toBeGreaterThanOrEqual(box?.x ?? Number.NaN)
      expect(point?.x).toBeLessThanOrEqual((box?.x ?? 0) + (box?.width ?? 0))
      expect(point?.y).toBeGreaterThanOrEqual(box?.y ?? Number.NaN)
      expect(point?.y).toBeLessThanOrEqual((box?.y ?? 0) + (box?.height ?? 0))
    }
  }
})

test('a link counts only where all of its packets, and no others, meet the hook', () => {
  const counted = map.links.filter(({ countedAt }) => countedAt)
  for (const { to, countedAt } of counted) expect(to).toBe(countedAt)
  for (const { countedAt } of counted) expect(map.links.filter(({ to }) => to === countedAt)).toHaveLength(1)
  expect(HOOKS).toEqual(expect.arrayContaining(counted.map(({ countedAt }) => countedAt)))
})
