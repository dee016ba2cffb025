import { describe, expect, test } from 'vitest'
import {
  assignSlots,
  type Box,
  layoutTopology,
  NO_SLOTS,
  nearestInDirection,
  type TopologyLayout,
} from '../../../src-renderer/topology/topology-layout.ts'
import { buildTopology, type TopologyModel } from '../../../src-renderer/topology/topology-model.ts'
import { linksOf, manyPods, NODES, pod } from './sample-cluster.ts'

const ROOM = { width: 700, height: 344, type: 11 }
const WIDE = { width: 1100, height: 620, type: 11 }

function modelOf(pods = manyPods(0), nodes = NODES): TopologyModel {
  return buildTopology(linksOf(pods, { nodes }), pods, nodes)
}

function layoutOf(model: TopologyModel, room = ROOM): TopologyLayout {
  return layoutTopology(model, assignSlots(model, NO_SLOTS), room)
}

const overlap = (one: Box, other: Box): boolean =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height

const inside = (inner: Box, outer: Box): boolean =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width + 0.01 &&
  inner.y + inner.height <= outer.y + outer.height + 0.01

function expectNoOverlap(layout: TopologyLayout): void {
  const whole = { x: 0, y: 0, width: layout.width, height: layout.height }
  const hosts = [layout.client.box, layout.switch, ...layout.nodes.map(({ box }) => box)]
  expect(faults(hosts, whole)).toEqual([])
  for (const { box, bridge, pods } of layout.nodes)
    expect(faults([bridge, ...pods.map((place) => place.box)], box)).toEqual([])
}

/** Boxes that stick out of the outer one or lie over each other. */
function faults(boxes: readonly Box[], outer: Box): unknown[] {
  return boxes.flatMap((one, index) => [
    ...(inside(one, outer) ? [] : [{ outside: one }]),
    ...boxes.slice(index + 1).flatMap((other) => (overlap(one, other) ? [[one, other]] : [])),
  ])
}

describe('nothing overlaps, whatever the number of pods', () => {
  test.each([ROOM, WIDE, { ...WIDE, type: 14 }])('in $width × $height with type $type', (room) => {
    for (let count = 0; count <= 120; count += count < 20 ? 1 : 5)
      expectNoOverlap(layoutOf(modelOf(manyPods(count)), room))
  })

  test.each([1, 2, 5, 9, 21])('with %i nodes', (count) => {
    const nodes = ['control-plane', ...Array.from({ length: count - 1 }, (_, index) => `worker${index + 1}`)]
    expectNoOverlap(layoutOf(modelOf(count > 2 ? manyPods(20) : [], nodes)))
  })
})

test('twenty pods on two workers fit the smallest view with their names and addresses', () => {
  const layout = layoutOf(modelOf(manyPods(20)))
  expect(layout.detail).toBe('brief')
  expect(layout.height).toBeLessThanOrEqual(ROOM.height)
})

test('a hundred and twenty pods fit the smallest view as marks, and a large one with names', () => {
  expect(layoutOf(modelOf(manyPods(120)))).toMatchObject({ detail: 'mark' })
  expect(layoutOf(modelOf(manyPods(120))).height).toBeLessThanOrEqual(ROOM.height)
  expect(layoutOf(modelOf(manyPods(120)), WIDE).detail).toBe('name')
})

