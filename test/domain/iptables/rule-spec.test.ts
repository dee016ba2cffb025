import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseSave } from '../../../src-main/domain/iptables/parse-save.ts'
import { commentOf, readRule, targetOf } from '../../../src-main/domain/iptables/rule-spec.ts'
import {
  isBalanced,
  quoteString,
  ruleArgs,
  splitWords,
  wordsToText,
} from '../../../src-main/domain/iptables/rule-words.ts'
import { nastyString } from './arbitrary-rule-set.ts'
import { cleanDumps, goldenRestores, goldenSaves } from './corpus.ts'

const rule = (text: string) => readRule({ text })

describe('words', () => {
  test('any words come back from their text', () => {
    fc.assert(
      fc.property(fc.array(nastyString), (args) => {
        expect(ruleArgs({ text: wordsToText(args) })).toEqual(args)
      }),
    )
  })

  test('any string comes back from its quoted form', () => {
    fc.assert(
      fc.property(nastyString, (value) => {
        expect(ruleArgs({ text: `--comment ${quoteString(value)} -j X` })).toEqual([
          '--comment',
          value,
          '-j',
          'X',
        ])
      }),
    )
  })

  test('isBalanced agrees with splitWords', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('"', '\\', ' ', 'a', "'") }), (text) => {
        expect(isBalanced(text)).toBe(!splitWords(text).unbalanced)
      }),
      { numRuns: 3000 },
    )
  })

  test('strings are quoted as iptables-save does', () => {
    expect(quoteString('plain_word-1')).toBe('plain_word-1')
    expect(quoteString('default/web')).toBe('"default/web"')
    expect(quoteString('')).toBe('""')
    expect(quoteString(`a"b'c\\d`)).toBe(`"a\\"b\\'c\\\\d"`)
  })
})

