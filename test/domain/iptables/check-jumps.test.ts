import { describe, expect, test } from 'vitest'
import { builtinChains, checkJumps, HOOKS, tablesAt } from '../../../src-main/domain/iptables/check-jumps.ts'
import { parseSave } from '../../../src-main/domain/iptables/parse-save.ts'
import { cleanDumps, goldenSaves } from './corpus.ts'

function problemsOf(text: string) {
  const { ruleSet } = parseSave(text)
  if (!ruleSet) throw new Error('the text of a test must be right')
  return checkJumps(ruleSet).map(({ kind, chain, rule }) => [kind, chain, rule])
}

describe('checkJumps', () => {
  test.each(goldenSaves)('no jump of $title leads nowhere', ({ text }) => {
    expect(problemsOf(text).filter(([kind]) => kind !== 'unreachable')).toEqual([])
  })

  test.each(cleanDumps)('nor of $title', ({ text }) => {
    expect(problemsOf(text).filter(([kind]) => kind !== 'unreachable')).toEqual([])
  })

  test('missing targets, by jump and by goto, in the same table only', () => {
    expect(
      problemsOf(`*raw\n:A - [0:0]\nCOMMIT\n*nat
:PREROUTING ACCEPT [0:0]
-A PREROUTING -j ACCEPT
-A PREROUTING -j A
-A PREROUTING -g B
-A PREROUTING -j DNAT --to-destination 1.2.3.4
COMMIT
`),
    ).toEqual([
      ['unreachable', 'A', 0],
      ['missing-target', 'PREROUTING', 2],
      ['missing-target', 'PREROUTING', 3],
    ])
  })

  test('loops, each told once at the jump that closes it', () => {
    expect(
      problemsOf(`*nat
:PREROUTING ACCEPT [0:0]
:A - [0:0]
:B - [0:0]
:C - [0:0]
-A PREROUTING -j A
-A A -j B
-A B -j C
-A C -j DROP
-A C -g A
-A B -j B
COMMIT
`),
    ).toEqual([
      ['loop', 'C', 2],
      ['loop', 'B', 2],
    ])
  })

  test('a chain called twice is no loop', () => {
    expect(
      problemsOf(
        '*nat\n:PREROUTING ACCEPT [0:0]\n:A - [0:0]\n-A PREROUTING -j A\n-A PREROUTING -j A\nCOMMIT\n',
      ),
    ).toEqual([])
  })

  test('built-in chains and extensions that are no place to go', () => {
    expect(
      problemsOf(
        '*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n-A INPUT -j FORWARD\n-A INPUT -g MARK\nCOMMIT\n',
      ),
    ).toEqual([
      ['builtin-target', 'INPUT', 1],
      ['goto-extension', 'INPUT', 2],
    ])
  })

  test('unreachable chains, also a group that only calls itself onward', () => {
    expect(problemsOf('*nat\n:PREROUTING ACCEPT [0:0]\n:A - [0:0]\n:B - [0:0]\n-A A -j B\nCOMMIT\n')).toEqual(
      [
        ['unreachable', 'A', 0],
        ['unreachable', 'B', 0],
      ],
    )
  })

  test('a row of 50,000 chains', () => {
    const count = 50_000
    const chains = Array.from({ length: count }, (_, i) => `:C${i} - [0:0]\n`).join('')
    const rules = Array.from({ length: count - 1 }, (_, i) => `-A C${i} -j C${i + 1}\n`).join('')
    expect(problemsOf(`*nat\n:OUTPUT ACCEPT [0:0]\n${chains}-A OUTPUT -j C0\n${rules}COMMIT\n`)).toEqual([])
  })
})

test('tables in the order of the kernel', () => {
  expect(HOOKS.map((hook) => [hook, ...tablesAt(hook)])).toEqual([
    ['PREROUTING', 'raw', 'mangle', 'nat'],
    ['INPUT', 'mangle', 'filter', 'security', 'nat'],
    ['FORWARD', 'mangle', 'filter', 'security'],
    ['OUTPUT', 'raw', 'mangle', 'nat', 'filter', 'security'],
    ['POSTROUTING', 'mangle', 'nat'],
  ])
  expect(builtinChains('nat')).toEqual(['PREROUTING', 'INPUT', 'OUTPUT', 'POSTROUTING'])
  expect(builtinChains('filter')).toEqual(['INPUT', 'FORWARD', 'OUTPUT'])
  expect(builtinChains('other')).toEqual([])
})
