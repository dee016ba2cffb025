import { expect, test } from 'vitest'
import { isDnsLabel, isDnsSubdomain, isPortName } from '../../../src-main/domain/kubernetes/names.ts'
import type { LabelSelector } from '../../../src-main/domain/kubernetes/objects.ts'
import { matchesSelector } from '../../../src-main/domain/kubernetes/select.ts'

const labels = { app: 'web', tier: 'front', empty: '' }

test("a Service's selector is a map that must match as a whole", () => {
  expect(matchesSelector({ app: 'web' }, labels)).toBe(true)
  expect(matchesSelector({ app: 'web', tier: 'front' }, labels)).toBe(true)
  expect(matchesSelector({ app: 'web', tier: 'back' }, labels)).toBe(false)
  expect(matchesSelector({ other: '' }, labels)).toBe(false)
  expect(matchesSelector({ toString: 'x' }, labels)).toBe(false)
  expect(matchesSelector({}, labels)).toBe(false)
  expect(
    matchesSelector({ matchExpressions: 'x', matchLabels: 'y' }, { matchExpressions: 'x', matchLabels: 'y' }),
  ).toBe(true)
})

test('a label selector has expressions too, and is open when empty', () => {
  const select = (matchExpressions: LabelSelector['matchExpressions'], matchLabels = {}) => {
    return matchesSelector({ matchLabels, matchExpressions }, labels)
  }
  expect(select([])).toBe(true)
  expect(select([], { app: 'web' })).toBe(true)
  expect(select([], { app: 'api' })).toBe(false)
  expect(select([{ key: 'app', operator: 'In', values: ['api', 'web'] }])).toBe(true)
  expect(select([{ key: 'app', operator: 'NotIn', values: ['api', 'web'] }])).toBe(false)
  expect(select([{ key: 'none', operator: 'NotIn', values: ['x'] }])).toBe(true)
  expect(select([{ key: 'none', operator: 'In', values: ['x'] }])).toBe(false)
  expect(select([{ key: 'empty', operator: 'Exists', values: [] }])).toBe(true)
  expect(select([{ key: 'app', operator: 'DoesNotExist', values: [] }])).toBe(false)
  expect(select([{ key: 'app', operator: 'Exists', values: [] }], { tier: 'back' })).toBe(false)
})

test('names', () => {
  expect(['a', 'a-1', '1a', 'a'.repeat(63)].filter((name) => !isDnsLabel(name))).toEqual([])
  expect(['', '-a', 'a-', 'a.b', 'A', 'a_b', 'a\n', 'a'.repeat(64)].filter(isDnsLabel)).toEqual([])
  expect(['a.b', 'a', `${'a.'.repeat(126)}a`].filter((name) => !isDnsSubdomain(name))).toEqual([])
  expect(['a..b', '.a', 'a.', '', 'a.-b'].filter(isDnsSubdomain)).toEqual([])
  expect(['a', 'http', '8080a', 'a-b'].filter((name) => !isPortName(name))).toEqual([])
  expect(['', '8080', 'a--b', '-a', 'a'.repeat(16), 'A'].filter(isPortName)).toEqual([])
})
