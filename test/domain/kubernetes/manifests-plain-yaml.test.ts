import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readPlainYaml } from '../../../src-main/domain/kubernetes/read-plain-yaml.ts'
import { readYaml } from '../../../src-main/domain/kubernetes/read-yaml.ts'

const root = new URL('../../', import.meta.url)

function listManifests(folder: string): string[] {
  const names = readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.endsWith('.yaml')).map((name) => `${folder}/${name}`)
}

/** What the fast reader takes, it must read as the library does, without a problem. */
function expectAgreement(text: string): boolean {
  const plain = readPlainYaml(text)
  if (plain === undefined) return false
  const { value, problems } = readYaml(text)
  expect(problems, text).toEqual([])
  expect(plain, text).toEqual(value)
  return true
}

test('reads almost every golden document, and as the library does', { timeout: 60_000 }, () => {
  let total = 0
  let taken = 0
  for (const file of [...listManifests('golden'), ...listManifests('cases')]) {
    const text = readFileSync(new URL(file, root), 'utf8')
    // One big golden holds as many lines as the others together.
    if (text.length > 100_000) continue
    for (const document of text.split(/^---.*\n/m)) {
      total++
      if (expectAgreement(document)) taken++
    }
  }
  expect(taken / total).toBeGreaterThan(0.9)
})

test('leaves everything that is not plain to the library', () => {
  const others = [
    '',
    '# only a comment',
    'a: {b: c}',
    'a: [b]',
    'a: b # comment',
    'a: &x b',
    'a: *x',
    'a: |\n  text',
    'a: "b\\n"',
    "a: 'it''s'",
    'a: b c',
    'a: b\n  c',
    'a: 1\na: 2',
    '<<: *x',
    'on: 1',
    '1: a',
    '- a',
    '- - a',
    'a:\n  - - b',
    'a:\n  -\n    b',
    'a: .inf',
    'a: ~',
    'a: !!str 1',
    'a: -1',
    'a:b',
    'a\n',
    'a: "b" c',
    'a: b:',
    '\ta: b',
    'a:\tb',
    'a: ü',
    '? a',
    'a:\n  - b\n  c: d',
    'a:\n    b: 1\n  c: 2',
  ]
  expect(others.filter((text) => readPlainYaml(text) !== undefined)).toEqual([])
})

const plainScalar = fc.constantFrom(
  ...[
    '1',
    '010',
    '0x1f',
    '08',
    'yes',
    'null',
    'web',
    'nginx:1.27',
    '10.0.0.1',
    'fd00::1',
    '"8080"',
    "'a: b'",
    '""',
  ],
  ...['[]', '{}', '1e3', '1_0', '2024-01-01', '12:30', '.5', '+1', '0', 'a=b', '.', 'a#b', '', '', '', ''],
)
const oddScalar = fc.constantFrom(
  ...[
    '-',
    '- a',
    'a:',
    ':a',
    '#a',
    'a #b',
    '~',
    '...',
    '"',
    "'",
    '{a: b}',
    '*a',
    '&a',
    '!a',
    '|',
    '>',
    '%a',
    '@a',
  ],
  ...['`a', '? a', 'a, b', '/', '<<', '=', '__proto__', '"a" b', 'a: b', '[a', '\\', '"\\"', "''''"],
)
const odd = { weight: 1 } as const
const plain = { weight: 24 } as const
const line = fc
  .tuple(
    fc.oneof(
      { ...plain, arbitrary: fc.constantFrom(0, 0, 2, 2, 4) },
      { ...odd, arbitrary: fc.integer({ min: 0, max: 6 }) },
    ),
    fc.oneof(
      { ...plain, arbitrary: fc.constantFrom('', '', '- ') },
      { ...odd, arbitrary: fc.constantFrom('-   ', '-', '# ', '- - ') },
    ),
    fc.oneof(
      { ...plain, arbitrary: fc.constantFrom(...'abcdefghijklmopqrstuvwxz') },
      {
        ...odd,
        arbitrary: fc.constantFrom('app.kubernetes.io/name', 'on', '"q"', '1', '<<', '__proto__', ''),
      },
    ),
    fc.oneof(
      { ...plain, arbitrary: fc.constantFrom(': ', ':  ') },
      { ...odd, arbitrary: fc.constantFrom(':', ' : ', '') },
    ),
    fc.oneof({ ...plain, arbitrary: plainScalar }, { ...odd, arbitrary: oddScalar }),
    fc.oneof(
      { ...plain, arbitrary: fc.constant('') },
      { ...odd, arbitrary: fc.constantFrom(' ', '\t', ' # c') },
    ),
  )
  .map(([indent, ...parts]) => ' '.repeat(indent) + parts.join(''))

test('agrees with the library on random lines', { timeout: 60_000 }, () => {
  let taken = 0
  const text = fc.array(line, { maxLength: 7 }).map((lines) => lines.join('\n').trimStart())
  fc.assert(
    fc.property(text, (source) => {
      if (expectAgreement(source)) taken++
    }),
    { numRuns: 5000 },
  )
  expect(taken).toBeGreaterThan(250)
})

test('agrees with the library on damaged manifests', { timeout: 60_000 }, () => {
  const source = readFileSync(new URL('golden/052-lb-all-features/manifests.yaml', root), 'utf8')
  const documents = source.split(/^---\n/m)
  const damage = fc.record({
    document: fc.constantFrom(...documents),
    at: fc.nat(600),
    length: fc.nat(4),
    insert: fc.constantFrom('', ' ', '  ', '\n', '-', ':', '#', '- ', '"', '{', '\t', 'x', '\n  '),
  })
  fc.assert(
    fc.property(damage, ({ document, at, length, insert }) => {
      expectAgreement(document.slice(0, at) + insert + document.slice(at + length))
    }),
    { numRuns: 1000 },
  )
})
