import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Hop, Journey, TraceResult } from '../../src-main/domain/trace/journey.ts'
import { type Lab, type LabUser, programFor, startLab, whyNoLab } from './chainwalk.ts'
import {
  forwardKnown,
  forwardMarked,
  forwardNew,
  masquerade,
  natMiss,
  noMasquerade,
  outputNew,
  passesOn,
  pathOf,
} from './hop-paths.ts'

interface Traced extends TraceResult {
  readonly exitCode: number
  /** Of the command, its standard output among it. */
  readonly printed: string
}

const NODES = ['control-plane', 'worker1', 'worker2']

const TO_A = 'KUBE-SVC-THCWMWNCAVUNKJ3O'
const A = 'KUBE-SEP-PRAEQCBGDGWM4IR4'
const TO_B = 'KUBE-SVC-LOZT753GWNDASAPR'
const B = 'KUBE-SEP-TEJHXVTEFEXT7FFG'
const TO_C = 'KUBE-SVC-PFDDAWKRM5FH6GK6'
const EXT_C = 'KUBE-EXT-PFDDAWKRM5FH6GK6'
const C = 'KUBE-SEP-MD276WLPFSUBLVD2'
const DNS = 'KUBE-SVC-LSNWZIHHSACU75VL'
const DNS_C = 'KUBE-SEP-C5IMO54GMJZLEHVT'
const EXT_LOCAL = 'KUBE-EXT-7CIFVUWFBKGFOTDJ'
const LOCAL = 'KUBE-SVL-7CIFVUWFBKGFOTDJ'
const LOCAL_C = 'KUBE-SEP-34XS65RPTCU66DF4'

const CURL = ['curl', '-sS', '-o', '/dev/null', '--max-time', '2']

const users: readonly LabUser[] = ['root', 'learner']

