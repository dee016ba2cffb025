import { expect, test } from 'vitest'
import type { RulePlace } from '../../../src-main/contract/lab-contract.ts'
import { placeOf, type Row } from '../../../src-renderer/rules/rules-model.ts'
import { golden, goldens, LARGE_MS, modelOf } from './goldens.ts'
import { manyRules } from './many-rules.ts'

const SAVE = [
  '*filter',
  ':INPUT ACCEPT [0:0]',
  ':mine - [0:0]',
  '-A INPUT -s 10.0.0.1/32 -j mine',
  '-A INPUT -s 10.0.0.2/32 -j DROP',
  '-A INPUT -s 10.0.0.1/32 -j mine',
  '-A mine -j RETURN',
  'COMMIT',
  '',
].join('\n')

const place = (chain: string, number: number, text = `rule ${number}`): RulePlace => ({
  table: 'filter',
  chain,
  number,
  text,
})

function written(rows: readonly Row[]): string[] {
  return rows.map((row) => {
    switch (row.kind) {
      case 'head':
        return row.chain
      case 'rule':
        return `${row.chain} ${row.at + 1}`
      case 'missing':
        return `${row.chain} missing ${row.place.number}`
      default:
        return row satisfies never
    }
  })
}

test.each(goldens)('each chain and rule of %s has one row', (_, text) => {
  const model = modelOf(text)
  for (const table of model.tables) {
    const { rows, rowOfRule } = model.layout(table.name)
    expect(rows.filter(({ kind }) => kind === 'head')).toHaveLength(table.chains.length)
    expect(rows.filter(({ kind }) => kind === 'rule')).toHaveLength(table.ruleCount)
    rowOfRule.forEach((at, rule) => {
      expect(rows[at]).toMatchObject({ kind: 'rule', rule })
    })
    rows.forEach((row, at) => {
      const where = placeOf(table.name, row)
      expect(where && model.layout(table.name).rowAt(table, where)).toBe(at)
    })
  }
})

test('one chain alone is its heading and rules', () => {
  const { rows } = modelOf(SAVE).layout('filter')
  expect(written(rows)).toEqual(['INPUT', 'INPUT 1', 'INPUT 2', 'INPUT 3', 'mine', 'mine 1'])
  expect(written(modelOf(SAVE).layout('filter').rowsOf('mine'))).toEqual(['mine', 'mine 1'])
  expect(modelOf(SAVE).layout('filter').rowsOf('nowhere')).toEqual([])
})

test('missing rules stand where kube-proxy had written them, whatever came by hand', () => {
  // Written: 1 (missing), 2, 3 (missing), 4, 5 (missing). By hand: what now is number 2.
  const model = modelOf(SAVE, {
    handMade: [place('INPUT', 2)],
    missing: [place('INPUT', 5), place('INPUT', 1), place('INPUT', 3)],
  })
  expect(written(model.layout('filter').rowsOf('INPUT'))).toEqual([
    'INPUT',
    'INPUT missing 1',
    'INPUT 1',
    'INPUT missing 3',
    'INPUT 2',
    'INPUT 3',
    'INPUT missing 5',
  ])
  expect(model.isHandMade({ table: 'filter', chain: 'INPUT', number: 2 })).toBe(true)
  expect(model.isHandMade({ table: 'nat', chain: 'INPUT', number: 2 })).toBe(false)
})

test('a chain that was deleted by hand keeps its place, with its rules missing', () => {
  const model = modelOf(SAVE, { missing: [place('KUBE-FORWARD', 1), place('KUBE-FORWARD', 2)] })
  const { rows } = model.layout('filter')
  expect(written(rows)).toContain('KUBE-FORWARD')
  expect(written(model.layout('filter').rowsOf('KUBE-FORWARD'))).toEqual([
    'KUBE-FORWARD',
    'KUBE-FORWARD missing 1',
    'KUBE-FORWARD missing 2',
  ])
})

test('a table that is not there has no rows', () => {
  expect(modelOf(SAVE).layout('raw').rows).toEqual([])
})

test('a rule is found again after others came and went, the n-th of equal ones as the n-th', () => {
  const before = modelOf(SAVE)
  const after = modelOf(SAVE.replace('-A INPUT', '-A INPUT -s 10.9.9.9/32 -j DROP\n-A INPUT'))
  const at = (number: number) => ({ table: 'filter', chain: 'INPUT', number })
  expect(after.follow(at(1), before)).toEqual(at(2))
  expect(after.follow(at(3), before)).toEqual(at(4))
  expect(after.follow(at(0), before)).toEqual(at(0))
  expect(before.follow(at(1), after)).toBeUndefined()
})

test('a rule serves the Service of its chain, of where it leads, or of its comment', () => {
  const text = golden('001-seed-http-svc')
  const of = { namespace: 'default', service: 'http-svc' }
  const model = modelOf(text, {
    origins: { 'KUBE-SVC-GM62ZXCOIF6ZCRWU': { role: 'cluster endpoints', ...of } },
  })
  const nat = model.table('nat') ?? expect.fail()
  const services = (chain: string) =>
    nat
      .textsOf(nat.chainAt(chain) ?? -1)
      .map((_, at) => model.serviceOfRule(nat, nat.ruleOf(nat.chainAt(chain) ?? -1, at))?.name)
  expect(services('KUBE-SERVICES')).toEqual(['http-svc', 'http-svc-node-port', undefined])
  expect(services('KUBE-SVC-GM62ZXCOIF6ZCRWU')).toEqual(Array(4).fill('http-svc'))
  expect(services('KUBE-SEP-CSX7IHMEJEFRGWR3')).toEqual(['http-svc-node-port', 'http-svc-node-port'])
})

test(
  '100,000 rules have a row each',
  () => {
    const model = modelOf(manyRules(10_000))
    expect(model.layout('nat').rows).toHaveLength(100_005 + 40_005)
  },
  LARGE_MS,
)

test('restoring takes rules by hand out of kube-proxy’s own chains, and out of no others', () => {
  const handMade = [
    { table: 'nat', chain: 'KUBE-SERVICES', number: 1, text: '-s 192.0.2.1/32 -j RETURN' },
    { table: 'nat', chain: 'KUBE-SVC-AAAAAAAAAAAAAAAA', number: 1, text: '-j RETURN' },
    { table: 'nat', chain: 'KUBE-OF-MINE', number: 1, text: '-j RETURN' },
    { table: 'nat', chain: 'OUTPUT', number: 2, text: '-j RETURN' },
    { table: 'mangle', chain: 'KUBE-SERVICES', number: 1, text: '-j RETURN' },
  ]
  const { lostByRestore } = modelOf(SAVE, { handMade, origins: { 'KUBE-SERVICES': { role: 'node' } } })
  expect(lostByRestore.map(({ table, chain }) => `${table} ${chain}`)).toEqual([
    'nat KUBE-SERVICES',
    'nat KUBE-SVC-AAAAAAAAAAAAAAAA',
  ])
})
