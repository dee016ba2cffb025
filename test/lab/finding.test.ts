import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Finding } from '../../src-main/domain/trace/journey.ts'
import { type Lab, type LabUser, startLab, whyNoLab } from './chainwalk.ts'

const users: readonly LabUser[] = process.getuid?.() === 0 ? ['root', 'learner'] : ['learner']

/** traffic.yaml: pods a and b on worker1, c on worker2; 10.96.1.1, .2 and .3 lead to one of them each. */
describe.each(users)('what a failure is put down to, as %s', (as) => {
  const skip = whyNoLab(as) !== undefined
  let lab: Lab

  beforeAll(async () => {
    if (skip) return
    lab = await startLab({ as, files: ['test/lab/traffic.yaml'], more: ['--attachment', 'bridge'] })
  })
  afterAll(async () => {
    await lab?.down()
  })

  const find = async (target: string, ...argv: string[]): Promise<Finding | undefined> => {
    const { stdout, stderr } = await lab.run('trace', '-o', 'json', target, '--', ...argv)
    if (stdout === '') throw new Error(`the trace said nothing:\n${stderr}`)
    return (JSON.parse(stdout) as { finding?: Finding }).finding
  }
  const curl = (target: string, address: string) =>
    find(target, 'curl', '-s', '-o', '/dev/null', '--max-time', '1', `http://${address}/`)

  /** Runs `work` between two commands on a node; the second one is run whatever happens. */
  async function whilst<T>(node: string, set: string, unset: string, work: () => Promise<T>): Promise<T> {
    const on = async (script: string): Promise<void> => {
      const { code, stderr } = await lab.exec(`node/${node}`, 'sh', '-ec', script)
      if (code !== 0) throw new Error(`${script}: ${stderr}`)
    }
    await on(set)
    try {
      return await work()
    } finally {
      await on(unset)
    }
  }

  test.skipIf(skip)('nothing, where an answer came', async () => {
    expect(await curl('pod/a', '10.96.1.3')).toBeUndefined()
  })

  test.skipIf(skip)('a rule that drops', async () => {
    const found = await whilst(
      'worker1',
      'iptables -I FORWARD -s 10.244.1.10 -j DROP',
      'iptables -D FORWARD -s 10.244.1.10 -j DROP',
      () => curl('pod/a', '10.96.1.3'),
    )
    expect(found?.kind).toBe('dropped-by-rule')
    expect(found?.sentence).toBe('The packet was dropped by rule 1 of FORWARD (table filter) on worker1.')
    expect(found?.proof).toContain('The rule: -A FORWARD -s 10.244.1.10/32 -j DROP')
  })

  test.skipIf(skip)('a rule that rejects', async () => {
    const found = await whilst(
      'worker2',
      'iptables -I FORWARD -p tcp --dport 80 -j REJECT',
      'iptables -D FORWARD -p tcp --dport 80 -j REJECT',
      () => curl('pod/a', '10.96.1.3'),
    )
    expect(found?.kind).toBe('rejected-by-rule')
    expect(found?.sentence).toContain('rule 1 of FORWARD (table filter) on worker2')
  })

  test.skipIf(skip)('a rule that drops the answer', async () => {
    const found = await whilst(
      'worker2',
      'iptables -I FORWARD -p tcp --sport 80 -j DROP',
      'iptables -D FORWARD -p tcp --sport 80 -j DROP',
      () => curl('pod/a', '10.96.1.3'),
    )
    expect(found?.kind).toBe('dropped-by-rule')
    expect(found?.proof[0]).toContain('SYN ACK')
  })

  test.skipIf(skip)('a bridge that keeps answers from iptables', async () => {
    const sysctl = (value: number) => `sysctl -qw net.bridge.bridge-nf-call-iptables=${value}`
    const found = await whilst('worker1', sysctl(0), sysctl(1), () => curl('pod/a', '10.96.1.2'))
    expect(found?.kind).toBe('bridge-netfilter-off')
    expect(found?.sentence).toContain('bridge of worker1')
    expect(found?.sentence).toContain('from 10.244.1.11 straight to 10.244.1.10')
  })

  test.skipIf(skip)('a pod that the bridge does not give its own packets', async () => {
    const ports = (value: string) =>
      `for port in $(ls /sys/class/net/cni0/brif); do bridge link set dev $port hairpin ${value}; done`
    const found = await whilst('worker1', ports('off'), ports('on'), () => curl('pod/a', '10.96.1.1'))
    expect(found?.kind).toBe('hairpin-off')
    expect(found?.sentence).toContain('bridge of worker1')
    expect(found?.proof.join(' ')).toContain('10.244.1.10, the sender itself')
  })

  test.skipIf(skip)('the reverse path filter', async () => {
    const found = await whilst(
      'worker2',
      'sysctl -qw net.ipv4.conf.eth0.rp_filter=1; ip route add 10.244.1.10/32 dev cni0',
      'ip route del 10.244.1.10/32 dev cni0; sysctl -qw net.ipv4.conf.eth0.rp_filter=0',
      () => curl('pod/a', '10.96.1.3'),
    )
    expect(found?.kind).toBe('reverse-path-filter')
    expect(found?.sentence).toContain('reverse path filter of worker2')
    expect(found?.sentence).toContain('10.244.1.10 out by eth0')
  })

  test.skipIf(skip)('a missing route', async () => {
    const found = await whilst(
      'worker1',
      'ip route replace unreachable 10.244.2.0/24',
      'ip route replace 10.244.2.0/24 via 172.18.0.4 dev eth0',
      () => curl('pod/a', '10.96.1.3'),
    )
    expect(found?.kind).toBe('no-route')
    expect(found?.sentence).toBe('worker1 has no route to 10.244.2.10, and says so by ICMP.')
  })

  test.skipIf(skip)('an entry of conntrack that leads to a pod of old', async () => {
    // kube-proxy would have deleted it: that of a rule written by hand stays when the rule goes.
    const send = [
      'perl',
      '-MIO::Socket::INET',
      '-e',
      'IO::Socket::INET->new(Proto => "udp", LocalPort => 5353, PeerAddr => "10.99.9.9:53")->send("ping")',
    ]
    const rule = 'PREROUTING -d 10.99.9.9 -p udp -j DNAT --to-destination 10.244.2.77'
    await whilst('worker1', `iptables -t nat -I ${rule}`, `iptables -t nat -D ${rule}`, () =>
      lab.exec('pod/a', ...send),
    )
    const found = await find('pod/a', ...send)
    expect(found?.kind).toBe('stale-conntrack')
    expect(found?.sentence).toContain('conntrack on worker1 still sends this connection to 10.244.2.77:53')
  })
})
