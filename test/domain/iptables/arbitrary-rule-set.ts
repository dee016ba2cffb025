import fc from 'fast-check'
import type {
  ChainName,
  Counters,
  Remark,
  Rule,
  RuleSet,
  Table,
} from '../../../src-main/domain/iptables/rule-set.ts'
import { quoteString, wordsToText } from '../../../src-main/domain/iptables/rule-words.ts'

const u64 = fc.oneof(fc.bigInt(0n, 2n ** 64n - 1n), fc.constantFrom(0n, 2n ** 64n - 1n))
const counters: fc.Arbitrary<Counters> = fc.record({ packets: u64, bytes: u64 })

/** Strings that have broken parsers, and any other without a line end. */
export const nastyString = fc.oneof(
  fc.constantFrom(
    '',
    'COMMIT',
    '# no',
    '*nat',
    ':X - [0:0]',
    '[1:2] -A INPUT',
    '-j DROP',
    '\\',
    '"',
    "'",
    '\\"',
    '! -d',
  ),
  fc.string({ unit: 'binary' }).map((text) => text.replace(/[\n\r]/g, '')),
  fc.string({ unit: fc.constantFrom('"', '\\', "'", ' ', '\t', '-', 'a', 'ä', '🐳') }),
)

const chainName = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,27}$/).map((name) => name as ChainName)
const remark = fc.oneof(
  fc.constant(''),
  nastyString.map((text) => `#${text.replace(/\n/g, '')}`),
)
const remarks = fc.array(remark, { maxLength: 3 })

const ruleText = fc.oneof(
  fc.constant(''),
  nastyString.map((comment) => `-m comment --comment ${quoteString(comment)} -j ACCEPT`),
  fc.array(nastyString, { minLength: 1, maxLength: 6 }).map(wordsToText),
  fc.constantFrom(
    '-j DROP',
    '-m nfacct --nfacct-name  twice -j DROP',
    '-p tcp -m tcp ! --dport 80 -j ACCEPT ',
  ),
)

/** Optional fields are left out, not undefined, as the parser does. */
function tableOf(name: string): fc.Arbitrary<Table> {
  return fc
    .uniqueArray(chainName, { minLength: 0, maxLength: 6 })
    .chain((names) =>
      fc.record({
        chains: fc.tuple(
          ...names.map((chain) =>
            fc.record(
              {
                name: fc.constant(chain),
                policy: fc.constantFrom('ACCEPT', 'DROP'),
                counters,
              },
              { requiredKeys: ['name'], noNullPrototype: true },
            ),
          ),
        ),
        rules:
          names.length === 0
            ? fc.constant([] as Rule[])
            : fc.array(
                fc.record(
                  { chain: fc.constantFrom(...names), text: ruleText, counters },
                  { requiredKeys: ['chain', 'text'], noNullPrototype: true },
                ),
                { maxLength: 12 },
              ),
        head: remarks,
        inside: fc.array(fc.tuple(fc.nat(), remark), { maxLength: 3 }),
      }),
    )
    .map(({ chains, rules, head, inside }) => {
      const lines = chains.length + rules.length
      const placed: Remark[] = inside
        .map(([at, text]) => ({ text, at: at % (lines + 1) }))
        .sort((a, b) => a.at - b.at)
      return {
        name,
        chains,
        rules,
        ...(head.length > 0 ? { head } : {}),
        ...(placed.length > 0 ? { remarks: placed } : {}),
      }
    })
}

export const arbitraryRuleSet: fc.Arbitrary<RuleSet> = fc
  .uniqueArray(fc.constantFrom('raw', 'mangle', 'nat', 'filter', 'security'), { minLength: 1 })
  .chain((names) =>
    fc.record({ tables: fc.tuple(...names.map(tableOf)), tail: remarks, isOpen: fc.boolean() }),
  )
  .map(({ tables, tail, isOpen }) => ({
    tables,
    ...(tail.length > 0 ? { tail } : {}),
    // An empty last line without its line end cannot be told from one with it.
    ...(isOpen && tail.at(-1) !== '' ? { noFinalNewline: true as const } : {}),
  }))
