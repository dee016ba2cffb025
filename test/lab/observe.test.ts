import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ConnectionTable, Events } from '../../src-main/contract/lab-contract.ts'
import { connect, type LabConnection } from '../../src-main/contract/rpc.ts'
import { streamChannel } from '../../src-main/system/channel/stream-channel.ts'
import { findLabs, openLabSocket } from '../../src-main/system/sandbox/find-labs.ts'
import { type Lab, type LabUser, startLab, whyNoLab } from './chainwalk.ts'

const CLIENT = '172.18.0.254'
const WORKER1 = '172.18.0.3'
const NODE_PORT = 32054
/** Of the http-server example; the only one on worker1. */
const POD_ON_1 = '10.244.1.7'
const patience = { timeout: 10_000 }

describe.each<LabUser>(['root', 'learner'])('beside a trace, as %s', (as) => {
  const skip = whyNoLab(as) !== undefined
  let lab: Lab
  let pod = ''
  let open: LabConnection[] = []

  beforeAll(async () => {
    if (skip) return
    lab = await startLab({ as, files: ['lab-scripts/manifests/http-server.yaml'] })
    const { stdout } = await lab.run('get', 'pod', '-o', 'wide')
    pod = `pod/default/${
      stdout
        .split('\n')
        .find((row) => row.includes(` ${POD_ON_1} `))
        ?.split(/\s+/)[0]
    }`
    await addLogRules()
  })
  /** Once for all tests: a LOG rule and an NFLOG rule on worker1. */
  const addLogRules = async (): Promise<void> => {
    for (const [target, prefix] of [
      ['LOG', 'quiet: '],
      ['NFLOG', 'new:'],
    ] as const)
      await inWorker1(
        ...[
          'iptables',
          '-t',
          'mangle',
          '-A',
          'PREROUTING',
          '-p',
          'tcp',
          '--dport',
          String(NODE_PORT),
          '--syn',
        ],
        ...['-j', target, `--${target.toLowerCase()}-prefix`, prefix],
      )
  }
  afterEach(() => {
    for (const connection of open.splice(0)) connection.close()
  })
  afterAll(async () => {
    await lab?.down()
  })

  const connectViewer = async (): Promise<LabConnection> => {
    const running = findLabs(lab.uid).find(({ name }) => name === lab.name)
    if (!running) throw new Error('the lab is not found by its name')
    const socket = await openLabSocket(running)
    const connection = connect(streamChannel(socket, socket))
    open = [...open, connection]
    return connection
  }
  const ask = async (address: string, from = 'client'): Promise<void> => {
    const { code, stderr } = await lab.exec(from, 'curl', '-sS', '--max-time', '3', `http://${address}/`)
    if (code !== 0) throw new Error(`curl ended with ${code}: ${stderr}`)
  }
  const toNodePort = () => ask(`${WORKER1}:${NODE_PORT}`)
  const inWorker1 = async (...argv: string[]) => (await lab.exec('node/worker1', ...argv)).stdout

  describe.skipIf(skip)('the conntrack table', () => {
    test('is that of conntrack -L, with both translations of a NodePort marked', async () => {
      const viewer = await connectViewer()
      await toNodePort()
      const { entries, total, matching } = await viewer.request('conntrack/read', { target: 'node/worker1' })
      expect([total, matching]).toEqual([entries.length, entries.length])
      const entry = entries.find(({ original }) => original.destinationPort === NODE_PORT)
      expect(entry).toMatchObject({
        protocol: 'tcp',
        original: { source: CLIENT, destination: WORKER1 },
        reply: { sourcePort: 80 },
        state: 'TIME_WAIT',
        flags: ['ASSURED'],
        nat: 'both',
        mark: 0,
      })
      // Seconds pass between the two, and `use=` is left out.
      const plain = (text: string) =>
        text
          .trim()
          .split('\n')
          .map((line) => line.replace(/ (use=\d+|nat=\w+)/g, '').replace(/^(\w+ +\d+) \d+/, '$1'))
          .sort()
      const ours = (await lab.run('conntrack', 'node/worker1')).stdout
      expect(plain(ours)).toEqual(plain(await inWorker1('conntrack', '-L')))
      expect(ours).toMatch(/ dport=32054 .* nat=both$/m)
    })

    test('comes again while somebody looks, filtered to a packet; not after that', async () => {
      const viewer = await connectViewer()
      const samples: ConnectionTable[] = []
      viewer.on('conntrack/sample', (sample) => samples.push(sample))
      const packet = { protocol: 'tcp', source: CLIENT, destination: WORKER1, destinationPort: NODE_PORT }
      const { subscription } = await viewer.request('conntrack/subscribe', {
        target: 'node/worker1',
        filter: { packets: [packet] },
        intervalMs: 50,
      })
      await expect.poll(() => samples.length, patience).toBeGreaterThan(0)
      const before = samples.at(-1)?.matching ?? Number.NaN
      await toNodePort()
      await expect.poll(() => samples.at(-1)?.matching, patience).toBe(before + 1)
      await ask(`172.18.0.2:${NODE_PORT}`)
      expect(samples.at(-1)?.entries.every(({ original }) => original.destination === WORKER1)).toBe(true)
      await viewer.request('counters/unsubscribe', { subscription })
      const seen = samples.length
      await toNodePort()
      await viewer.request('conntrack/read', { target: 'node/worker1' })
      expect(samples).toHaveLength(seen)
    })

    test('is printed again by --watch', async () => {
      const watch = lab.launch('conntrack', 'node/control-plane', '--watch')
      await lab.exec('node/control-plane', 'conntrack', '-F')
      await watch.says('no connections')
      await ask(`172.18.0.2:${NODE_PORT}`)
      await watch.says(/dst=172\.18\.0\.2 sport=\d+ dport=32054 .* nat=both\n/)
      expect((await watch.stop()).code).toBe(0)
    })
  })

  /** A capture with its text, acknowledged as it comes. */
  const capture = async (viewer: LabConnection, host: string, link: string, filter?: string) => {
    const chunks = new Map<number, string>()
    const exits = new Set<number>()
    const ended: Events['capture/ended'][] = []
    viewer.on('streams/data', ({ stream: id, data }) => {
      const text = Buffer.from(data, 'base64').toString()
      chunks.set(id, (chunks.get(id) ?? '') + text)
      void viewer.request('streams/ack', { stream: id, amount: text.length })
    })
    viewer.on('streams/exit', ({ stream: id }) => exits.add(id))
    viewer.on('capture/ended', (state) => ended.push(state))
    const params = { host, link, ...(filter === undefined ? {} : { filter }) }
    const { capture: id, stream } = await viewer.request('capture/start', params)
    return {
      id,
      lines: () => (chunks.get(stream) ?? '').split('\n').slice(0, -1),
      hasExited: () => exits.has(stream),
      ended: () => ended.find((state) => state.capture === id),
      stop: () => viewer.request('capture/stop', { capture: id }),
      pcap: async () => Buffer.from((await viewer.request('capture/pcap', { capture: id })).pcap, 'base64'),
    }
  }

  describe.skipIf(skip)('a packet capture', () => {
    test('shows one connection on every link that it passes, as text and as pcap', async () => {
      const viewer = await connectViewer()
      const links = await inWorker1('ls', '/sys/class/net')
      const veth = /veth\w+/.exec(links)?.[0] ?? ''
      const places = [
        ['node/control-plane', 'eth0'],
        ['switch', 'sw-node0'],
        ['switch', 'sw-node1'],
        ['node/worker1', 'eth0'],
        ['node/worker1', 'cni0'],
        ['node/worker1', veth],
        [pod, 'eth0'],
      ] as const
      const captures = await Promise.all(
        places.map(([host, link]) =>
          capture(viewer, host, link, 'tcp port 80 and tcp[tcpflags] & tcp-syn != 0'),
        ),
      )
      await ask(POD_ON_1, 'node/control-plane')
      for (const each of captures) {
        await expect.poll(() => each.lines().length, patience).toBe(2)
        const [syn = '', answer = ''] = each.lines()
        expect(syn).toMatch(/^\d\d:\d\d:\d\d\.\d{6} IP 172\.18\.0\.2\.\d+ > 10\.244\.1\.7\.80: Flags \[S\]/)
        expect(answer).toMatch(/ IP 10\.244\.1\.7\.80 > 172\.18\.0\.2\.\d+: Flags \[S\.\]/)
        expect(await each.stop()).toMatchObject({ packets: 2, running: false, isCut: false, dropped: 0 })
        await expect.poll(each.hasExited, patience).toBe(true)
        expect(each.ended()).toMatchObject({ packets: 2 })
        const pcap = await each.pcap()
        expect(pcap.readUInt32LE(0)).toBe(0xa1b2c3d4)
        expect(pcap.includes(Buffer.from([172, 18, 0, 2, 10, 244, 1, 7]))).toBe(true)
      }
    })

    test('ends at its bound and says so', async () => {
      const viewer = await connectViewer()
      const flood = await capture(viewer, 'client', 'eth0', 'icmp')
      // A thousand requests a second, each answered.
      await lab.exec('client', 'ping', '-q', '-i', '0.001', '-c', '5100', WORKER1)
      await expect
        .poll(() => flood.ended(), patience)
        .toMatchObject({ packets: 10_000, isCut: true, running: false })
      await expect.poll(flood.hasExited, patience).toBe(true)
      expect(flood.lines()).toHaveLength(10_000)
      expect(await flood.stop()).toMatchObject({ packets: 10_000, isCut: true })
    })

    test('ends with the client that asked for it', async () => {
      const viewer = await connectViewer()
      await capture(viewer, 'node/worker2', 'any')
      const running = async () => (await lab.exec('node/worker2', 'pgrep', '-cx', 'tcpdump')).stdout.trim()
      expect(await running()).toBe('2')
      viewer.close()
      await expect.poll(running, patience).toBe('0')
    })

    test('is refused for a link that is not there and a filter that tcpdump does not take', async () => {
      const viewer = await connectViewer()
      const start = (link: string, filter = '') =>
        viewer.request('capture/start', { host: 'node/worker1', link, filter })
      await expect(start('eth7')).rejects.toMatchObject({
        code: 'bad-input',
        message: expect.stringMatching(/^node\/worker1 has no link eth7; there is any, lo, .*cni0/),
      })
      await expect(start('eth0', 'tcp port')).rejects.toMatchObject({
        code: 'bad-input',
        message: expect.stringContaining('syntax error'),
      })
      expect((await lab.run('capture', 'node/worker1/eth7')).code).toBe(2)
    })

    test('is printed and saved by the command', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'chainwalk-capture-'))
      chmodSync(folder, 0o777) // the command may run as another user
      const file = join(folder, 'x.pcap')
      try {
        const running = lab.launch(
          'capture',
          `${pod.replace('default/', '')}/eth0`,
          '-w',
          file,
          'tcp',
          'port',
          '80',
        )
        await running.says(`capturing on ${pod} eth0`)
        await ask(POD_ON_1, 'node/control-plane')
        await running.says(/Flags \[F\.\]/)
        const { code, stderr } = await running.stop()
        expect(code).toBe(0)
        expect(stderr).toMatch(/\d+ packets captured\n$/)
        const pcap = readFileSync(file)
        expect(pcap.includes('GET / HTTP/1.1')).toBe(true)
      } finally {
        rmSync(folder, { recursive: true })
      }
    })
  })

  describe.skipIf(skip)('lines of NFLOG rules', () => {
    test('come while somebody looks; LOG rules are named; afterwards the node is as it was', async () => {
      const viewer = await connectViewer()
      const lines: Events['log/line'][] = []
      viewer.on('log/line', (line) => lines.push(line))
      const logger = () => inWorker1('cat', '/proc/sys/net/netfilter/nf_log/2')
      const readers = () => inWorker1('cat', '/proc/net/netfilter/nfnetlink_log')
      const before = await logger()
      const { subscription, silentRules } = await viewer.request('log/subscribe', {})
      expect(silentRules).toEqual([
        {
          target: 'node/worker1',
          table: 'mangle',
          chain: 'PREROUTING',
          number: 1,
          text: '-p tcp -m tcp --dport 32054 --tcp-flags FIN,SYN,RST,ACK SYN -j LOG --log-prefix "quiet: "',
        },
      ])
      await toNodePort()
      await expect.poll(() => lines.length, patience).toBe(1)
      expect(lines[0]).toMatchObject({ subscription, target: 'node/worker1', missed: 0 })
      expect(lines[0]?.text).toMatch(
        /^new: IN=eth0 OUT= MAC=0a:58:ac:12:00:03:0a:58:ac:12:00:fe:08:00 SRC=172\.18\.0\.254 DST=172\.18\.0\.3 LEN=60 TOS=0x00 PREC=0x00 TTL=64 ID=\d+ DF PROTO=TCP SPT=\d+ DPT=32054 WINDOW=\d+ RES=0x00 SYN URGP=0$/,
      )
      await viewer.request('counters/unsubscribe', { subscription })
      await expect.poll(readers, patience).toBe('')
      expect(await logger()).toBe(before)
      await toNodePort()
      expect(lines).toHaveLength(1)
    })

    test('tell what conntrack finds invalid, where a person asks for it', async () => {
      const viewer = await connectViewer()
      const lines: string[] = []
      viewer.on('log/line', ({ text }) => lines.push(text))
      await inWorker1('sysctl', '-w', 'net.netfilter.nf_conntrack_log_invalid=6')
      await viewer.request('log/subscribe', { target: 'node/worker1' })
      // SYN and FIN in one packet mean nothing.
      const send = `import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
s.sendto(struct.pack('!HHIIBBHHH', 1234, 80, 1, 0, 80, 3, 100, 0, 0), ('${WORKER1}', 0))`
      await lab.exec('client', 'python3', '-c', send)
      await expect
        .poll(() => lines.at(-1), patience)
        .toMatch(/^nf_ct_proto_6: .* IN=eth0 .* SPT=1234 DPT=80 WINDOW=100 RES=0x00 SYN FIN URGP=0$/)
    })

    test('count what is left out of a flood', async () => {
      const viewer = await connectViewer()
      let shown = 0
      let missed = 0
      viewer.on('log/line', (line) => {
        shown += 1
        missed += line.missed
      })
      await lab.exec(
        'client',
        'iptables',
        '-A',
        'OUTPUT',
        '-p',
        'icmp',
        '-j',
        'NFLOG',
        '--nflog-prefix',
        'ping',
      )
      await viewer.request('log/subscribe', { target: 'client' })
      const ping = (...more: string[]) => lab.exec('client', 'ping', '-q', '-c', ...more, '127.0.0.1')
      await ping('3000', '-f')
      // A request and its answer each leave by OUTPUT; the last lines come when there is room again.
      await expect
        .poll(async () => {
          await ping('1')
          return shown + missed
        }, patience)
        .toBeGreaterThanOrEqual(6000)
      expect(shown).toBeLessThan(6000)
      await lab.exec('client', 'iptables', '-F', 'OUTPUT')
    })

    test('are refused where another program reads the group; the command follows them', async () => {
      const other = lab.start('node/worker1', 'tcpdump', '-ln', '-i', 'nflog:0')
      await other.says('listening on nflog:0')
      const viewer = await connectViewer()
      await expect(viewer.request('log/subscribe', { target: 'node/worker1' })).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('node/worker1 reads log group 0 already'),
      })
      await other.stop()

      const follow = lab.launch('log', 'node/worker1')
      await follow.says('following NFLOG group 0 of node/worker1')
      await toNodePort()
      await follow.says(/^new: IN=eth0 .* DPT=32054 /m)
      const { code, stderr } = await follow.stop()
      expect(code).toBe(0)
      expect(stderr).toContain('-R PREROUTING 1 -p tcp -m tcp --dport 32054')
    })
  })
})
