import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readSite } from '../../src-main/entry/web/site.ts'

let outer: string
let folder: string

beforeAll(() => {
  outer = mkdtempSync(join(tmpdir(), 'chainwalk-site-'))
  folder = join(outer, 'renderer')
  mkdirSync(join(folder, 'assets/deeper'), { recursive: true })
  writeFileSync(join(outer, 'secret.txt'), 'secret')
  writeFileSync(join(folder, 'index.html'), '<!doctype html>')
  writeFileSync(join(folder, '.hidden'), 'hidden')
  writeFileSync(join(folder, 'assets/a-B_9.x.js'), 'export {}')
  writeFileSync(join(folder, 'assets/deeper/style.css'), 'a {}')
  writeFileSync(join(folder, 'loop'), '')
  symlinkSync(join(folder, 'self'), join(folder, 'self'))
})
afterAll(() => {
  rmSync(outer, { recursive: true })
})

test.each([
  ['/', '<!doctype html>', 'text/html; charset=utf-8', 'no-store'],
  ['/index.html', '<!doctype html>', 'text/html; charset=utf-8', 'no-store'],
  [
    '/assets/a-B_9.x.js',
    'export {}',
    'text/javascript; charset=utf-8',
    'private, max-age=31536000, immutable',
  ],
  ['/assets/deeper/style.css', 'a {}', 'text/css; charset=utf-8', 'private, max-age=31536000, immutable'],
])('%s is a file of the window', async (path, body, type, caching) => {
  const answer = await readSite(folder, path)
  expect(answer.status).toBe(200)
  expect(String(answer.body)).toBe(body)
  expect(answer.headers).toMatchObject({ 'content-type': type, 'cache-control': caching })
})

test.each([
  '',
  'index.html',
  '/../secret.txt',
  '/assets/../../secret.txt',
  '/.hidden',
  '/assets',
  '/index.html/',
  '/index.html/x',
  '/a\0b',
  '/a\\b',
  '/ä',
  '/%2e%2e/secret.txt',
  `/${'x'.repeat(400)}`,
])('%j is none', async (path) => {
  expect((await readSite(folder, path)).status).toBe(404)
})

test('a failure of the disk is no missing file', async () => {
  await expect(readSite(folder, '/self')).rejects.toMatchObject({ code: 'ELOOP' })
})