describe('readRule', () => {
  test('a kube-proxy rule', () => {
    expect(
      rule(
        '! -s 10.244.0.0/16 -d 10.96.0.40/32 -p tcp -m comment --comment "shop/web:http cluster IP" -m tcp --dport 80 -j KUBE-MARK-MASQ',
      ),
    ).toEqual({
      source: { value: '10.244.0.0/16', negated: true },
      destination: { value: '10.96.0.40/32', negated: false },
      protocol: { value: 'tcp', negated: false },
      matches: [
        {
          name: 'comment',
          options: [{ name: '--comment', negated: false, values: ['shop/web:http cluster IP'] }],
        },
        { name: 'tcp', options: [{ name: '--dport', negated: false, values: ['80'] }] },
      ],
      target: { name: 'KUBE-MARK-MASQ', goto: false, options: [] },
      unknown: [],
      problems: [],
    })
  })

  test('options go to the module that owns them, in whatever order a restore text has them', () => {
    const spec = rule(
      '-m comment --comment x -m tcp -p tcp -d 10.0.0.1 --dport 80 -m mark ! --mark 0x1 -j DNAT --to-destination 10.1.1.1:1 --random',
    )
    expect(spec.matches.map(({ name, options }) => [name, ...options.map((option) => option.name)])).toEqual([
      ['comment', '--comment'],
      ['tcp', '--dport'],
      ['mark', '--mark'],
    ])
    expect(spec.target?.options.map(({ name, values }) => [name, ...values])).toEqual([
      ['--to-destination', '10.1.1.1:1'],
      ['--random'],
    ])
  })

  test('a protocol brings its match', () => {
    expect(rule('-p udp --dport 53 -j ACCEPT').matches).toEqual([
      { name: 'udp', options: [{ name: '--dport', negated: false, values: ['53'] }] },
    ])
  })

  test('options with two values, negated ones, old and new signs', () => {
    const flags = rule('-p tcp -m tcp ! --tcp-flags SYN,RST SYN -j DROP').matches[0]?.options[0]
    expect(flags).toEqual({ name: '--tcp-flags', negated: true, values: ['SYN,RST', 'SYN'] })
    expect(rule('-s ! 10.0.0.0/8 -p tcp --dport ! 80 -j DROP')).toMatchObject({
      source: { value: '10.0.0.0/8', negated: true },
      matches: [{ name: 'tcp', options: [{ name: '--dport', negated: true, values: ['80'] }] }],
    })
  })

  test('a comment may look like anything', () => {
    expect(commentOf({ text: '-m comment --comment "-j DROP" -j ACCEPT' })).toBe('-j DROP')
    expect(commentOf({ text: '-m comment --comment -j -j ACCEPT' })).toBe('-j')
    expect(commentOf({ text: '-m comment --comment "!" -j ACCEPT' })).toBe('!')
    expect(commentOf({ text: '-m comment --comment one -m comment --comment "the human one" -g x' })).toBe(
      'the human one',
    )
    expect(commentOf({ text: '-j ACCEPT' })).toBeUndefined()
  })

  test('targets', () => {
    expect(targetOf({ text: '-m comment --comment "x -j NO" -j YES' })).toEqual({ name: 'YES', goto: false })
    expect(targetOf({ text: '-g chain' })).toEqual({ name: 'chain', goto: true })
    expect(targetOf({ text: '-j DNAT --to-destination 1.2.3.4' })).toEqual({ name: 'DNAT', goto: false })
    expect(targetOf({ text: '-j FOO -c 1 2' })?.name).toBe('FOO')
    expect(targetOf({ text: '-m comment --comment "x -j NO"' })).toBeUndefined()
    expect(targetOf({ text: '' })).toBeUndefined()
  })

  test('unknown modules keep their words', () => {
    expect(rule('-m wonder ! --of "the world" two --and -s 10.0.0.1 -j MAGIC --power 9')).toMatchObject({
      source: { value: '10.0.0.1', negated: false },
      matches: [
        {
          name: 'wonder',
          options: [
            { name: '--of', negated: true, values: ['the world', 'two'] },
            { name: '--and', negated: false, values: [] },
          ],
        },
      ],
      target: { name: 'MAGIC', options: [{ name: '--power', negated: false, values: ['9'] }] },
      unknown: [],
    })
    expect(rule('stray --dport 80 -j X').unknown).toEqual(['stray', '--dport', '80'])
  })

  test('a missing value is named at its option, not at the next word', () => {
    const spec = rule('-m comment --comment "to clusterIP" -s  -j KUBE-SVC-X')
    expect(spec.problems).toEqual(['-s has no value'])
    expect(spec.target?.name).toBe('KUBE-SVC-X')
  })

  test('every rule of the corpus is placed without rest', () => {
    for (const { title, text } of [...goldenSaves, ...cleanDumps])
      for (const table of parseSave(text).ruleSet?.tables ?? [])
        for (const found of table.rules) {
          const { unknown, problems } = readRule(found)
          expect({ title, text: found.text, unknown, problems }).toMatchObject({ unknown: [], problems: [] })
        }
  })

  test('save and restore texts of a golden mean the same targets', () => {
    const targets = (texts: readonly string[]) => texts.map((text) => targetOf({ text })?.name).sort()
    for (const { title, text } of goldenRestores.slice(0, 20)) {
      if (title.includes('step2')) continue
      const restored = [...text.matchAll(/^-A (KUBE-\S+) (.*)$/gm)].map(([, , words = '']) => words)
      const saved = [
        ...(goldenSaves.find((save) => save.title === title.replace('.rules', '.save'))?.text ?? '').matchAll(
          /^-A (KUBE-\S+) (.*)$/gm,
        ),
      ].map(([, , words = '']) => words)
      expect(targets(restored)).toEqual(targets(saved))
    }
  })

  test('never throws', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(nastyString, fc.constantFrom('-m', '-j', '-s', '!', '--dport', 'tcp', '-p', '-f'))),
        (words) => {
          const text = words.join(' ')
          readRule({ text })
          targetOf({ text })
          commentOf({ text })
        },
      ),
    )
  })
})
