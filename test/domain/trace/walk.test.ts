import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseSave } from '../../../src-main/domain/iptables/parse-save.ts'
import type { RuleSet } from '../../../src-main/domain/iptables/rule-set.ts'
import type { Hop as WalkHop } from '../../../src-main/domain/trace/journey.ts'
import { compareWalk } from '../../../src-main/domain/trace/walk-compare.ts'
import type { WalkContext } from '../../../src-main/domain/trace/walk-context.ts'
import type { WalkPacket } from '../../../src-main/domain/trace/walk-packet.ts'
import { hopsOf, type Walk, type WalkPath } from '../../../src-main/domain/trace/walk-path.ts'
import { walkRuleset } from '../../../src-main/domain/trace/walk-ruleset.ts'

function parse(save: string): RuleSet {
  const { ruleSet, problems } = parseSave(save)
  if (!ruleSet) throw new Error(JSON.stringify(problems))
  return ruleSet
}

function golden(name: string): RuleSet {
  return parse(readFileSync(join(import.meta.dirname, '../../golden', name, 'expected.save'), 'utf8'))
}

/** The rules of the filter table's FORWARD chain, and further chains by name. */
function filter(
  forward: readonly string[],
  chains: Readonly<Record<string, readonly string[]>> = {},
): RuleSet {
  return parse(
    [
      '*filter',
      ':INPUT ACCEPT [0:0]',
      ':FORWARD ACCEPT [0:0]',
      ':OUTPUT ACCEPT [0:0]',
      ...Object.keys(chains).map((name) => `:${name} - [0:0]`),
      ...forward.map((rule) => `-A FORWARD ${rule}`),
      ...Object.entries(chains).flatMap(([name, rules]) => rules.map((rule) => `-A ${name} ${rule}`)),
      'COMMIT\n',
    ].join('\n'),
  )
}

const node: WalkContext = {
  node: 'worker1',
  interfaces: [
    { name: 'lo', addresses: ['127.0.0.1/8'] },
    { name: 'eth0', addresses: ['172.18.0.3/16'] },
    { name: 'cni0', addresses: ['10.244.1.1/24'] },
  ],
  routes: [{ to: 'default', via: '172.18.0.1', dev: 'eth0' }],
  sysctls: { ipForward: true, routeLocalnet: true, rpFilter: 0 },
}
const fromPod: WalkPacket = {
  protocol: 'tcp',
  src: '10.244.1.7',
  dst: '10.107.38.142',
  sport: 40000,
  dport: 80,
  in: 'cni0',
}

function whyNot(rule: string, packet: WalkPacket = fromPod): string | undefined {
  const [path] = walkRuleset(filter([`${rule} -j DROP`]), packet, node).paths
  return hopsOf(path as WalkPath).at(-1)?.kind === 'policy'
    ? hopsOf(path as WalkPath).flatMap((hop) => ('skipped' in hop ? hop.skipped : []))[0]?.why
    : undefined
}

function outcomes({ paths }: Walk): [string, string][] {
  return paths.map(({ chance, outcome }) => [chance.text, outcome.kind])
}