describe.each(users)('the trace of a command, as %s', (as) => {
  const skip = whyNoLab(as) !== undefined
  let lab: Lab

  beforeAll(async () => {
    if (skip) return
    lab = await startLab({ as, files: ['test/lab/traffic.yaml'], more: ['--attachment', 'bridge'] })
  })
  afterAll(async () => {
    await lab?.down()
  })

  const trace = async (target: string, ...argv: string[]): Promise<Traced> => {
    const { stdout, stderr } = await lab.run('trace', '-o', 'json', target, '--', ...argv)
    if (stdout === '') throw new Error(`the trace said nothing:\n${stderr}`)
    const traced: Traced = { ...(JSON.parse(stdout) as Traced), printed: stderr }
    expect(traced.gaps).toEqual([])
    return traced
  }
  const curl = (target: string, address: string) => trace(target, ...CURL, `http://${address}/`)

  /** The first packet; every other journey must be of the same connection. */
  const first = ({ journeys }: Traced): Journey => {
    const [journey] = journeys
    if (!journey) throw new Error('there are no journeys')
    expect(new Set(journeys.map(({ connection }) => connection))).toEqual(new Set([1]))
    expect(journeys.map(({ kind }) => kind).filter((kind) => kind === 'first')).toEqual(['first'])
    expect(journey.kind).toBe('first')
    return journey
  }
  const replies = ({ journeys }: Traced) => journeys.filter(({ direction }) => direction === 'reply')
  const answered = (traced: Traced): Journey => {
    expect(traced.exitCode).toBe(0)
    expect(traced.finding).toBeUndefined()
    expect(new Set(traced.journeys.map(({ verdict }) => verdict))).toEqual(new Set(['delivered']))
    // SYN, SYN ACK, ACK, request, ACK, answer, ACK, FIN, FIN, ACK; the kernel may join some.
    expect(traced.journeys.length).toBeGreaterThanOrEqual(8)
    expect(replies(traced).length).toBeGreaterThanOrEqual(3)
    return first(traced)
  }

  /** All packets of a request from pod a through the Service of pod c, on another node. */
  const expectWaysToC = (traced: Traced): void => {
    expect(pathOf(answered(traced))).toEqual([
      `worker1 PREROUTING nat: PREROUTING 1, KUBE-SERVICES 9, ${TO_C} 2, ${C} 2 DNAT`,
      forwardNew('worker1'),
      noMasquerade('worker1'),
      ...passesOn('worker2'),
    ])
    for (const journey of traced.journeys.slice(1))
      expect(pathOf(journey)).toEqual(
        journey.direction === 'request'
          ? ['worker1 PREROUTING conntrack: NAT', forwardKnown('worker1'), forwardKnown('worker2')]
          : [forwardKnown('worker2'), forwardKnown('worker1'), 'worker1 POSTROUTING conntrack: NAT'],
      )
  }

  test.skipIf(skip)('pod to ClusterIP on another node; later packets and replies skip nat', async () => {
    const traced = await curl('pod/a', '10.96.1.3')
    expectWaysToC(traced)
    const dnat = traced.journeys[0]?.hops.find(({ verdict }) => verdict === 'DNAT')
    expect(dnat?.packet).toMatchObject({ src: '10.244.1.10', dst: '10.96.1.3', dport: 80, in: 'cni0' })
    expect(dnat?.becomes).toMatchObject({ src: '10.244.1.10', dst: '10.244.2.10', dport: 80 })
  })

  test.skipIf(skip)('each hop tells the rules before it that did not match, and why', async () => {
    const { hops } = first(await curl('pod/a', '10.96.1.3'))
    const at = (chain: string, rule: number) => hops.find((hop) => hop.chain === chain && hop.rule === rule)
    expect(at('KUBE-SERVICES', 9)?.skippedCount).toBe(8)
    expect(at(TO_C, 2)?.skipped?.map(({ rule, why }) => [rule, why])).toEqual([
      [1, 'source is 10.244.1.10, the rule wants anything but 10.244.0.0/16'],
    ])
    expect(at(C, 2)?.skipped?.map(({ rule, why }) => [rule, why])).toEqual([
      [1, 'source is 10.244.1.10, the rule wants 10.244.2.10'],
    ])
    const end = hops.find(({ isChainEnd, chain }) => isChainEnd && chain === 'KUBE-FORWARD')
    expect(end).toMatchObject({ text: 'end of KUBE-FORWARD, back to FORWARD', skippedCount: 3 })
    expect(end?.skipped?.map(({ why }) => why)).toEqual([
      'connection state is NEW, the rule wants INVALID',
      'the mark is 0x0, the rule wants 0x4000 in the bits 0x4000',
      'connection state is NEW, the rule wants RELATED or ESTABLISHED',
    ])
    const told = hops.flatMap(({ skipped = [] }) => skipped.map(({ why }) => why))
    for (const why of told) expect(why).not.toContain('does not tell')
  })

  test.skipIf(skip)('pod to ClusterIP on the same node', async () => {
    const traced = await curl('pod/a', '10.96.1.2')
    expect(pathOf(answered(traced))).toEqual([
      `worker1 PREROUTING nat: PREROUTING 1, KUBE-SERVICES 6, ${TO_B} 2, ${B} 2 DNAT`,
      forwardNew('worker1'),
      noMasquerade('worker1'),
    ])
    for (const reply of replies(traced))
      expect(pathOf(reply)).toEqual([forwardKnown('worker1'), 'worker1 POSTROUTING conntrack: NAT'])
  })

  test.skipIf(skip)('pod to itself through its ClusterIP: masqueraded', async () => {
    const traced = await curl('pod/a', '10.96.1.1')
    expect(pathOf(answered(traced))).toEqual([
      `worker1 PREROUTING nat: PREROUTING 1, KUBE-SERVICES 5, ${TO_A} 2, ${A} 1, KUBE-MARK-MASQ 1 MARK, KUBE-MARK-MASQ end, ${A} 2 DNAT`,
      forwardMarked('worker1'),
      masquerade('worker1'),
    ])
    for (const reply of replies(traced))
      expect(pathOf(reply)).toEqual([
        'worker1 PREROUTING conntrack: NAT',
        forwardKnown('worker1'),
        'worker1 POSTROUTING conntrack: NAT',
      ])
  })

  test.skipIf(skip)('node to ClusterIP', async () => {
    const traced = await curl('node/worker1', '10.96.1.3')
    expect(pathOf(answered(traced))).toEqual([
      `worker1 OUTPUT nat: OUTPUT 1, KUBE-SERVICES 9, ${TO_C} 1, KUBE-MARK-MASQ 1 MARK, KUBE-MARK-MASQ end, ${TO_C} 2, ${C} 2 DNAT`,
      outputNew('worker1'),
      masquerade('worker1'),
      ...passesOn('worker2'),
    ])
    for (const reply of replies(traced))
      expect(pathOf(reply)).toEqual([
        forwardKnown('worker2'),
        'worker1 PREROUTING conntrack: NAT',
        'worker1 INPUT filter: INPUT 1, KUBE-FIREWALL end, INPUT 3, KUBE-NODEPORTS end, INPUT policy ACCEPT',
        'worker1 INPUT conntrack: NAT',
      ])
  })

  test.skipIf(skip)('client to NodePort, policy Cluster, on a node without and with the pod', async () => {
    const nat = (node: string) =>
      `${node} PREROUTING nat: PREROUTING 1, KUBE-SERVICES 12, KUBE-NODEPORTS 4, ${EXT_C} 1, KUBE-MARK-MASQ 1 MARK, KUBE-MARK-MASQ end, ${EXT_C} 2, ${TO_C} 2, ${C} 2 DNAT`
    expect(pathOf(answered(await curl('client', '172.18.0.3:30080')))).toEqual([
      nat('worker1'),
      forwardMarked('worker1'),
      masquerade('worker1'),
      ...passesOn('worker2'),
    ])
    expect(pathOf(answered(await curl('client', '172.18.0.4:30080')))).toEqual([
      nat('worker2'),
      forwardMarked('worker2'),
      masquerade('worker2'),
    ])
  })

  test.skipIf(skip)('client to NodePort, policy Local, with and without a local pod', async () => {
    expect(pathOf(answered(await curl('client', '172.18.0.4:30081')))).toEqual([
      `worker2 PREROUTING nat: PREROUTING 1, KUBE-SERVICES 12, KUBE-NODEPORTS 2, ${EXT_LOCAL} 4, ${LOCAL} 1, ${LOCAL_C} 2 DNAT`,
      forwardNew('worker2'),
      noMasquerade('worker2'),
    ])
    const silent = await curl('client', '172.18.0.3:30081')
    expect(silent.exitCode).toBe(28)
    expect(silent.finding?.kind).toBe('no-local-endpoint')
    expect(silent.finding?.sentence).toContain('rule 3 of KUBE-EXTERNAL-SERVICES (table filter) on worker1')
    expect(silent.journeys.map(({ kind }) => kind)).toEqual(['first', 'retransmission'])
    for (const journey of silent.journeys) {
      expect(pathOf(journey)).toEqual([
        `worker1 PREROUTING nat: PREROUTING 1, KUBE-SERVICES 12, KUBE-NODEPORTS 2, ${EXT_LOCAL} end, KUBE-NODEPORTS end, KUBE-SERVICES end, PREROUTING policy ACCEPT`,
        'worker1 INPUT filter: INPUT 1, KUBE-FIREWALL end, INPUT 2, KUBE-PROXY-FIREWALL end, INPUT 3, KUBE-NODEPORTS end, INPUT 4, KUBE-EXTERNAL-SERVICES 3 DROP',
      ])
      expect(journey.verdict).toBe('dropped')
      expect(journey.reason).toContain('KUBE-EXTERNAL-SERVICES')
    }
  })

  test.skipIf(skip)('UDP through a ClusterIP', async () => {
    const script =
      'exec 3<>/dev/udp/10.96.1.3/53; for n in 1 2; do echo ping >&3; timeout 2 dd bs=64 count=1 status=none <&3; done'
    const traced = await trace('pod/a', 'bash', '-c', script)
    expect(pathOf(first(traced))).toEqual([
      `worker1 PREROUTING nat: PREROUTING 1, KUBE-SERVICES 7, ${DNS} 2, ${DNS_C} 2 DNAT`,
      forwardNew('worker1'),
      noMasquerade('worker1'),
      ...passesOn('worker2'),
    ])
    expect(traced.journeys.map(({ direction, kind, summary }) => `${direction} ${kind} ${summary}`)).toEqual([
      'request first 5 bytes',
      'reply later 5 bytes',
      'request later 5 bytes',
      'reply later 5 bytes',
    ])
  })

  test.skipIf(skip)('a Service without endpoints: rejected, and with what', async () => {
    const traced = await curl('pod/a', '10.96.1.5')
    const [syn, error] = traced.journeys
    expect(traced.exitCode).toBe(7)
    expect(traced.finding).toMatchObject({ kind: 'no-endpoints', at: { journey: 1 } })
    expect(traced.finding?.sentence).toContain('rule 1 of KUBE-SERVICES (table filter) on worker1')
    expect(syn && pathOf(syn)).toEqual([
      natMiss('worker1'),
      'worker1 FORWARD filter: FORWARD 1, KUBE-PROXY-FIREWALL end, FORWARD 2, KUBE-FORWARD end, FORWARD 3, KUBE-SERVICES 1 REJECT',
    ])
    expect(syn?.verdict).toBe('rejected')
    expect(syn?.reason).toContain('icmp-port-unreachable')
    expect(error?.protocol).toBe('icmp')
    expect(error?.verdict).toBe('delivered')
  })

  test.skipIf(skip)('a closed port, and an address that nobody has', async () => {
    const closed = await curl('pod/a', '10.244.2.10:81')
    expect(first(closed).verdict).toBe('refused')
    expect(closed.finding?.kind).toBe('closed-port')
    expect(replies(closed).map(({ summary }) => summary)).toEqual(['RST ACK'])
    const nobody = await trace('pod/a', 'curl', '-s', '--max-time', '0.5', 'http://10.99.0.1/')
    expect(first(nobody).verdict).toBe('lost')
    expect(nobody.finding?.kind).toBe('lost')
    expect(first(nobody).reason).toContain('10.99.0.1')
  })

  test.skipIf(skip)('FORWARD policy DROP', async () => {
    await lab.exec('node/worker1', 'iptables', '-P', 'FORWARD', 'DROP')
    try {
      const traced = await trace('pod/a', 'curl', '-s', '--max-time', '0.5', 'http://10.96.1.2/')
      const syn = first(traced)
      expect(pathOf(syn)).toEqual([
        `worker1 PREROUTING nat: PREROUTING 1, KUBE-SERVICES 6, ${TO_B} 2, ${B} 2 DNAT`,
        forwardNew('worker1').replace('policy ACCEPT', 'policy DROP'),
      ])
      expect(syn.verdict).toBe('dropped')
      expect(syn.reason).toBe('the policy DROP of filter FORWARD on worker1 dropped it')
      expect(traced.finding?.kind).toBe('dropped-by-policy')
      expect(traced.finding?.sentence).toContain('chain FORWARD (table filter) on worker1')
    } finally {
      await lab.exec('node/worker1', 'iptables', '-P', 'FORWARD', 'ACCEPT')
    }
  })

  test.skipIf(skip)('a rule in raw', async () => {
    await lab.exec('node/worker1', 'iptables', '-t', 'raw', '-A', 'PREROUTING', '-p', 'tcp')
    try {
      const traced = await curl('pod/a', '10.96.1.2')
      expect(pathOf(answered(traced))[0]).toBe(
        'worker1 PREROUTING raw: PREROUTING 1 CONTINUE, PREROUTING policy ACCEPT',
      )
    } finally {
      await lab.exec('node/worker1', 'nft', 'delete', 'table', 'ip', 'raw')
    }
  })

  test.skipIf(skip)('rules stay, and counters move by the journeys’ hops and nothing else', async () => {
    const before = await readRules(lab)
    const { journeys } = await curl('pod/a', '10.96.1.3')
    const after = await readRules(lab)
    expect([...after.keys()]).toEqual([...before.keys()])
    const moved = new Map<string, number>()
    for (const [rule, packets] of after)
      if (packets !== before.get(rule)) moved.set(rule, packets - (before.get(rule) ?? 0))
    const walked = new Map<string, number>()
    for (const hop of journeys.flatMap(({ hops }) => hops).filter(({ rule }) => rule !== null))
      walked.set(ruleKey(hop), (walked.get(ruleKey(hop)) ?? 0) + 1)
    expect(Object.fromEntries([...moved].toSorted())).toEqual(Object.fromEntries([...walked].toSorted()))
  })

  test.skipIf(skip)('nothing of three other pods that send meanwhile, nor of the same pod', async () => {
    const loop = 'while :; do curl -s -o /dev/null --max-time 1 http://10.96.1.3/; done'
    const others = ['pod/b', 'pod/c', 'pod/web', 'pod/a'].map((target) => lab.start(target, 'sh', '-c', loop))
    try {
      for (let round = 0; round < 5; round += 1) {
        const traced = await trace('pod/a', ...CURL, '-w', ' from port %{local_port} ', 'http://10.96.1.3/')
        expectWaysToC(traced)
        const ends = traced.journeys.flatMap(({ hops }) =>
          hops.flatMap(({ packet: { src, sport, dst, dport } }) => [`${src}:${sport}`, `${dst}:${dport}`]),
        )
        const [, port] = /from port (\d+)/.exec(traced.printed) ?? []
        const own = `10.244.1.10:${port}`
        expect(new Set(ends)).toEqual(new Set([own, '10.96.1.3:80', '10.244.2.10:80']))
      }
    } finally {
      await Promise.all(others.map((other) => other.stop()))
    }
  })

  test.skipIf(skip)('a killed trace leaves no trace table behind, and the next one starts', async () => {
    const { words, cleanUp } = programFor(as)
    const [program = '', ...before] = words
    try {
      const child = spawn(program, [
        ...before,
        'trace',
        '--name',
        lab.name,
        'pod/a',
        '--',
        'sh',
        '-c',
        'echo on; sleep 20',
      ])
      await new Promise((resolve) => child.stdout.once('data', resolve))
      expect(await tables(lab)).toContain('chainwalk_trace')
      child.kill('SIGKILL')
      await expect.poll(() => tables(lab), { timeout: 5000 }).not.toContain('chainwalk_trace')
      answered(await curl('pod/a', '10.96.1.2'))
      expect(await tables(lab)).not.toContain('chainwalk_trace')
    } finally {
      cleanUp()
    }
  })

  test.skipIf(skip)(
    'killed at any moment it leaves neither table nor command, and every rule as it was',
    async () => {
      const before = await ruleSets(lab)
      const { words, cleanUp } = programFor(as)
      const [program = '', ...more] = words
      try {
        // From before the command line has begun until after the command runs.
        for (let moment = 0; moment < 12; moment += 1) {
          const argv = ['trace', '--name', lab.name, 'pod/a', '--', 'sleep', '77.5']
          const child = spawn(program, [...more, ...argv], { stdio: 'ignore' })
          const ended = new Promise((resolve) => child.once('close', resolve))
          await new Promise((resolve) => setTimeout(resolve, moment * 50))
          child.kill('SIGKILL')
          await ended
        }
        await expect.poll(() => tables(lab), { timeout: 10_000 }).not.toContain('chainwalk_trace')
        const commands = async (): Promise<string> =>
          (await lab.exec('pod/a', 'pgrep', '-f', 'sleep 77[.]5')).stdout
        await expect.poll(commands, { timeout: 10_000 }).toBe('')
        // The next trace begins when the last of these is over.
        answered(await curl('pod/a', '10.96.1.2'))
        expect(await ruleSets(lab)).toBe(before)
      } finally {
        cleanUp()
      }
    },
  )

  test.skipIf(skip)('text: a block a packet, the command’s own output and exit status', async () => {
    const { code, stdout } = await lab.run(
      'trace',
      'pod/a',
      '--',
      'sh',
      '-c',
      'curl -s http://10.96.1.2/ && exit 9',
    )
    expect(code).toBe(9)
    expect(stdout).toMatch(/^pod +b$/m)
    expect(stdout).toMatch(
      /^#1 tcp request: SYN, first of its connection {2}10\.244\.1\.10:\d+ > 10\.96\.1\.2:80$/m,
    )
    expect(stdout).toContain('→ destination 10.96.1.2:80 becomes 10.244.1.11:80')
  })
})

