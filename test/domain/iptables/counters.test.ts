import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffCounters, sumCounters, withoutCounters } from '../../../src-main/domain/iptables/counters.ts'
import { formatSave } from '../../../src-main/domain/iptables/format-save.ts'
import { parseSave } from '../../../src-main/domain/iptables/parse-save.ts'
import type { RuleSet } from '../../../src-main/domain/iptables/rule-set.ts'
import { arbitraryRuleSet } from './arbitrary-rule-set.ts'

function natOf(...lines: string[]): RuleSet {
  const { ruleSet } = parseSave(['*nat', ...lines, 'COMMIT', ''].join('\n'))
  if (!ruleSet) throw new Error('the text of a test must be right')
  return ruleSet
}

test('rules are found again by their text, equal ones in their order', () => {
  const before = natOf(':A ACCEPT [10:100]', '[1:10] -A A -j X', '[2:20] -A A -j X', '[3:30] -A A -j GONE')
  const after = natOf(
    ':A ACCEPT [15:160]',
    '[7:70] -A A -j NEW',
    '[4:40] -A A -j X',
    '[2:20] -A A -j X',
    '[1:10] -A A -j X',
  )
  const [chain] = diffCounters(before, after)
  expect(chain?.policy).toEqual({ packets: 5n, bytes: 60n })
  expect(
    chain?.rules.map(({ rule, text, packets, bytes, isNew }) => [rule, text, packets, bytes, isNew]),
  ).toEqual([
    [1, '-j NEW', 7n, 70n, true],
    [2, '-j X', 3n, 30n, false],
    [3, '-j X', 0n, 0n, false],
    [4, '-j X', 1n, 10n, true],
  ])
})

test('a counter that went back has started anew', () => {
  const [chain] = diffCounters(
    natOf(':A ACCEPT [9:9]', '[100:900] -A A'),
    natOf(':A ACCEPT [1:1]', '[3:30] -A A'),
  )
  expect(chain?.rules[0]).toMatchObject({ packets: 3n, bytes: 30n, wasReset: true })
  expect(chain?.policy).toEqual({ packets: 1n, bytes: 1n })
})

test('nothing is negative, and a rule set has counted nothing since itself', () => {
  fc.assert(
    fc.property(arbitraryRuleSet, arbitraryRuleSet, (before, after) => {
      for (const { policy, rules } of diffCounters(before, after))
        for (const { packets, bytes } of [policy, ...rules]) expect(packets >= 0n && bytes >= 0n).toBe(true)
      const all = diffCounters(after, after).flatMap(({ policy, rules }) => [
        { counters: policy },
        ...rules.map((counters) => ({ counters })),
      ])
      expect(sumCounters(all)).toEqual({ packets: 0n, bytes: 0n })
    }),
  )
})

test('sums do not wrap at 2^64', () => {
  const counters = { packets: 2n ** 64n - 1n, bytes: 1n }
  expect(sumCounters([{ counters }, { counters }, {}])).toEqual({ packets: 2n ** 65n - 2n, bytes: 2n })
})

test('without counters it is what iptables-save prints without -c', () => {
  const counted = natOf(':A ACCEPT [9:9]', '[100:900] -A A -j B')
  expect(formatSave(withoutCounters(counted))).toBe('*nat\n:A ACCEPT [0:0]\n-A A -j B\nCOMMIT\n')
})