describe('chance', () => {
  test('three endpoints have a third each, exactly', () => {
    const { paths } = walkRuleset(golden('001-seed-http-svc'), fromPod, node)
    expect(paths.map(({ chance, packet }) => [chance.text, packet.dst])).toEqual([
      ['1/3', expect.stringMatching(/^10\.244\./)],
      ['1/3', expect.stringMatching(/^10\.244\./)],
      ['1/3', expect.stringMatching(/^10\.244\./)],
    ])
    expect(new Set(paths.map(({ packet }) => packet.dst)).size).toBe(3)
    expect(paths.every(({ isConditional }) => !isConditional)).toBe(true)
  })

  test.each([
    ['097-endpoints-7', 7],
    ['099-endpoints-50', 50],
    ['100-endpoints-120', 120],
  ])('%s: one in %i each', (name, count) => {
    const ruleSet = golden(name)
    const first = ruleSet.tables
      .flatMap(({ rules }) => rules)
      .find(({ chain, text }) => chain === 'KUBE-SERVICES' && text.includes('cluster IP'))
    const dst = /-d ([\d.]+)/.exec(first?.text ?? '')?.[1] ?? ''
    const { paths, notes } = walkRuleset(ruleSet, { ...fromPod, dst }, node)
    expect(notes).toEqual([])
    expect(paths.map(({ chance }) => chance.text)).toEqual(Array.from({ length: count }, () => `1/${count}`))
  })

  test('too many alternatives are cut, and what is cut keeps its share', () => {
    const { paths, notes } = walkRuleset(
      golden('100-endpoints-120'),
      clusterIpOf('100-endpoints-120'),
      node,
      {
        maxPaths: 20,
      },
    )
    expect(paths).toHaveLength(20)
    expect(notes).toEqual(['more than 20 alternatives: the rest is not followed'])
    expect(paths[0]).toMatchObject({ outcome: { kind: 'unknown' }, chance: { text: '101/120' } })
    expect(paths.reduce((sum, { chance }) => sum + chance.value, 0)).toBeCloseTo(1)
  })

  test('a chooser fixes the answers', () => {
    const { paths } = walkRuleset(golden('001-seed-http-svc'), fromPod, node, {
      choose: ({ at }) => at?.rule === 3,
    })
    expect(paths).toHaveLength(1)
    expect(paths[0]?.chance.text).toBe('1/3')
    expect(paths[0]?.choices.map(({ chance }) => chance?.text)).toEqual(['2/3', '1/2'])
  })

  test('a chance that is no short fraction stays what the kernel holds', () => {
    const walk = walkRuleset(
      filter(['-m statistic --mode random --probability 0.12345678899 -j DROP']),
      fromPod,
      node,
    )
    expect(walk.paths.map(({ chance }) => chance.value)).toEqual([
      expect.closeTo(0.876543211, 9),
      expect.closeTo(0.123456789, 9),
    ])
  })

  test('every nth, and alternatives that end alike', () => {
    const rule = '-m statistic --mode nth --every 4 --packet 0'
    expect(outcomes(walkRuleset(filter([`${rule} -j DROP`]), fromPod, node))).toEqual([
      ['3/4', 'forwarded'],
      ['1/4', 'dropped'],
    ])
  })
})

function clusterIpOf(name: string): WalkPacket {
  const rule = golden(name)
    .tables.flatMap(({ rules }) => rules)
    .find(({ chain, text }) => chain === 'KUBE-SERVICES' && text.includes('cluster IP'))
  return { ...fromPod, dst: /-d ([\d.]+)/.exec(rule?.text ?? '')?.[1] ?? '' }
}

