import { expect, it } from 'vitest'
import { formatProbability, formatSavedProbability } from '../../../src-main/domain/kube-proxy/probability.ts'

it.each([
  [1, '1.0000000000'],
  [3, '0.3333333333'],
  [7, '0.1428571429'],
  // An exact tie goes to the even digit, as in Go.
  [2048, '0.0004882812'],
])('the chance of the first of %i endpoints is %s', (count, text) => {
  expect(formatProbability(count)).toBe(text)
})

it.each([
  ['0.3333333333', '0.33333333349'],
  ['0.5000000000', '0.50000000000'],
  ['0.1428571429', '0.14285714272'],
  // 1/4096 is a tie at the eleventh digit, and C's printf rounds it to even.
  ['0.0002441406', '0.00024414062'],
])('%s is saved as %s', (written, saved) => {
  expect(formatSavedProbability(written)).toBe(saved)
})
