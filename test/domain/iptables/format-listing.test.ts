import { describe, expect, test } from 'vitest'
import { formatCount, formatListing, formatRow } from '../../../src-main/domain/iptables/format-listing.ts'
import { parseSave } from '../../../src-main/domain/iptables/parse-save.ts'
import type { Table } from '../../../src-main/domain/iptables/rule-set.ts'

function tableOf(text: string): Table {
  const table = parseSave(text).ruleSet?.tables[0]
  if (!table) throw new Error('the text of a test must be right')
  return table
}

/** What stands behind the columns. */
function tail(text: string, family: 'ipv4' | 'ipv6' = 'ipv4'): string {
  const start = formatRow({ text: '' }, 1, { family }).length
  return formatRow({ text }, 1, { family }).slice(start).trimStart()
}

describe('counters', () => {
  // Loaded with `iptables-nft-restore -c` and read with `iptables-nft -vnL` (case 50 holds most of them).
  const rounded: [bigint, string][] = [
    [0n, '0'],
    [99_999n, '99999'],
    [100_000n, '100K'],
    [999_999n, '1000K'],
    [9_999_499n, '9999K'],
    [9_999_500n, '10M'],
    [217_000_000n, '217M'],
    [99_999_999_999n, '100G'],
    [12_345_678_901n, '12G'],
    [98_765_432_109_876n, '99T'],
    [18_446_744_073_709_551_615n, '0K'],
    [18_446_744_073_709_551_115n, '18446744T'],
  ]
  test.each(rounded)('%s is shown as %s', (count, shown) => {
    expect(formatCount(count)).toBe(shown)
    expect(formatCount(count, true)).toBe(String(count))
  })
})

const SAVE = `*filter
:INPUT ACCEPT [492000:63000000]
:FORWARD DROP [2947:248000]
:user - [0:0]
[99999:999999] -A INPUT -j user
[1674000:217000000] -A INPUT
-A INPUT -i lo -p tcp -f -j ACCEPT
-A FORWARD ! -s 192.0.2.1/32 ! -d 192.0.2.0/24 ! -i eth0 ! -p gre -m comment --comment "a b" -g user
COMMIT
`

test('a table as iptables -vnL prints it', () => {
  expect(formatListing(tableOf(SAVE))).toBe(
    `Chain INPUT (policy ACCEPT 492K packets, 63M bytes)
 pkts bytes target     prot opt in     out     source               destination         
99999 1000K user       0    --  *      *       0.0.0.0/0            0.0.0.0/0           
1674K  217M            0    --  *      *       0.0.0.0/0            0.0.0.0/0           
    0     0 ACCEPT     6    -f  lo     *       0.0.0.0/0            0.0.0.0/0           

Chain FORWARD (policy DROP 2947 packets, 248K bytes)
 pkts bytes target     prot opt in     out     source               destination         
    0     0 user      !47   --  !eth0  *      !192.0.2.1           !192.0.2.0/24         [goto]  /* a b */

Chain user (2 references)
 pkts bytes target     prot opt in     out     source               destination         
`.replace('!192.0.2.0/24         [goto]', '!192.0.2.0/24        [goto]'),
  )
})

test('one chain, numbered, exact', () => {
  expect(formatListing(tableOf(SAVE), { chain: 'INPUT', exact: true, lineNumbers: true })).toBe(
    `Chain INPUT (policy ACCEPT 492000 packets, 63000000 bytes)
num      pkts      bytes target     prot opt in     out     source               destination         
1       99999   999999 user       0    --  *      *       0.0.0.0/0            0.0.0.0/0           
2     1674000 217000000            0    --  *      *       0.0.0.0/0            0.0.0.0/0           
3           0        0 ACCEPT     6    -f  lo     *       0.0.0.0/0            0.0.0.0/0           
`,
  )
})

test('without -v and -n', () => {
  const service = (port: number) => (port === 80 ? 'http' : undefined)
  const table = tableOf(
    '*filter\n:INPUT DROP [1:2]\n-A INPUT -d 10.0.0.1/32 -p tcp -m tcp --dport 80 -j DROP\nCOMMIT\n',
  )
  expect(formatListing(table, { verbose: false, numeric: false, service })).toBe(`Chain INPUT (policy DROP)
target     prot opt source               destination         
DROP       tcp  --  anywhere             10.0.0.1             tcp dpt:http
`)
})

test('an unknown chain', () => {
  expect(formatListing(tableOf(SAVE), { chain: 'NOPE' })).toBeUndefined()
})

test('IPv6', () => {
  expect(formatRow({ text: '-s fd00::1/128 -j DROP' }, 1, { family: 'ipv6' })).toBe(
    '    0     0 DROP       0    --  *      *       fd00::1              ::/0                ',
  )
  expect(tail('-p ipv6-icmp -m icmp6 --icmpv6-type 1/4 -j ACCEPT', 'ipv6')).toBe('ipv6-icmptype 1 code 4')
})

test('restore spellings are printed as their saved forms', () => {
  expect(tail('-j MARK --or-mark 0x00004000')).toBe('MARK or 0x4000')
  expect(tail('-j MARK --xor-mark 0x00004000')).toBe('MARK xor 0x4000')
  expect(tail('-m mark --mark 0x00004000/0x00004000 -j ACCEPT')).toBe('mark match 0x4000/0x4000')
  expect(tail('-j REJECT')).toBe('reject-with icmp-port-unreachable')
})

test('what the writer does not know appears in its save words', () => {
  expect(tail('-m time --weekdays Mon,Tue -j ACCEPT')).toBe('-m time --weekdays Mon,Tue')
  expect(tail('-m wonder ! --of "the world" -j MAGIC --power 9')).toBe(
    '-m wonder ! --of "the world" --power 9',
  )
  expect(tail('-p tcp -m tcp --new-option 3 -j ACCEPT')).toBe('-m tcp --new-option 3')
  expect(tail('stray -j ACCEPT')).toBe('stray')
})
