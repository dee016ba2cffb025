import { expect, test } from 'vitest'
import { parseSave } from '../../../src-main/domain/iptables/parse-save.ts'
import { explainSkips } from '../../../src-main/domain/trace/explain-skips.ts'
import { chainEnd, type Hop, type HopPacket, type Journey } from '../../../src-main/domain/trace/journey.ts'

const SAVE = `*filter
:INPUT ACCEPT [0:0]
:FORWARD DROP [0:0]
:OUTPUT ACCEPT [0:0]
:GUARD - [0:0]
-A FORWARD -s 10.9.9.9/32 -j DROP
-A FORWARD -p udp -j GUARD
-A FORWARD -j GUARD
-A FORWARD -m conntrack --ctstate ESTABLISHED -j ACCEPT
-A GUARD -m mark --mark 0x1 -j DROP
-A GUARD -p tcp -m tcp --dport 443 -j ACCEPT
COMMIT
*nat
:PREROUTING ACCEPT [0:0]
:INPUT ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
:PICK - [0:0]
-A PREROUTING -d 10.96.0.9/32 -j PICK
-A PREROUTING -d 10.96.0.10/32 -j PICK
-A PICK -m statistic --mode random --probability 0.50000000000 -j DNAT --to-destination 10.1.0.1:80
-A PICK -p tcp -m tcp -j DNAT --to-destination 10.1.0.2:80
COMMIT
`
const { ruleSet } = parseSave(SAVE)
if (!ruleSet) throw new Error('the rules cannot be read')

const before: HopPacket = {
  src: '10.1.0.7',
  dst: '10.96.0.10',
  sport: 40000,
  dport: 80,
  in: 'cni0',
  out: '',
  mark: 0,
}
const after: HopPacket = { ...before, dst: '10.1.0.2', out: 'cni0' }

function hop(
  hook: string,
  table: string,
  chain: string,
  rule: number | null,
  text: string,
  verdict: string,
): Hop {
  return {
    node: 'w1',
    hook,
    table,
    chain,
    rule,
    text,
    verdict,
    packet: hook === 'PREROUTING' ? before : after,
  }
}

const journey: Journey = {
  id: 1,
  connection: 1,
  protocol: 'tcp',
  direction: 'request',
  kind: 'first',
  summary: 'SYN',
  verdict: 'dropped',
  reason: 'by the policy',
  hops: [
    hop('PREROUTING', 'nat', 'PREROUTING', 2, '-d 10.96.0.10/32 -j PICK', 'JUMP'),
    hop('PREROUTING', 'nat', 'PICK', 2, '-p tcp -m tcp -j DNAT --to-destination 10.1.0.2:80', 'DNAT'),
    hop('FORWARD', 'filter', 'FORWARD', 3, '-j GUARD', 'JUMP'),
    hop('FORWARD', 'filter', 'FORWARD', null, '-P FORWARD DROP', 'DROP'),
  ],
}

const told = (hops: readonly Hop[]) =>
  hops.map(({ chain, skipped = [], skippedCount }) => [
    chain,
    skippedCount,
    skipped.map(({ rule, why }) => `${rule} ${why}`),
  ])

test('each hop tells what its chain asked before, and why that did not match', () => {
  const [explained] = explainSkips([journey], () => ({ ruleSet, localAddresses: [] }))
  const [toPick, pick, toGuard, policy] = told(explained?.hops ?? [])
  expect(toPick).toEqual(['PREROUTING', 1, ['1 destination is 10.96.0.10, the rule wants 10.96.0.9']])
  expect(pick?.slice(0, 2)).toEqual(['PICK', 1])
  expect(pick?.[2]).toEqual([expect.stringMatching(/^1 .*draw/)])
  expect(toGuard).toEqual([
    'FORWARD',
    2,
    ['1 source is 10.1.0.7, the rule wants 10.9.9.9', '2 protocol is TCP, the rule wants UDP'],
  ])
  // After GUARD, which nothing in it ended, FORWARD goes on behind its third rule.
  expect(policy?.slice(0, 2)).toEqual(['FORWARD', 1])
  expect(policy?.[2]).toEqual([expect.stringMatching(/^4 .*new.*established/i)])
})

test('a later packet of the connection is judged by its state', () => {
  const later: Journey = {
    ...journey,
    kind: 'later',
    summary: 'ACK',
    hops: [hop('FORWARD', 'filter', 'FORWARD', 4, '-m conntrack --ctstate ESTABLISHED -j ACCEPT', 'ACCEPT')],
  }
  const [explained] = explainSkips([later], () => ({ ruleSet, localAddresses: [] }))
  expect(explained?.hops[0]?.skippedCount).toBe(3)
})

test('the first packet of a connection is new, whether or not it came to the nat table', () => {
  const stopped = { ...journey, hops: journey.hops.filter(({ table }) => table !== 'nat') }
  const [explained] = explainSkips([stopped], () => ({ ruleSet, localAddresses: [] }))
  const policy = explained?.hops.at(-1)
  expect(policy?.skipped?.map(({ why }) => why)).toEqual([expect.stringMatching(/new.*established/i)])
})

