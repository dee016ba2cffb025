import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Journey, TraceResult } from '../../src-main/domain/trace/journey.ts'
import { type Lab, type LabUser, startLab, whyNoLab } from './chainwalk.ts'
import { forwardMarked, forwardNew, masquerade, noMasquerade, passesOn, pathOf } from './hop-paths.ts'

const [FW, EXT, SVC] = ['KUBE-FW', 'KUBE-EXT', 'KUBE-SVC'].map((kind) => `${kind}-MC4ZCWCTPNO7RXQ3`)
const SEP = 'KUBE-SEP-APOQ725C6ST3FTNI'
const SHUT = 'KUBE-FW-UCUVYRZXEYUT6SRH'
const STICKY = 'KUBE-SVC-BJWR5DPVIKTHVKZU'
const STICKY_SEP = 'KUBE-SEP-RKKDUXIDYMYOKIJQ'

const users: readonly LabUser[] = process.getuid?.() === 0 ? ['root', 'learner'] : ['learner']
const places = users.flatMap((as) => ['bridge', 'routed'].map((attachment) => ({ as, attachment })))

/** Pods a on worker1 and c on worker2; see trace-services.yaml. */
describe.each(places)('ways of Services, as $as with $attachment links', ({ as, attachment }) => {
  const skip = whyNoLab(as) !== undefined
  let lab: Lab

  beforeAll(async () => {
    if (skip) return
    lab = await startLab({
      as,
      files: ['test/lab/trace-services.yaml'],
      more: ['--attachment', attachment],
    })
  })
  afterAll(async () => {
    await lab?.down()
  })

  const trace = async (target: string, ...argv: string[]): Promise<TraceResult> => {
    const { stdout, stderr } = await lab.run('trace', '-o', 'json', target, '--', ...argv)
    if (stdout === '') throw new Error(`the trace said nothing:\n${stderr}`)
    const traced = JSON.parse(stdout) as TraceResult
    expect(traced.gaps).toEqual([])
    return traced
  }
  const curl = (target: string, address: string) =>
    trace(target, 'curl', '-s', '-o', '/dev/null', '--max-time', '1', `http://${address}/`)
  const firstOf = ({ journeys }: TraceResult): Journey => {
    const [journey] = journeys
    if (!journey) throw new Error('there are no journeys')
    expect(journey.kind).toBe('first')
    return journey
  }

  test.skipIf(skip)('a load balancer lets in who is in its source ranges', async () => {
    const traced = await curl('client', '172.18.255.200')
    const syn = firstOf(traced)
    expect(traced.finding).toBeUndefined()
    expect(syn.verdict).toBe('delivered')
    expect(pathOf(syn)).toEqual([
      `worker1 PREROUTING nat: PREROUTING 1, KUBE-SERVICES 2, ${FW} 1, ${EXT} 1, KUBE-MARK-MASQ 1 MARK, KUBE-MARK-MASQ end, ${EXT} 2, ${SVC} 2, ${SEP} 2 DNAT`,
      forwardMarked('worker1'),
      masquerade('worker1'),
      ...passesOn('worker2'),
    ])
  })

  test.skipIf(skip)('and drops everybody else behind the nat table', async () => {
    const traced = await curl('client', '172.18.255.201')
    const syn = firstOf(traced)
    expect(syn.verdict).toBe('dropped')
    expect(pathOf(syn)).toEqual([
      `worker1 PREROUTING nat: PREROUTING 1, KUBE-SERVICES 4, ${SHUT} 2 CONTINUE, ${SHUT} end, KUBE-SERVICES end, PREROUTING policy ACCEPT`,
      'worker1 FORWARD filter: FORWARD 1, KUBE-PROXY-FIREWALL 2 DROP',
    ])
    expect(traced.finding?.sentence).toContain('rule 2 of KUBE-PROXY-FIREWALL (table filter) on worker1')
  })

  test.skipIf(skip)(
    'session affinity: the second connection goes by the list of recent senders',
    async () => {
      const way = (rule: number) => [
        `worker1 PREROUTING nat: PREROUTING 1, KUBE-SERVICES 5, ${STICKY} ${rule}, ${STICKY_SEP} 2 DNAT`,
        forwardNew('worker1'),
        noMasquerade('worker1'),
        ...passesOn('worker2'),
      ]
      const [begin, again] = [await curl('pod/a', '10.96.1.3'), await curl('pod/a', '10.96.1.3')].map(firstOf)
      expect(begin && pathOf(begin)).toEqual(way(3))
      expect(again && pathOf(again)).toEqual(way(2))
    },
  )

  test.skipIf(skip)('a packet that fits no connection is dropped by KUBE-FORWARD', async () => {
    // SYN ACK out of the blue, its checksum left 0.
    const send = [
      'use Socket; socket(my $raw, AF_INET, SOCK_RAW, 6) or die $!;',
      'my $tcp = pack("nnNNnnnn", 4000, 80, 1, 1, 5 << 12 | 0x12, 1000, 0, 0);',
      'send($raw, $tcp, 0, pack_sockaddr_in(0, inet_aton("10.244.2.10"))) or die $!;',
    ].join(' ')
    const traced = await trace('pod/a', 'perl', '-e', send)
    expect(traced.journeys.map(pathOf)).toEqual([['worker1 FORWARD filter: FORWARD 2, KUBE-FORWARD 1 DROP']])
    const [journey] = traced.journeys
    expect(journey?.hops.map(({ ctState }) => ctState)).toEqual(['invalid', 'invalid'])
    expect(traced.finding?.kind).toBe('dropped-by-rule')
    expect(traced.finding?.proof.join(' ')).toContain('--ctstate INVALID')
  })

  test.skipIf(skip)('a policy that drops on the second node', async () => {
    await lab.exec('node/worker2', 'iptables', '-P', 'FORWARD', 'DROP')
    try {
      const traced = await curl('pod/a', '10.96.1.3')
      expect(pathOf(firstOf(traced)).slice(-2)).toEqual([
        passesOn('worker2')[0],
        forwardNew('worker2').replace('policy ACCEPT', 'policy DROP'),
      ])
      expect(traced.finding?.kind).toBe('dropped-by-policy')
      expect(traced.finding?.sentence).toContain('chain FORWARD (table filter) on worker2')
    } finally {
      await lab.exec('node/worker2', 'iptables', '-P', 'FORWARD', 'ACCEPT')
    }
  })

  test.skipIf(skip)('two hundred connections in a row: each of its own, each by the same way', async () => {
    const script =
      'for i in $(seq 200); do curl -s -o /dev/null --max-time 2 http://10.96.1.3/ || exit 1; done'
    const { journeys, finding } = await trace('pod/a', 'sh', '-c', script)
    expect(finding).toBeUndefined()
    const firsts = journeys.filter(({ kind }) => kind === 'first')
    expect(firsts.map(({ connection }) => connection)).toEqual(Array.from({ length: 200 }, (_, at) => at + 1))
    for (const journey of journeys) expect(journey.verdict).toBe('delivered')
    // Every packet of a connection has its port, on this side of NAT or on the other.
    for (const { connection, hops } of journeys)
      for (const { packet } of hops) {
        const port = firsts[connection - 1]?.hops[0]?.packet.sport
        expect([packet.sport, packet.dport]).toContain(port)
      }
  })

  test.skipIf(skip)(
    'a thousand packets a second for five seconds: none is lost, each goes its way',
    async () => {
      const send = [
        'use IO::Socket::INET; use Time::HiRes qw(time sleep);',
        'my $socket = IO::Socket::INET->new(Proto => "udp", PeerAddr => "10.244.2.10:9") or die $!;',
        'my $begin = time;',
        'for my $sent (1 .. 5000) { 1 until $socket->send("x"); my $wait = $begin + $sent / 1000 - time; sleep $wait if $wait > 0 }',
      ].join(' ')
      const { journeys } = await trace('pod/a', 'perl', '-e', send)
      const requests = journeys.filter(
        ({ protocol, direction }) => protocol === 'udp' && direction === 'request',
      )
      expect(requests).toHaveLength(5000)
      expect(new Set(requests.map(({ connection }) => connection)).size).toBe(1)
      // Nobody answers a closed UDP port but the kernel, by ICMP and only now and then (a send that is told of it
      // sends nothing, and is tried again): the connection stays new.
      const ways = new Map<string, number>()
      for (const journey of requests) {
        const way = pathOf(journey).join('\n')
        ways.set(way, (ways.get(way) ?? 0) + 1)
      }
      const begin = [...passesOn('worker1'), ...passesOn('worker2')].join('\n')
      const later = [forwardNew('worker1'), forwardNew('worker2')].join('\n')
      expect(Object.fromEntries(ways)).toEqual({ [begin]: 1, [later]: 4999 })
    },
  )
})