test.skipIf(whyNoLab() !== undefined)('with iptables-legacy: one sentence, and the prediction', async () => {
  const files = ['lab-scripts/manifests/http-server.yaml']
  const lab = await startLab({ files, more: ['--backend', 'legacy'] })
  try {
    const { code, stdout, stderr } = await lab.run('trace', 'client', '--', 'true')
    expect(code).toBe(3)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^chainwalk: [^\n]*iptables-legacy[^\n]*--predict[^\n]*\n$/)

    const url = 'http://172.18.0.3:32054/'
    const predicted = await lab.run('trace', '--predict', '-o', 'json', 'client', '--', 'curl', url)
    expect(predicted.code).toBe(0)
    const { ways } = JSON.parse(predicted.stdout) as { ways: (Journey & { chanceText: string })[] }
    expect(ways.map(({ chanceText }) => chanceText)).toEqual(['1/3', '1/3', '1/3'])
    const [EXT, SVC] = ['KUBE-EXT-C3VEVZBK3X2BH5IZ', 'KUBE-SVC-C3VEVZBK3X2BH5IZ']
    for (const [at, way] of ways.entries()) {
      const chosen = way.hops.find(({ verdict }) => verdict === 'DNAT')?.chain ?? ''
      expect(pathOf(way).slice(0, 3)).toEqual([
        `worker1 PREROUTING nat: PREROUTING 1, KUBE-SERVICES 3, KUBE-NODEPORTS 1, ${EXT} 1, KUBE-MARK-MASQ 1 MARK, KUBE-MARK-MASQ end, ${EXT} 2, ${SVC} ${at + 2}, ${chosen} 2 DNAT`,
        forwardMarked('worker1'),
        'worker1 POSTROUTING nat: POSTROUTING 1, KUBE-POSTROUTING 2 MARK, KUBE-POSTROUTING 3 MASQUERADE',
      ])
    }
    // Nothing was sent.
    const { stdout: listing } = await lab.exec('node/worker1', 'iptables', '-t', 'nat', '-vnxL', EXT)
    expect(Number(listing.trim().split('\n')[2]?.trim().split(/\s+/)[0])).toBe(0)

    const untold = await lab.run('trace', '--predict', 'client', '--', 'true')
    expect(untold.code).toBe(1)
    expect(untold.stderr).toContain('curl, ping, nc')
  } finally {
    await lab.down()
  }
})

