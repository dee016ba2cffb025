import { expect, test } from 'vitest'
import { chainEnd, type Hop, type HopPacket, type Journey } from '../../../src-main/domain/trace/journey.ts'
import { formatJourneysMarkdown } from '../../../src-main/domain/trace/journey-markdown.ts'
import { formatJourneySvg } from '../../../src-main/domain/trace/journey-svg.ts'

const packet: HopPacket = {
  src: '10.1.0.7',
  dst: '10.96.0.10',
  sport: 40000,
  dport: 80,
  in: 'cni0',
  out: '',
  mark: 0,
}
const place = { node: 'w1', hook: 'PREROUTING', table: 'nat', packet }
const hops: Hop[] = [
  {
    ...place,
    chain: 'KUBE-MARK-MASQ',
    rule: 1,
    text: '-j MARK --or-mark 0x4000',
    verdict: 'MARK',
    becomes: { ...packet, mark: 0x4000 },
  },
  {
    ...place,
    chain: 'SEP',
    rule: 2,
    text: '-m comment --comment "a|b <c>" -j DNAT --to-destination 10.1.0.2:8080',
    verdict: 'DNAT',
    becomes: { ...packet, dst: '10.1.0.2', dport: 8080 },
  },
]
const journey: Journey = {
  id: 3,
  connection: 1,
  protocol: 'tcp',
  direction: 'request',
  kind: 'first',
  summary: 'SYN',
  verdict: 'delivered',
  reason: 'it reached pod <b>',
  hops,
}

test('Markdown: a row a step, what it changed in bold, cells that no rule can break', () => {
  const lines = formatJourneysMarkdown([journey]).split('\n')
  expect(lines[0]).toBe('## Packet 3: tcp request, SYN')
  expect(lines[2]).toBe('First packet of its connection. **delivered**: it reached pod <b>.')
  expect(lines.slice(6, 8)).toEqual([
    '| 1 | w1 | PREROUTING | nat | `KUBE-MARK-MASQ` | 1 | MARK **mark 0x0 → 0x4000**: `-j MARK --or-mark 0x4000` |',
    '| 2 | w1 | PREROUTING | nat | `SEP` | 2 | DNAT **dst 10.96.0.10:80 → 10.1.0.2:8080**: `-m comment --comment "a\\|b <c>" -j DNAT --to-destination 10.1.0.2:8080` |',
  ])
})

test('Markdown begins with the finding, where there is one', () => {
  const text = formatJourneysMarkdown([journey], {
    kind: 'closed-port',
    sentence: 'Nothing listens.',
    proof: ['An RST came.'],
    remedy: 'Start it.',
  })
  expect(text).toMatch(
    /^## Why it failed\n\nNothing listens\.\n\n- An RST came\.\n\nWhat to do: Start it\.\n\n## Packet 3/,
  )
})

test('SVG: well-formed, with each step, its change, and no text taken for markup', () => {
  const svg = formatJourneySvg(journey)
  expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" [^>]+>\n/)
  expect(svg).toContain('>dst 10.96.0.10:80 → 10.1.0.2:8080</text>')
  expect(svg).toContain('>mark 0x0 → 0x4000</text>')
  expect(svg).toContain('delivered: it reached pod &lt;b&gt;')
  const opened = svg.match(/<text /g)?.length
  expect(svg.match(/<\/text>/g)?.length).toBe(opened)
})

test('a chain’s end is told from a policy and from a rule that says RETURN', () => {
  const at = { node: 'w1', hook: 'FORWARD', table: 'filter', packet }
  const ended: Journey = {
    ...journey,
    hops: [
      { ...at, chain: 'KUBE-FORWARD', rule: 2, text: '-j RETURN', verdict: 'RETURN' },
      { ...at, ...chainEnd('KUBE-FORWARD', 'FORWARD') },
      { ...at, chain: 'FORWARD', rule: null, text: '-P FORWARD ACCEPT', verdict: 'ACCEPT' },
    ],
  }
  expect(formatJourneysMarkdown([ended]).split('\n').slice(6, 9)).toEqual([
    '| 1 | w1 | FORWARD | filter | `KUBE-FORWARD` | 2 | RETURN: `-j RETURN` |',
    '| 2 | w1 | FORWARD | filter | `KUBE-FORWARD` |  | RETURN: `end of KUBE-FORWARD, back to FORWARD` |',
    '| 3 | w1 | FORWARD | filter | `FORWARD` |  | ACCEPT: `-P FORWARD ACCEPT` |',
  ])
  const names = [...formatJourneySvg(ended).matchAll(/>(KUBE-FORWARD \w+|FORWARD \w+)<\/text>/g)]
  expect(names.map(([, name]) => name)).toEqual([
    'FORWARD filter',
    'KUBE-FORWARD 2',
    'KUBE-FORWARD end',
    'FORWARD policy',
  ])
})

test('SVG: policy, a chain’s end and a rule that has gone are told apart', () => {
  const [hop] = journey.hops
  if (!hop) throw new Error('no hop')
  const named = (more: Partial<typeof hop>) =>
    formatJourneySvg({ ...journey, hops: [{ ...hop, chain: 'FORWARD', rule: null, ...more }] })
  expect(named({ text: '-P FORWARD DROP', verdict: 'DROP' })).toContain('>FORWARD policy</text>')
  expect(named({ text: 'a rule that has gone meanwhile', verdict: 'DROP' })).toContain(
    '>FORWARD rule gone</text>',
  )
  expect(named({ text: 'end of FORWARD', verdict: 'RETURN', isChainEnd: true })).toContain(
    '>FORWARD end</text>',
  )
})
