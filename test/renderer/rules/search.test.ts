import { describe, expect, test } from 'vitest'
import { indexRules } from '../../../src-renderer/rules/rule-index.ts'
import { RuleTable } from '../../../src-renderer/rules/rule-table.ts'
import { lowerCase, matchRanges, nextHit, searchRules } from '../../../src-renderer/rules/search.ts'
import { searchRows } from '../../../src-renderer/rules/table-search.ts'
import { golden, goldens, LARGE_MS, modelOf } from './goldens.ts'
import { manyRules } from './many-rules.ts'

function search(text: string, query: string): Int32Array[] {
  return searchRules(lowerCase(text), indexRules(text), query)
}

describe('what is found is what each line by itself holds', () => {
  test.each(goldens)('%s', (_, text) => {
    for (const query of [
      'KUBE-SVC',
      '10.',
      'default/',
      ' -j ',
      'comment "',
      'nothing like it',
      '-A KUBE-SEP',
    ]) {
      const found = search(text, query)
      indexRules(text).tables.forEach((index, at) => {
        const table = new RuleTable(text, index)
        const expected = table.chains.flatMap((chain, place) =>
          table
            .textsOf(place)
            .flatMap((rule, number) =>
              `-A ${chain} ${rule}`.toLowerCase().includes(query.toLowerCase())
                ? [table.ruleOf(place, number)]
                : [],
            ),
        )
        expect([...(found[at] ?? [])].toSorted((a, b) => a - b)).toEqual(expected)
      })
    }
  })
})

test('counters are not looked through, nor do words reach over a line end', () => {
  const text =
    '*filter\n:INPUT ACCEPT [77:0]\n[77:1] -A INPUT -s 1.1.1.1/32\n[0:0] -A INPUT -s 7.7.7.7/32\nCOMMIT\n'
  expect(search(text, '77').map((hits) => [...hits])).toEqual([[]])
  expect(search(text, '7.7').map((hits) => [...hits])).toEqual([[1]])
  expect(search(text, '/32\n[').map((hits) => [...hits])).toEqual([[]])
  expect(search(text, '').map((hits) => [...hits])).toEqual([[]])
})

test('letters whose small form is longer move nothing', () => {
  const text = '*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -m comment --comment "İİİ"\n-A INPUT -j DROP\nCOMMIT\n'
  expect(search(text, 'drop').map((hits) => [...hits])).toEqual([[1]])
  expect(matchRanges('İ DROP', 'drop')).toEqual([{ from: 2, to: 6 }])
})

test('hits are rows, with the headings of chains that fit by name or meaning', () => {
  const text = golden('001-seed-http-svc')
  const of = { namespace: 'default', service: 'http-svc' }
  const model = modelOf(text, {
    origins: { 'KUBE-SEP-C6IB5RPVIEGEDGUL': { role: 'endpoint', ...of, endpoint: '10.244.1.7:80' } },
  })
  const rows = searchRows(model, search(text, 'endpoint 10.244.1.7'), 'endpoint 10.244.1.7')
  const nat = rows.get('nat') ?? expect.fail()
  expect([...nat]).toEqual([model.layout('nat').headAt('KUBE-SEP-C6IB5RPVIEGEDGUL')])
  const many = searchRows(model, search(text, 'kube-services'), 'kube-services')
  for (const found of many.values()) expect([...found]).toEqual([...found].toSorted((a, b) => a - b))
  expect(many.get('nat')).toHaveLength(6)
})

test(
  '100,000 rules: each of ten rules of one Service is found',
  () => {
    const text = manyRules(10_000)
    const lowered = lowerCase(text)
    const index = indexRules(text)
    expect(searchRules(lowered, index, 'svc-7777 ')[0]).toHaveLength(4)
    expect(searchRules(lowered, index, 'default/svc-7777')[0]).toHaveLength(10)
    expect(searchRules(lowered, index, 'default/')[0]).toHaveLength(100_000)
  },
  LARGE_MS,
)

test('next and previous go round', () => {
  const hits = [3, 8, 20]
  expect(nextHit(hits, 3, 1)).toBe(1)
  expect(nextHit(hits, 20, 1)).toBe(0)
  expect(nextHit(hits, 8, -1)).toBe(0)
  expect(nextHit(hits, 3, -1)).toBe(2)
  expect(nextHit(hits, -1, 1)).toBe(0)
  expect(nextHit([], 0, 1)).toBeUndefined()
})
