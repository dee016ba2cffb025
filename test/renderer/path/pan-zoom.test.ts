import { expect, test } from 'vitest'
import { fitPose, homePose, panPose, revealPose, zoomPose } from '../../../src-renderer/path/pan-zoom.ts'

const drawing = { width: 1000, height: 500 }
const pane = { width: 700, height: 160 }

test('a picture begins at its upper left and is never too small to read', () => {
  expect(homePose(drawing, pane)).toEqual({ x: 12, y: 12, scale: 0.84 })
  expect(homePose(drawing, pane, 1.25).scale).toBeCloseTo(1.05)
  expect(homePose(drawing, { width: 1024, height: 400 }).scale).toBe(1)
  expect(homePose({ width: 0, height: 0 }, { width: 0, height: 0 }).scale).toBeGreaterThan(0)
})

test('fit shows all of it in the middle', () => {
  const { x, y, scale } = fitPose(drawing, pane)
  expect(y + 500 * scale).toBeCloseTo(160 - y)
  expect(x + 1000 * scale).toBeCloseTo(700 - x)
})

test('zoom keeps the point under the pointer', () => {
  const before = { x: 10, y: 20, scale: 1 }
  const after = zoomPose(before, 2, { x: 110, y: 120 })
  expect((110 - after.x) / after.scale).toBe((110 - before.x) / before.scale)
  expect(zoomPose(before, 1e9, { x: 0, y: 0 }).scale).toBe(3)
})

test('nobody drags the picture out of sight', () => {
  const pose = panPose({ x: 0, y: 0, scale: 1 }, { x: -9999, y: 9999 }, drawing, pane)
  expect(pose.x + 1000).toBe(80)
  expect(pose.y).toBe(80)
})

test('what gets the focus comes into sight, and no further', () => {
  const pose = { x: 0, y: 0, scale: 1 }
  expect(revealPose(pose, { x: 100, y: 300, width: 200, height: 20 }, pane)).toEqual({
    x: 0,
    y: -172,
    scale: 1,
  })
  const seen = { x: 100, y: 50, width: 200, height: 20 }
  expect(revealPose(pose, seen, pane)).toEqual(pose)
})
