import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { diffRuleSets, formatDiff } from '../../../src-main/domain/iptables/diff-rule-sets.ts'
import { parseSave } from '../../../src-main/domain/iptables/parse-save.ts'
import type { RuleSet } from '../../../src-main/domain/iptables/rule-set.ts'
import { shortestEdits } from '../../../src-main/domain/iptables/shortest-edits.ts'
import { arbitraryRuleSet } from './arbitrary-rule-set.ts'
import { goldenSaves } from './corpus.ts'

function ruleSetOf(text: string): RuleSet {
  const { ruleSet } = parseSave(text)
  if (!ruleSet) throw new Error('the text of a test must be right')
  return ruleSet
}

const BEFORE = ruleSetOf(`*nat
:PREROUTING ACCEPT [0:0]
:A - [0:0]
:OLD - [0:0]
[1:1] -A PREROUTING -j A
-A A -j ONE
-A A -j TWO
-A A -j THREE
-A A -j FOUR
-A OLD -j DROP
COMMIT
`)
const AFTER = ruleSetOf(`*nat
:PREROUTING DROP [9:9]
:A - [0:0]
:NEW - [0:0]
[5:5] -A PREROUTING -j A
-A A -j TWO
-A A -j THREE
-A A -j FIVE
-A A -j ONE
-A NEW
COMMIT
*raw
:OUTPUT ACCEPT [0:0]
COMMIT
`)

test('a difference as text', () => {
  expect(formatDiff(diffRuleSets(BEFORE, AFTER))).toBe(`*nat
- :PREROUTING ACCEPT
+ :PREROUTING DROP
- -A A -j FOUR
+ -A A -j FIVE
> -A A -j ONE  (moved from 1 to 4)
- :OLD -
- -A OLD -j DROP
+ :NEW -
+ -A NEW
+ *raw
+ :OUTPUT ACCEPT
`)
})

test('context', () => {
  expect(formatDiff(diffRuleSets(BEFORE, AFTER), { context: 1 })).toContain(
    `  -A A -j THREE\n- -A A -j FOUR\n`,
  )
})

test('counters alone are no difference, and neither is any rule set with itself', () => {
  const counted = ruleSetOf('*nat\n:A ACCEPT [7:7]\n[8:8] -A A -j B\nCOMMIT\n')
  const plain = ruleSetOf('*nat\n:A ACCEPT [0:0]\n-A A -j B\nCOMMIT\n')
  expect(diffRuleSets(counted, plain)).toEqual([])
  fc.assert(
    fc.property(arbitraryRuleSet, (ruleSet) => {
      expect(diffRuleSets(ruleSet, ruleSet)).toEqual([])
    }),
  )
})

test('the rules of the later set can be read off the difference', () => {
  fc.assert(
    fc.property(arbitraryRuleSet, arbitraryRuleSet, (before, after) => {
      for (const { table, chains } of diffRuleSets(before, after))
        for (const { chain, rules } of chains) {
          const textsOf = (ruleSet: RuleSet) =>
            (ruleSet.tables.find(({ name }) => name === table)?.rules ?? [])
              .filter((rule) => rule.chain === chain)
              .map(({ text }) => text)
          expect(rules.filter(({ kind }) => kind !== 'removed').map(({ text }) => text)).toEqual(
            textsOf(after),
          )
          const old = rules.flatMap((rule) => ('before' in rule ? [rule] : []))
          expect(old.sort((a, b) => a.before - b.before).map(({ text }) => text)).toEqual(textsOf(before))
        }
    }),
  )
})

test('one endpoint lost touches the chains concerned only', () => {
  const step = (title: string) => ruleSetOf(goldenSaves.find((save) => save.title === title)?.text ?? '')
  const diff = diffRuleSets(
    step('127-partial-last-endpoint-lost/expected.save'),
    step('127-partial-last-endpoint-lost/expected.step2.save'),
  )
  expect(diff.length).toBeGreaterThan(0)
  expect(diff.flatMap(({ chains }) => chains).length).toBeLessThan(12)
})

describe('shortestEdits', () => {
  function longestCommon(a: readonly string[], b: readonly string[]): number {
    const lengths = Array.from({ length: a.length + 1 }, () => Array<number>(b.length + 1).fill(0))
    for (let i = 1; i <= a.length; i++)
      for (let j = 1; j <= b.length; j++) {
        const row = lengths[i] as number[]
        const above = lengths[i - 1] as number[]
        row[j] = a[i - 1] === b[j - 1] ? (above[j - 1] ?? 0) + 1 : Math.max(above[j] ?? 0, row[j - 1] ?? 0)
      }
    return lengths[a.length]?.[b.length] ?? 0
  }

  test('keeps as much as can be kept, and leads from one list to the other', () => {
    const list = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 40 })
    fc.assert(
      fc.property(list, list, (before, after) => {
        const edits = shortestEdits(before, after)
        expect(edits.filter(({ kind }) => kind === 'kept')).toHaveLength(longestCommon(before, after))
        const rebuilt = edits.flatMap((edit) => (edit.kind === 'removed' ? [] : [after[edit.after]]))
        expect(rebuilt).toEqual(after)
        const old = edits.flatMap((edit) => (edit.kind === 'added' ? [] : [before[edit.before]]))
        expect(old).toEqual(before)
        for (const edit of edits)
          if (edit.kind === 'kept') expect(before[edit.before]).toBe(after[edit.after])
      }),
      { numRuns: 2000 },
    )
  })

  const long = Array.from({ length: 10_000 }, (_, i) => `-j KUBE-SVC-${i}`)
  const others: [string, string[]][] = [
    ['one rule more', [...long.slice(0, 5000), '-j NEW', ...long.slice(5000)]],
    ['all reversed', long.toReversed()],
    ['nothing in common', long.map((text) => `${text}x`)],
    ['every second', long.filter((_, i) => i % 2 === 0)],
    ['shuffled', long.map((_, i) => long[(i * 7919) % long.length] ?? '')],
  ]
  test.each(others)('10,000 rules, %s', (_, after) => {
    const edits = shortestEdits(long, after)
    expect(edits.flatMap((edit) => (edit.kind === 'removed' ? [] : [after[edit.after]]))).toEqual(after)
  })
})
