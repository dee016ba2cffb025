import { expect, test } from 'vitest'
import { LabError } from '../../../src-main/contract/errors.ts'
import type { Problem } from '../../../src-main/domain/kubernetes/problem.ts'
import {
  checkManifest,
  countProblems,
  mergeProblems,
  problemsOf,
} from '../../../src-renderer/manifests/check-manifest.ts'
import { titleOf } from '../../../src-renderer/manifests/examples.ts'
import {
  buildPreview,
  countVerbs,
  explainLine,
  nameNodes,
  parseDiff,
} from '../../../src-renderer/manifests/preview-model.ts'

const DIFF = `*nat
+ :KUBE-SVC-AAAA -
+ -A KUBE-SVC-AAAA ! -s 10.244.0.0/16 -d 10.96.0.10/32 -p tcp -m tcp --dport 80 -j KUBE-MARK-MASQ
  -A KUBE-SERVICES -j KUBE-NODEPORTS
> -A KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS  (moved from 3 to 5)
- *filter
- :KUBE-GONE -
- -A KUBE-GONE -j DROP
`

test('a difference is read table by table; context is left out', () => {
  expect(parseDiff(DIFF)).toEqual([
    {
      table: 'nat',
      added: 1,
      removed: 0,
      lines: [
        { sign: '+', kind: 'chain', chain: 'KUBE-SVC-AAAA', text: ':KUBE-SVC-AAAA -', rule: '' },
        expect.objectContaining({ sign: '+', kind: 'rule', chain: 'KUBE-SVC-AAAA' }),
        expect.objectContaining({ sign: '>', kind: 'rule', chain: 'KUBE-SERVICES' }),
      ],
    },
    {
      table: 'filter',
      added: 0,
      removed: 1,
      lines: [
        { sign: '-', kind: 'chain', chain: 'KUBE-GONE', text: ':KUBE-GONE -', rule: '' },
        { sign: '-', kind: 'rule', chain: 'KUBE-GONE', text: '-A KUBE-GONE -j DROP', rule: '-j DROP' },
      ],
    },
  ])
  expect(parseDiff('')).toEqual([])
})

test('nodes with equal changes stand together, most changes first', () => {
  const few = '*nat\n+ -A KUBE-SEP-X -j DNAT\n'
  const { groups, unchanged } = buildPreview([
    { node: 'control-plane', added: 1, removed: 0, text: few },
    { node: 'worker1', added: 1, removed: 1, text: DIFF },
    { node: 'worker2', added: 1, removed: 0, text: few },
    { node: 'worker3', added: 0, removed: 0, text: '' },
  ])
  expect(groups.map(({ nodes, added, removed }) => ({ nodes, added, removed }))).toEqual([
    { nodes: ['worker1'], added: 1, removed: 1 },
    { nodes: ['control-plane', 'worker2'], added: 1, removed: 0 },
  ])
  expect(unchanged).toEqual(['worker3'])
})

test('every line can be said in words', () => {
  const words = parseDiff(DIFF).flatMap(({ table, lines }) => lines.map((line) => explainLine(line, table)))
  expect(words[0]).toBe('A new chain, KUBE-SVC-AAAA.')
  expect(words[1]).toContain('KUBE-MARK-MASQ')
  expect(words[2]).not.toContain('moved')
  expect(words[3]).toBe('The chain KUBE-GONE goes.')
  for (const sentence of words) expect(sentence).toMatch(/^[A-Z].*\.$/)
})

test('nodes and changes are counted in words', () => {
  expect(nameNodes(['a', 'b', 'c'], 3)).toBe('all 3 nodes')
  expect(nameNodes(['a', 'b'], 3)).toBe('a and b')
  expect(nameNodes(['a'], 1)).toBe('a')
  expect(nameNodes(['a', 'b', 'c', 'd', 'e'], 9)).toBe('a, b, c and 2 more')
  const change = { kind: 'Service', namespace: 'default', name: 'x' }
  expect(
    countVerbs([
      { ...change, verb: 'created' },
      { ...change, verb: 'created' },
      { ...change, verb: 'unchanged' },
    ]),
  ).toBe('2 created, 1 unchanged')
})

const problem = (line: number, message: string, severity: Problem['severity'] = 'error'): Problem => ({
  severity,
  file: 'a.yaml',
  line,
  kind: 'Service',
  name: 'web',
  path: 'spec',
  message,
})

test('the page finds what is wrong while it is typed', () => {
  const text = 'apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  ports:\n  - port: 99999\n'
  const { objects, problems } = checkManifest('a.yaml', text)
  expect(objects).toBe(0)
  expect(problems.some(({ line, severity }) => line === 7 && severity === 'error')).toBe(true)
  expect(checkManifest('a.yaml', '')).toEqual({ objects: 0, problems: [] })
})

test('a refusal of the lab carries its problems, another failure none', () => {
  expect(problemsOf(new LabError('bad-input', 'no', { problems: [problem(3, 'x')] }))).toHaveLength(1)
  expect(problemsOf(new LabError('bad-input', 'no'))).toEqual([])
  expect(problemsOf(new LabError('closed', 'gone', { problems: [problem(3, 'x')] }))).toEqual([])
  expect(problemsOf(new Error('other'))).toEqual([])
})

test('what the page and the lab both say stands once, by line', () => {
  const merged = mergeProblems([problem(9, 'b')], [problem(2, 'a', 'warning'), problem(9, 'b')])
  expect(merged.map(({ line }) => line)).toEqual([2, 9])
  expect(countProblems(merged)).toBe('1 error, 1 warning')
  expect(countProblems([problem(1, 'a'), problem(2, 'b')])).toBe('2 errors')
  expect(countProblems([])).toBe('')
})

test('an example is called by the first sentence of its comment', () => {
  expect(titleOf('# One thing. And more.\n# Try: this\nkind: Pod\n')).toBe('One thing')
  expect(titleOf('# The one with\n# two lines: a list\n')).toBe('The one with two lines')
  expect(titleOf('kind: Pod\n')).toBe('')
})