test('what conntrack said of the packet goes before what its place in the connection suggests', () => {
  const policy = journey.hops.at(-1) as Hop
  const invalid: Journey = { ...journey, kind: 'later', hops: [{ ...policy, ctState: 'invalid' }] }
  const [explained] = explainSkips([invalid], () => ({ ruleSet, localAddresses: [] }))
  expect(explained?.hops[0]?.skipped?.at(-1)?.why).toMatch(/invalid.*established/i)
})

test('hops of hosts without rules stay as they are', () => {
  expect(explainSkips([journey], () => undefined)).toEqual([journey])
})

/** A rule set's filter table with these rules, and the journey through it. */
function explainedIn(rules: readonly string[], hops: readonly Hop[]): readonly unknown[] {
  const save = `*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:GUARD - [0:0]\n:LAST - [0:0]\n${rules.join('\n')}\nCOMMIT\n`
  const read = parseSave(save).ruleSet
  if (!read) throw new Error('the rules cannot be read')
  const [explained] = explainSkips([{ ...journey, hops }], () => ({ ruleSet: read, localAddresses: [] }))
  return (explained?.hops ?? []).map(({ chain, rule, skipped = [] }) => [
    `${chain} ${rule ?? 'end'}`,
    skipped.map((skip) => skip.rule),
  ])
}
const filter = (chain: string, rule: number | null, text: string, verdict: string): Hop =>
  hop('FORWARD', 'filter', chain, rule, text, verdict)
const end = (chain: string, caller: string): Hop => ({
  ...filter(chain, null, '', ''),
  ...chainEnd(chain, caller),
})
const policy = filter('FORWARD', null, '-P FORWARD ACCEPT', 'ACCEPT')

test('a chain’s end tells all rules since the last that matched, each time that the chain is entered', () => {
  expect(
    explainedIn(
      [
        '-A FORWARD -j GUARD',
        '-A FORWARD -j GUARD',
        '-A GUARD -p udp -j DROP',
        '-A GUARD -j MARK --set-xmark 0x1/0x1',
        '-A GUARD -p icmp -j DROP',
        '-A GUARD -d 10.9.9.9/32 -j DROP',
      ],
      [
        filter('FORWARD', 1, '-j GUARD', 'JUMP'),
        filter('GUARD', 2, '-j MARK --set-xmark 0x1/0x1', 'MARK'),
        end('GUARD', 'FORWARD'),
        filter('FORWARD', 2, '-j GUARD', 'JUMP'),
        filter('GUARD', 2, '-j MARK --set-xmark 0x1/0x1', 'MARK'),
        end('GUARD', 'FORWARD'),
        policy,
      ],
    ),
  ).toEqual([
    ['FORWARD 1', []],
    ['GUARD 2', [1]],
    ['GUARD end', [3, 4]],
    ['FORWARD 2', []],
    ['GUARD 2', [1]],
    ['GUARD end', [3, 4]],
    ['FORWARD end', []],
  ])
})

test('an empty chain’s end tells none', () => {
  expect(
    explainedIn(
      ['-A FORWARD -j GUARD', '-A FORWARD -p udp -j DROP'],
      [filter('FORWARD', 1, '-j GUARD', 'JUMP'), end('GUARD', 'FORWARD'), policy],
    ),
  ).toEqual([
    ['FORWARD 1', []],
    ['GUARD end', []],
    ['FORWARD end', [2]],
  ])
})

test('rules behind a RETURN or a goto were never asked', () => {
  expect(
    explainedIn(
      ['-A FORWARD -p udp -j DROP', '-A FORWARD -p tcp -j RETURN', '-A FORWARD -p icmp -j DROP'],
      [filter('FORWARD', 2, '-p tcp -j RETURN', 'RETURN'), policy],
    ),
  ).toEqual([
    ['FORWARD 2', [1]],
    ['FORWARD end', []],
  ])
  expect(
    explainedIn(
      ['-A FORWARD -g GUARD', '-A FORWARD -p icmp -j DROP', '-A GUARD -p udp -j DROP'],
      [filter('FORWARD', 1, '-g GUARD', 'GOTO'), end('GUARD', 'FORWARD'), policy],
    ),
  ).toEqual([
    ['FORWARD 1', []],
    ['GUARD end', [1]],
    ['FORWARD end', []],
  ])
})

test('a chain left by RETURN or by goto is asked from its first rule when it is entered anew', () => {
  expect(
    explainedIn(
      [
        '-A FORWARD -j GUARD',
        '-A FORWARD -j GUARD',
        '-A GUARD -p udp -j DROP',
        '-A GUARD -g LAST',
        '-A GUARD -p icmp -j DROP',
        '-A LAST -p udp -j DROP',
        '-A LAST -j RETURN',
      ],
      [
        filter('FORWARD', 1, '-j GUARD', 'JUMP'),
        filter('GUARD', 2, '-g LAST', 'GOTO'),
        filter('LAST', 2, '-j RETURN', 'RETURN'),
        filter('FORWARD', 2, '-j GUARD', 'JUMP'),
        filter('GUARD', 2, '-g LAST', 'GOTO'),
        filter('LAST', 2, '-j RETURN', 'RETURN'),
        policy,
      ],
    ),
  ).toEqual([
    ['FORWARD 1', []],
    ['GUARD 2', [1]],
    ['LAST 2', [1]],
    ['FORWARD 2', []],
    ['GUARD 2', [1]],
    ['LAST 2', [1]],
    ['FORWARD end', []],
  ])
})