describe('places stay', () => {
  const boxes = (layout: TopologyLayout): Map<string, Box> =>
    new Map(layout.nodes.flatMap(({ pods }) => pods.map((place) => [place.pod.id, place.box] as const)))

  test('when one pod goes', () => {
    const moved: unknown[] = []
    for (let count = 4; count <= 120; count += 14) {
      const pods = manyPods(count)
      const before = modelOf(pods)
      const slots = assignSlots(before, NO_SLOTS)
      const places = boxes(layoutTopology(before, slots, ROOM))
      for (let gone = 0; gone < count; gone += 1) {
        const after = modelOf(pods.toSpliced(gone, 1))
        const now = boxes(layoutTopology(after, assignSlots(after, slots), ROOM))
        moved.push(...[...now].filter(([id, box]) => JSON.stringify(box) !== JSON.stringify(places.get(id))))
      }
    }
    expect(moved).toEqual([])
  })

  test('when a Deployment replaces a pod, the new one takes the free place', () => {
    const pods = manyPods(9)
    const slots = assignSlots(modelOf(pods), NO_SLOTS)
    const replaced = modelOf(pods.with(2, pod('web-7b59b8c6d-fresh', 'worker1', '10.244.1.99')))
    const next = assignSlots(replaced, slots)
    const place = next.byNode.get('worker1')?.places
    expect(place?.get('pod/default/web-7b59b8c6d-fresh')).toBe(1)
    expect(next.byNode.get('worker1')?.capacity).toBe(5)
  })

  test('until more than half of a node is empty: then all move up', () => {
    const pods = manyPods(20)
    const slots = assignSlots(modelOf(pods), NO_SLOTS)
    const few = assignSlots(modelOf(pods.slice(-6)), slots)
    expect(few.byNode.get('worker1')?.capacity).toBe(3)
    expect([...(few.byNode.get('worker1')?.places.values() ?? [])].sort()).toEqual([0, 1, 2])
  })
})

describe('cables', () => {
  test('end at their pod and begin at the lower edge of the bridge', () => {
    for (const { bridge, pods } of layoutOf(modelOf(manyPods(30))).nodes)
      for (const { box, cable } of pods) {
        expect(cable?.points[0]?.y).toBe(bridge.y + bridge.height)
        expect(cable?.points.at(-1)?.x).toBe(box.x)
      }
  })

  test('of two pods never run over each other', () => {
    for (const { pods } of layoutOf(modelOf(manyPods(60))).nodes) {
      const lanes = pods.map(({ cable }) => cable?.points[0]?.x)
      expect(new Set(lanes).size).toBe(pods.length)
    }
  })

  test('of a pod do not cross another pod', () => {
    for (const { pods } of layoutOf(modelOf(manyPods(60))).nodes)
      for (const { cable } of pods) {
        const x = cable?.points[0]?.x ?? 0
        expect(pods.filter(({ box }) => x > box.x && x < box.x + box.width)).toEqual([])
      }
  })

  test('stay inside the picture, also those to a second row of nodes', () => {
    const nodes = ['control-plane', ...Array.from({ length: 13 }, (_, index) => `worker${index + 1}`)]
    const layout = layoutOf(modelOf(manyPods(10), nodes))
    const points = layout.nodes.flatMap(({ cable }) => cable?.points ?? [])
    expect(points.filter(({ x, y }) => x < 0 || y < 0 || x > layout.width || y > layout.height)).toEqual([])
    for (const { cable } of layout.nodes) {
      expect(cable?.points[0]?.x).toBeGreaterThanOrEqual(layout.switch.x)
      expect(cable?.points[0]?.x).toBeLessThan(layout.switch.x + layout.switch.width)
    }
  })

  test('of nodes begin at the switch', () => {
    const layout = layoutOf(modelOf(manyPods(4)))
    for (const { cable } of layout.nodes) {
      const [start] = cable?.points ?? []
      expect(start?.y).toBe(layout.switch.y + layout.switch.height)
      expect(start?.x).toBeGreaterThan(layout.switch.x)
      expect(start?.x).toBeLessThan(layout.switch.x + layout.switch.width)
    }
  })
})

describe('arrow keys', () => {
  const places = new Map<string, Box>([
    ['a', { x: 0, y: 0, width: 10, height: 10 }],
    ['b', { x: 20, y: 0, width: 10, height: 10 }],
    ['c', { x: 6, y: 40, width: 10, height: 10 }],
    ['d', { x: 0, y: 60, width: 10, height: 10 }],
  ])

  test('prefer what is straight ahead', () => {
    expect(nearestInDirection(places, 'a', 'right')).toBe('b')
    expect(nearestInDirection(places, 'a', 'down')).toBe('c')
    expect(nearestInDirection(places, 'd', 'up')).toBe('c')
  })

  test('end at the edge', () => {
    expect(nearestInDirection(places, 'a', 'left')).toBeUndefined()
    expect(nearestInDirection(places, 'nothing', 'left')).toBeUndefined()
  })
})