describe('why not', () => {
  test.each([
    ['-d 10.96.0.10/32', 'destination is 10.107.38.142, the rule wants 10.96.0.10'],
    ['! -s 10.244.0.0/16', 'source is 10.244.1.7, the rule wants anything but 10.244.0.0/16'],
    ['-p udp', 'protocol is TCP, the rule wants UDP'],
    ['-p tcp -m tcp --dport 443', 'destination port is 80, the rule wants 443'],
    ['-p tcp -m tcp --dport 1:79', 'destination port is 80, the rule wants 1 to 79'],
    [
      '-p tcp -m multiport --dports 81,8000:8010',
      'destination port is 80, the rule wants 81 or 8000 to 8010',
    ],
    [
      '-p tcp -m tcp ! --tcp-flags FIN,SYN,RST,ACK SYN',
      'of the TCP flags SYN set, the rule wants anything but SYN of FIN, SYN, RST, ACK',
    ],
    ['-i eth0', 'the packet comes in by cni0, the rule wants eth0'],
    ['-o veth+', 'the packet goes out by eth0, the rule wants a name that begins with veth'],
    ['-f', 'the packet is no second or further fragment'],
    ['-m mark --mark 0x4000/0x4000', 'the mark is 0x0, the rule wants 0x4000 in the bits 0x4000'],
    [
      '-m conntrack --ctstate RELATED,ESTABLISHED',
      'connection state is NEW, the rule wants RELATED or ESTABLISHED',
    ],
    [
      '-m addrtype --dst-type LOCAL',
      "the destination 10.107.38.142 is an address of another host, the rule wants one of the node's own addresses",
    ],
    [
      '-m iprange --src-range 10.244.1.8-10.244.1.9',
      'source is 10.244.1.7, the rule wants 10.244.1.8 to 10.244.1.9',
    ],
    ['-m policy --dir in --pol ipsec', 'the packet is not under IPsec'],
    ['-m owner --uid-owner 0', 'the packet is not sent by a process of the node'],
    ['-m connmark --mark 0x1', "the connection's mark is 0x0, the rule wants 0x1"],
  ])('%s', (rule, why) => {
    expect(whyNot(rule)).toBe(why)
  })

  test('the first condition that fails is told, whatever is open before it', () => {
    expect(whyNot('-m limit --limit 1/min -m mark --mark 0x1')).toBe('the mark is 0x0, the rule wants 0x1')
  })

  test('each visited chain tells what it skipped, an ended one too', () => {
    const ruleSet = filter(['-d 10.0.0.1/32 -j DROP', '-j A', '-j ACCEPT'], { A: ['-p udp -j DROP'] })
    const [path] = walkRuleset(ruleSet, fromPod, node).paths
    expect(
      path?.steps.map((step) =>
        'skipped' in step ? [step.kind, step.chain, step.skipped.map(({ rule }) => rule)] : step.kind,
      ),
    ).toEqual(['routing', ['rule', 'FORWARD', [1]], ['end', 'A', [1]], ['rule', 'FORWARD', []]])
  })

  test('long lists are cut, and counted', () => {
    const ruleSet = filter(Array.from({ length: 50 }, (_, i) => `-d 10.0.0.${i}/32 -j DROP`))
    const [path] = walkRuleset(ruleSet, fromPod, node, { maxSkips: 3 }).paths
    expect(hopsOf(path as WalkPath)).toMatchObject([
      { skippedCount: 50, skipped: [{ rule: 1 }, { rule: 2 }, { rule: 3 }] },
    ])
  })
})

describe('what is not known', () => {
  test('an unknown match makes two alternatives and says so', () => {
    const walk = walkRuleset(filter(['-m bpf --bytecode "4,48 0 0 9" -j DROP']), fromPod, node)
    expect(outcomes(walk)).toEqual([
      ['1', 'dropped'],
      ['1', 'forwarded'],
    ])
    expect(walk.paths.map(({ isConditional }) => isConditional)).toEqual([true, true])
    expect(walk.dependsOn.map(({ text }) => text)).toContain(
      'whether the packet matches `-m bpf --bytecode 4,48 0 0 9`, which this walk cannot judge',
    )
  })

  test('an unknown target ends the way', () => {
    const [path] = walkRuleset(filter(['-j SYNPROXY --mss 1460']), fromPod, node).paths
    expect(path?.outcome).toEqual({ kind: 'unknown', why: 'the target SYNPROXY is not known to this walk' })
  })

  test('a set without contents, the same answer each time; with contents none', () => {
    const ruleSet = filter([
      '-m set --match-set bad src -j DROP',
      '-m set ! --match-set bad src -j ACCEPT',
      '-j DROP',
    ])
    expect(walkRuleset(ruleSet, fromPod, node).paths.map((path) => hopsOf(path).at(-1)?.rule)).toEqual([1, 2])
    const known = { ...node, sets: { bad: ['10.244.1.0/24'] } }
    expect(walkRuleset(ruleSet, fromPod, known).paths.map((path) => hopsOf(path).at(-1)?.rule)).toEqual([1])
  })

  test('a dump alone: whether an address is local is asked once, by rules and by routing', () => {
    const { paths, dependsOn } = walkRuleset(
      golden('021-nodeport-multi-port'),
      { ...fromPod, dst: '192.168.0.2' },
      {},
    )
    expect(paths.map(({ outcome }) => outcome.kind).toSorted()).toEqual(['delivered', 'forwarded'])
    expect(paths.every(({ choices }) => choices.length === 1)).toBe(true)
    expect(dependsOn).toContainEqual({
      kind: 'local-addresses',
      text: "whether 192.168.0.2 is one of the node's own addresses",
    })
  })
})

