import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { NO_COUNTERS } from '../../src-main/domain/iptables/counters.ts'
import { formatListing, type ListingOptions } from '../../src-main/domain/iptables/format-listing.ts'
import { formatSave } from '../../src-main/domain/iptables/format-save.ts'
import { parseSave } from '../../src-main/domain/iptables/parse-save.ts'
import type { Counters, Family, RuleSet } from '../../src-main/domain/iptables/rule-set.ts'
import { cleanDumps, goldenSaves } from '../domain/iptables/corpus.ts'

/** The writer follows this release; others print protocols and spacing differently. */
const VERSION = 'v1.8.9'
const TABLES = ['raw', 'mangle', 'nat', 'filter', 'security']
const MARK = '=== '

/** A network namespace that ends with the script in it; nothing of the machine's own rules can be reached. */
const UNSHARE = process.getuid?.() === 0 ? ['--net'] : ['--user', '--map-root-user', '--net']

function whatIsMissing(): string | undefined {
  const { status, stdout, stderr } = spawnSync('unshare', [...UNSHARE, 'iptables-nft', '--version'], {
    encoding: 'utf8',
  })
  if (status !== 0) return `iptables-nft cannot be run in a network namespace of its own: ${stderr ?? ''}`
  return stdout.includes(VERSION)
    ? undefined
    : `the listing is that of iptables ${VERSION}, here is ${stdout.trim()}`
}

interface Listed {
  /** The lines that this kernel or iptables would not take. */
  readonly refused: readonly string[]
  readonly saved: string
  /** By table and the words behind `iptables-nft -t TABLE`. */
  readonly listings: ReadonlyMap<string, string>
}

const LISTINGS: readonly (readonly [string, ListingOptions])[] = [
  ['-v -n -L --line-numbers', { lineNumbers: true }],
  ['-v -n -L -x', { exact: true }],
  ['-n -L', { verbose: false }],
]

/** Loads a text into a fresh namespace, whole or line by line, and reads it back in all forms. */
function loadAndList(
  text: string,
  family: Family,
  byLine: boolean,
  commands: readonly string[],
  tables: readonly string[] = TABLES,
): Listed {
  const tool = family === 'ipv6' ? 'ip6tables-nft' : 'iptables-nft'
  const load = byLine
    ? `table=
while IFS= read -r line; do
  case $line in
    '*'*) table=$line ;;
    COMMIT|'#'*|'') ;;
    *) printf '%s\\n%s\\nCOMMIT\\n' "$table" "$line" | ${tool}-restore -c --noflush 2>/dev/null || printf '%s\\n' "$line" ;;
  esac
done`
    : `${tool}-restore -c || exit 1`
  const lists = tables.flatMap((table) =>
    commands.map((command) => `echo '${MARK}${table} ${command}'; ${tool} -t ${table} ${command} || exit 1`),
  )
  const script = [`echo '${MARK}refused'`, load, `echo '${MARK}save'`, `${tool}-save -c`, ...lists].join('\n')
  const { status, stdout, stderr } = spawnSync('unshare', [...UNSHARE, 'sh', '-c', script], {
    input: text,
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
    maxBuffer: 2 ** 28,
  })
  if (status !== 0) throw new Error(`${tool} did not load the rules: ${stderr}`)
  const parts = new Map(
    stdout.split(MARK).flatMap((part) => {
      const end = part.indexOf('\n')
      return end === -1 ? [] : [[part.slice(0, end), part.slice(end + 1)] as const]
    }),
  )
  const refused = (parts.get('refused') ?? '').split('\n').filter((line) => line !== '')
  return { refused, saved: parts.get('save') ?? '', listings: parts }
}

/** Counters of every magnitude, so that plain, K, M, G and T forms and the rounding between them occur. */
function withManyCounters(ruleSet: RuleSet): RuleSet {
  let step = 0n
  const next = (): Counters => {
    step++
    const packets = (step * 987_654_321n) % 10n ** ((step % 19n) + 1n)
    const bytes = (step * 1_999_999_999n + 500n) % 10n ** (((step * 7n) % 19n) + 1n)
    return { packets, bytes }
  }
  return {
    ...ruleSet,
    tables: ruleSet.tables.map((table) => ({
      ...table,
      chains: table.chains.map((chain) => (chain.policy ? { ...chain, counters: next() } : chain)),
      rules: table.rules.map((rule) => ({ ...rule, counters: next() })),
    })),
  }
}

