import { expect, test } from 'vitest'
import { KeptLines } from '../../../src-renderer/trace/kept-lines.ts'

test('lines come whole, however the text was cut', () => {
  const kept = new KeptLines(10)
  for (const piece of ['one\ntw', 'o\n', '\nfo']) kept.add(piece)
  expect(kept.lines).toEqual(['one', 'two', '', 'fo'])
  kept.add('ur\n')
  expect(kept.lines).toEqual(['one', 'two', '', 'four'])
  expect(kept.isShortened).toBe(false)
})

test('the last ones are kept, and that others went is known', () => {
  const kept = new KeptLines(3)
  kept.add('1\n2\n3\n')
  expect(kept.isShortened).toBe(false)
  kept.add('4\n5')
  expect(kept.lines).toEqual(['2', '3', '4', '5'])
  expect(kept.isShortened).toBe(true)
})
