import { describe, expect, test } from 'vitest'
import { NO_COUNTERS } from '../../../src-main/domain/iptables/counters.ts'
import { parseSave } from '../../../src-main/domain/iptables/parse-save.ts'
import { rulesByChain } from '../../../src-main/domain/iptables/rule-set.ts'
import { targetOf } from '../../../src-main/domain/iptables/rule-spec.ts'
import { buffersOf, indexRules } from '../../../src-renderer/rules/rule-index.ts'
import { RuleTable } from '../../../src-renderer/rules/rule-table.ts'
import { goldens, LARGE_MS } from './goldens.ts'
import { manyRules } from './many-rules.ts'

function expectSameAsParsed(text: string): void {
  const { ruleSet } = parseSave(text)
  const { tables } = indexRules(text)
  expect(tables.map(({ name }) => name)).toEqual(ruleSet?.tables.map(({ name }) => name))
  for (const [at, parsed] of (ruleSet?.tables ?? []).entries()) {
    const index = tables[at]
    if (!index) throw new Error('a table is missing')
    const table = new RuleTable(text, index)
    const byChain = rulesByChain(parsed)
    expect(table.chains).toEqual(parsed.chains.map(({ name }) => name))
    const targets = parsed.rules.map((rule) => targetOf(rule)?.name)
    parsed.chains.forEach((chain, place) => {
      const rules = byChain.get(chain.name) ?? []
      const ids = rules.map((_, number) => table.ruleOf(place, number))
      expect(table.textsOf(place)).toEqual(rules.map((rule) => rule.text))
      expect(table.headOf(place).policy).toBe(chain.policy)
      expect(ids.map((id) => table.read(id))).toEqual(
        rules.map((rule) => ({ text: rule.text, counters: rule.counters ?? NO_COUNTERS })),
      )
      expect(ids.map((id) => table.numberOf(id))).toEqual(rules.map((_, number) => number + 1))
      expect(ids.map((id) => table.jumpOf(id))).toEqual(
        rules.map((rule) => table.chains.find((name) => name === targetOf(rule)?.name)),
      )
      const referrers = [...table.referrersOf(place)].map((id) => targetOf({ text: table.textOf(id) })?.name)
      expect(referrers).toEqual(targets.filter((name) => name === chain.name))
      expect(table.referencesTo(place)).toBe(referrers.length)
    })
  }
}

describe('the index of a text says what parseSave says', () => {
  test.each(goldens)('%s', (_, text) => {
    expectSameAsParsed(text)
  })

  test('with counters and chains whose rules are not together', () => {
    expectSameAsParsed(
      '# a remark\n*filter\n:INPUT DROP [7:70]\n:mine - [0:0]\n[1:2] -A INPUT -j mine\n[3:4] -A mine -g INPUT\n# between\n[5:6] -A INPUT\nCOMMIT\n',
    )
  })

  test('without a line end, and without rules', () => {
    expectSameAsParsed('*raw\n:OUTPUT ACCEPT [0:0]\nCOMMIT')
  })
})

test('a text that is refused has no tables and says why', () => {
  const { tables, problems } = indexRules('*nat\n-A nowhere\nCOMMIT\n')
  expect(tables).toEqual([])
  expect(problems[0]?.line).toBe(2)
})

test(
  '100,000 rules are indexed whole and move without a copy',
  () => {
    const text = manyRules(10_000)
    const index = indexRules(text)
    const table = new RuleTable(text, index.tables[0] ?? expect.fail())
    expect(table.ruleCount).toBe(100_005)
    const last = table.chainAt('KUBE-SVC-009999AAAAAAAAA0') ?? expect.fail()
    expect(table.sizeOf(last)).toBe(3)
    expect(table.textOf(table.ruleOf(last, 2))).toContain('svc-9999')
    expect(table.ladderOf(table.ruleOf(last, 1))?.leftover).toBeCloseTo(2 / 3)
    const moved = structuredClone(index, { transfer: buffersOf(index) })
    expect(moved.tables[0]?.line.length).toBe(100_005)
    expect(index.tables[0]?.line.length).toBe(0)
  },
  LARGE_MS,
)
