import { expect, test } from 'vitest'
import { chainEnd, type Hop, type HopPacket, type Journey } from '../../../src-main/domain/trace/journey.ts'
import { formatJourneys } from '../../../src-main/domain/trace/journey-text.ts'

const packet: HopPacket = {
  src: '10.1.0.7',
  dst: '10.2.0.8',
  sport: 40000,
  dport: 80,
  in: 'cni0',
  out: 'eth0',
  mark: 0,
}
const at = { node: 'w1', hook: 'FORWARD', table: 'filter', packet }

/** The lines of the hops alone, without the lane. */
function linesOf(...hops: readonly Hop[]): string[] {
  const journey: Journey = {
    id: 1,
    connection: 1,
    protocol: 'tcp',
    direction: 'request',
    kind: 'first',
    summary: 'SYN',
    verdict: 'delivered',
    reason: 'it reached pod c',
    hops,
  }
  return formatJourneys([journey])
    .split('\n')
    .filter((line) => line.startsWith('  │ '))
}

test('a hop says how many rules before it did not match, where there are some', () => {
  const lines = linesOf(
    { ...at, chain: 'FORWARD', rule: 2, text: '-j KUBE-FORWARD', verdict: 'JUMP', skippedCount: 1 },
    { ...at, ...chainEnd('KUBE-FORWARD', 'FORWARD'), skippedCount: 3 },
    { ...at, chain: 'FORWARD', rule: 3, text: '-j KUBE-SERVICES', verdict: 'JUMP' },
    { ...at, ...chainEnd('KUBE-SERVICES', 'FORWARD') },
    { ...at, chain: 'FORWARD', rule: null, text: '-P FORWARD ACCEPT', verdict: 'ACCEPT', skippedCount: 2 },
  )
  expect(lines.map((line) => line.slice(28))).toEqual([
    'FORWARD 2 (after 1 that did not match)  -j KUBE-FORWARD',
    'end of KUBE-FORWARD, back to FORWARD (3 did not match)',
    'FORWARD 3  -j KUBE-SERVICES',
    'end of KUBE-SERVICES, back to FORWARD',
    '-P FORWARD ACCEPT (2 did not match)',
  ])
})

test('the ends of kube-proxy’s chains, and the rules’ places and counts, stand within 100 columns', () => {
  const lines = linesOf(
    { ...at, ...chainEnd('KUBE-EXTERNAL-SERVICES', 'FORWARD'), skippedCount: 10_000 },
    { ...at, ...chainEnd('KUBE-PROXY-FIREWALL', 'FORWARD'), skippedCount: 10_000 },
    { ...at, ...chainEnd('KUBE-FW-ABKZZJLNCX5XTXVP', 'KUBE-SERVICES'), skippedCount: 1 },
    // Its one rule matches everything.
    { ...at, ...chainEnd('KUBE-MARK-MASQ', 'KUBE-SEP-MD276WLPFSUBLVD2') },
  )
  for (const line of lines) expect([...line].length).toBeLessThanOrEqual(100)
  const [rule = ''] = linesOf({
    ...at,
    chain: 'KUBE-SVC-PFDDAWKRM5FH6GK6',
    rule: 10_001,
    text: '-j KUBE-SEP-MD276WLPFSUBLVD2',
    verdict: 'JUMP',
    skippedCount: 10_000,
  })
  expect([...rule].indexOf(')')).toBeLessThan(100)
})