const ruleKey = ({ node, table, chain, rule, text }: Hop): string =>
  `${node} ${table} ${chain} ${rule} ${text}`

/** Packets by rule of every node, as iptables-save has them; iptables-nft's policies often do not count. */
async function readRules(lab: Lab): Promise<Map<string, number>> {
  const counted = new Map<string, number>()
  for (const node of NODES) {
    const { stdout } = await lab.exec(`node/${node}`, 'iptables-save', '-c')
    const numbers = new Map<string, number>()
    let table = ''
    for (const line of stdout.split('\n')) {
      table = /^\*(\S+)/.exec(line)?.[1] ?? table
      const [, packets, chain, text] = /^\[(\d+):\d+\] -A (\S+) ?(.*)$/.exec(line) ?? []
      if (!chain) continue
      const number = (numbers.get(`${table} ${chain}`) ?? 0) + 1
      numbers.set(`${table} ${chain}`, number)
      counted.set(`${node} ${table} ${chain} ${number} ${text}`, Number(packets))
    }
  }
  return counted
}

const HOSTS = [...NODES.map((node) => `node/${node}`), 'pod/a', 'client']

const tables = (lab: Lab): Promise<string> => onEveryHost(lab, 'nft', 'list', 'tables')

/** Without counters. */
const ruleSets = (lab: Lab): Promise<string> => onEveryHost(lab, 'nft', '-s', 'list', 'ruleset')

async function onEveryHost(lab: Lab, ...argv: string[]): Promise<string> {
  const all = await Promise.all(HOSTS.map((target) => lab.exec(target, ...argv)))
  return all.map(({ stdout }) => stdout).join('')
}
