import { expect, test } from 'vitest'
import { shortened, wrapText } from '../../../src-renderer/path/wrap-text.ts'

test('lines break between words', () => {
  expect(wrapText('one two three', 8)).toEqual(['one two', 'three'])
  expect(wrapText('unbreakable', 4)).toEqual(['unbreakable'])
  expect(wrapText('', 4)).toEqual([])
})

test.each([
  ['33 %', '33 %'],
  ['! src 10.244.0.0/16 dst 10.107.38.142 …', '! src 10.244.0.0/16 …'],
  ['dst 198.51.100.14 tcp 8080', 'dst 198.51.100.14 …'],
  ['state RELATED,ESTABLISHED,DNAT', 'state RELATED,ESTABLISH…'],
])('%s is shown as %s', (text, short) => {
  expect(shortened(text, 24)).toBe(short)
})