function ruleSetOf(text: string): RuleSet {
  const { ruleSet, problems } = parseSave(text)
  if (!ruleSet) throw new Error(JSON.stringify(problems))
  return ruleSet
}

function expectEqualListings({ saved, listings }: Listed, family: Family): void {
  for (const table of ruleSetOf(saved).tables)
    for (const [command, options] of LISTINGS) {
      const printed = listings.get(`${table.name} ${command}`)
      expect(formatListing(table, { ...options, family })).toBe(printed)
    }
}

const missing = whatIsMissing()
if (missing !== undefined) {
  test('iptables and network namespaces are there', (context) => {
    if (process.env['CI'] && !missing.startsWith('the listing')) throw new Error(missing)
    context.skip(missing)
  })
}

const commands = LISTINGS.map(([command]) => command)
const familyOf = (title: string): Family => (/ip6/.test(title) ? 'ipv6' : 'ipv4')

describe.skipIf(missing !== undefined)('iptables-nft -L and formatListing print the same', () => {
  test.each(goldenSaves)('golden $title', ({ title, text }) => {
    const counted = withManyCounters(ruleSetOf(text))
    const listed = loadAndList(formatSave(counted), familyOf(title), false, commands)
    expectEqualListings(listed, familyOf(title))
    // What we wrote is what the kernel holds, to the last digit; but ip6tables-nft-restore 1.8.9 takes the counters
    // of rules without a word and leaves them at zero, even with -c.
    const family = familyOf(title)
    const held = ruleSetOf(listed.saved)
    for (const table of counted.tables)
      expect(held.tables.find(({ name }) => name === table.name)?.rules).toEqual(
        family === 'ipv4' ? table.rules : table.rules.map((rule) => ({ ...rule, counters: NO_COUNTERS })),
      )
  })

  /** These need ipsets and nfacct objects that no dump brings along. */
  const needsObjects = /^(02|56)-/
  test.each(cleanDumps.filter(({ title }) => !needsObjects.test(title)))('dump $title', ({ title, text }) => {
    const counted = withManyCounters(ruleSetOf(text))
    expectEqualListings(loadAndList(formatSave(counted), familyOf(title), false, commands), familyOf(title))
  })

  test.each<Family>(['ipv4', 'ipv6'])('hand-made classics, %s', (family) => {
    const file = fileURLToPath(new URL(`../domain/iptables/classics.${family}.rules`, import.meta.url))
    const listed = loadAndList(readFileSync(file, 'utf8'), family, true, commands)
    // A kernel may lack a module or two; most must be there for the comparison to mean anything.
    expect(listed.refused.filter((line) => line.startsWith('-A')).length).toBeLessThan(20)
    expectEqualListings(listed, family)
  })

  test('one chain, and without -n', () => {
    const text =
      '*nat\n:PREROUTING ACCEPT [0:0]\n:A - [0:0]\n[100000:1] -A PREROUTING -i eth0 -p tcp -m tcp --dport 64999 --tcp-flags FIN,SYN,RST,ACK SYN -j A\n' +
      '-A A -p icmp -m icmp --icmp-type 8 -j LOG --log-prefix "p " --log-level 7 --log-uid\n-A A ! -p udp -j RETURN\nCOMMIT\n'
    const { saved, listings } = loadAndList(text, 'ipv4', false, ['-v -n -L A', '-v -L', '-L'], ['nat'])
    const table = ruleSetOf(saved).tables.find(({ name }) => name === 'nat')
    if (!table) throw new Error('nat was loaded')
    expect(formatListing(table, { chain: 'A' })).toBe(listings.get('nat -v -n -L A'))
    expect(formatListing(table, { numeric: false })).toBe(listings.get('nat -v -L'))
    expect(formatListing(table, { numeric: false, verbose: false })).toBe(listings.get('nat -L'))
  })
})
