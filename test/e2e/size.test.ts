import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { whyNoWindow } from './launch-window.ts'

const MOST_BYTES = 700_000

test.skipIf(whyNoWindow())("the window's own JavaScript is at most 700 kB with gzip, all of it", () => {
  const folder = join(process.env['CHAINWALK_PROGRAM'] ?? '', 'out/renderer')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  )
  expect(files.length).toBeGreaterThan(10)
  const bytes = files.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0)
  expect(bytes).toBeLessThanOrEqual(MOST_BYTES)
})