describe('session affinity', () => {
  const ruleSet = golden('058-affinity-three-endpoints')
  const packet = clusterIpOf('058-affinity-three-endpoints')
  const list = ruleSet.tables.flatMap(({ rules }) => rules).find(({ text }) => text.includes('--rcheck'))
  const name = /--name (\S+)/.exec(list?.text ?? '')?.[1] ?? ''

  test('unknown lists: the noted endpoints, or a draw', () => {
    const { paths } = walkRuleset(ruleSet, packet, node)
    expect(paths).toHaveLength(6)
    expect(paths.every(({ isConditional }) => isConditional)).toBe(true)
  })

  test('known lists decide', () => {
    const empty = Object.fromEntries(
      ruleSet.tables
        .flatMap(({ rules }) => rules)
        .flatMap(({ text }) => /--name (\S+)/.exec(text)?.[1] ?? [])
        .map((each) => [each, []]),
    )
    const fresh = walkRuleset(ruleSet, packet, { ...node, recentLists: empty })
    expect(outcomes(fresh).map(([chance]) => chance)).toEqual(['1/3', '1/3', '1/3'])
    const held = { ...empty, [name]: [{ address: packet.src, seenSecondsAgo: [60] }] }
    expect(walkRuleset(ruleSet, packet, { ...node, recentLists: held }).paths).toHaveLength(1)
    const old = { ...empty, [name]: [{ address: packet.src, seenSecondsAgo: [10801] }] }
    expect(walkRuleset(ruleSet, packet, { ...node, recentLists: old }).paths).toHaveLength(3)
  })
})

describe('connections', () => {
  const ruleSet = golden('001-seed-http-svc')

  test('a later packet is translated without asking nat', () => {
    const { paths } = walkRuleset(
      ruleSet,
      {
        ...fromPod,
        ctState: 'established',
        connection: { destination: { address: '10.244.2.9', port: 8080 }, dnat: true },
      },
      node,
    )
    expect(paths).toHaveLength(1)
    const hops = hopsOf(paths[0] as WalkPath)
    expect(hops.some(({ table }) => table === 'nat')).toBe(false)
    expect(hops[0]).toMatchObject({
      kind: 'translation',
      table: 'conntrack',
      rule: null,
      verdict: 'DNAT',
      packet: { dst: '10.107.38.142', dport: 80 },
      becomes: { dst: '10.244.2.9', dport: 8080 },
    })
  })

  test('INVALID packets are not translated, and dropped in KUBE-FORWARD', () => {
    const [path, ...others] = walkRuleset(ruleSet, { ...fromPod, tcpFlags: ['RST'] }, node).paths
    expect(others).toEqual([])
    expect(path?.outcome).toMatchObject({ kind: 'dropped', by: { chain: 'KUBE-FORWARD' } })
  })

  test('a martian is dropped between PREROUTING and the rest', () => {
    const walk = walkRuleset(ruleSet, { ...fromPod, src: '172.18.0.3', dst: '10.0.0.1', in: 'eth0' }, node)
    expect(walk.paths[0]?.outcome).toEqual({
      kind: 'unroutable',
      why: "the source 172.18.0.3 is the node's own, but comes from outside",
    })
  })

  test('rp_filter', () => {
    const strict = { ...node, sysctls: { ...node.sysctls, rpFilter: 1 as const } }
    const packet = { ...fromPod, dst: '10.0.0.1' }
    expect(walkRuleset(ruleSet, packet, strict).paths[0]?.outcome.kind).toBe('forwarded')
    expect(walkRuleset(ruleSet, { ...packet, in: 'eth0' }, strict).paths[0]?.outcome.kind).toBe('unroutable')
  })
})

