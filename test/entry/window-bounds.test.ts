import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readBounds, writeBounds } from '../../src-main/entry/electron/window-bounds.ts'

const folder = mkdtempSync(join(tmpdir(), 'chainwalk-bounds-'))
const file = join(folder, 'window.json')
afterAll(() => rmSync(folder, { recursive: true }))

const SCREENS = [
  { x: 0, y: 0, width: 1920, height: 1080 },
  { x: 1920, y: 0, width: 1280, height: 720 },
]

test('what was written is read again, on whichever screen it was', () => {
  for (const bounds of [
    { x: 10, y: 20, width: 1440, height: 900 },
    { x: 1920, y: 0, width: 1280, height: 720 },
    { x: -800, y: 0, width: 960, height: 600 },
  ]) {
    writeBounds(file, bounds)
    expect(readBounds(file, SCREENS)).toEqual(bounds)
  }
})

test.each([
  ['on a screen that is gone', { x: 3300, y: 0, width: 1000, height: 700 }],
  ['its title bar above the screen', { x: 0, y: -40, width: 1000, height: 700 }],
  ['below the screen', { x: 0, y: 1070, width: 1000, height: 700 }],
  ['with a strip at the edge', { x: -900, y: 0, width: 1000, height: 700 }],
  ['too small', { x: 0, y: 0, width: 10, height: 10 }],
  ['larger than every screen', { x: 0, y: 0, width: 2560, height: 1440 }],
  ['with fractions', { x: 0.5, y: 0, width: 1000, height: 700 }],
  ['no numbers', { x: '0', y: 0, width: 1000, height: 700 }],
  ['no object', null],
])('a place that is %s is not used', (_what, bounds) => {
  writeFileSync(file, JSON.stringify(bounds))
  expect(readBounds(file, SCREENS)).toBeUndefined()
})

test('a broken or missing file is no place', () => {
  writeFileSync(file, '{')
  expect(readBounds(file, SCREENS)).toBeUndefined()
  expect(readBounds(join(folder, 'none.json'), SCREENS)).toBeUndefined()
})