describe('chains', () => {
  test('goto goes back past the chain that it left', () => {
    const ruleSet = filter(['-j A', '-j DROP'], { A: ['-g B', '-j ACCEPT'], B: ['-p udp -j DROP'] })
    const [path] = walkRuleset(ruleSet, fromPod, node).paths
    expect(hopsOf(path as WalkPath).map(({ chain, rule, verdict }) => [chain, rule, verdict])).toEqual([
      ['FORWARD', 1, 'JUMP'],
      ['A', 1, 'GOTO'],
      ['B', null, 'RETURN'],
      ['FORWARD', 2, 'DROP'],
    ])
  })

  test('a loop ends, and says so', () => {
    const [path] = walkRuleset(filter(['-j A'], { A: ['-j B'], B: ['-j A'] }), fromPod, node).paths
    expect(path?.outcome).toMatchObject({ kind: 'unknown', why: expect.stringContaining('a loop?') })
  })

  test('a missing chain', () => {
    const [path] = walkRuleset(filter(['-j GONE']), fromPod, node).paths
    expect(path?.outcome).toEqual({ kind: 'unknown', why: 'table filter has no chain GONE' })
  })

  test('a bridge without br_netfilter shows no rule', () => {
    const bridged = { ...fromPod, dst: '10.244.1.8', isBridged: true }
    const off = { ...node, sysctls: { ...node.sysctls, bridgeNfCallIptables: false } }
    const on = { ...node, sysctls: { ...node.sysctls, bridgeNfCallIptables: true } }
    expect(walkRuleset(filter(['-j DROP']), bridged, off).paths[0]).toMatchObject({
      steps: [],
      outcome: { kind: 'switched' },
    })
    expect(walkRuleset(filter(['-i cni0 -o cni0 -j DROP']), bridged, on).paths[0]?.outcome.kind).toBe(
      'dropped',
    )
    expect(outcomes(walkRuleset(filter(['-j DROP']), bridged, node))).toHaveLength(2)
  })

  test('10,000 Services are walked', () => {
    const rules = Array.from(
      { length: 10_000 },
      (_, i) => `-d 10.${96 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}/32 -p tcp -m tcp --dport 80 -j DROP`,
    )
    const ruleSet = filter(rules)
    expect(walkRuleset(ruleSet, fromPod, node).paths).toHaveLength(1)
  })
})

test('IPv6: the same walk', () => {
  const v6: WalkContext = {
    interfaces: [{ name: 'eth0', addresses: ['fd00:10:20::2/64'] }],
    routes: [{ to: 'default', via: 'fd00:10:20::1', dev: 'eth0' }],
    sysctls: { ipForward: true },
  }
  const save = readFileSync(
    join(import.meta.dirname, '../../golden/073-ipv6-single-stack/expected.ip6.save'),
    'utf8',
  )
  const ruleSet = parse(save)
  const rule = ruleSet.tables.flatMap(({ rules }) => rules).find(({ text }) => text.includes('cluster IP'))
  const dst = /-d ([\da-f:]+)/.exec(rule?.text ?? '')?.[1] ?? ''
  const { paths } = walkRuleset(
    ruleSet,
    { protocol: 'tcp', src: 'fd00:10:244:1::9', dst, sport: 4000, dport: 80, in: 'eth0' },
    v6,
  )
  expect(paths.length).toBeGreaterThan(0)
  expect(paths.every(({ outcome, packet }) => outcome.kind === 'forwarded' && packet.dport === 8080)).toBe(
    true,
  )
})

describe('predict and compare', () => {
  const walk = walkRuleset(golden('001-seed-http-svc'), fromPod, node)
  const traced = hopsOf(walk.paths[2] as WalkPath)

  test('the path that was taken is found', () => {
    expect(compareWalk(walk, traced)).toEqual({ path: walk.paths[2], isSame: true, parting: undefined })
  })

  test('where the two part is told', () => {
    const cut = traced.slice(0, 5)
    expect(compareWalk(walk, cut)).toMatchObject({
      path: walk.paths[2],
      isSame: false,
      parting: { at: 5, walked: traced[5] },
    })
    const other = compareWalk(walk, [...traced.slice(0, 4), { ...traced[0], chain: 'ELSEWHERE' } as WalkHop])
    expect(other?.parting).toMatchObject({ at: 4, traced: { chain: 'ELSEWHERE' } })
  })
})
