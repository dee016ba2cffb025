import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { CounterSample } from '../../src-main/contract/counter-messages.ts'
import type { Events } from '../../src-main/contract/lab-contract.ts'
import { connect, type LabConnection } from '../../src-main/contract/rpc.ts'
import { streamChannel } from '../../src-main/system/channel/stream-channel.ts'
import { findLab, openLabSocket } from '../../src-main/system/sandbox/find-labs.ts'
import { type Lab, startLab, whyNoLab } from './chainwalk.ts'

const SERVICE_CHAIN = 'KUBE-SVC-GM62ZXCOIF6ZCRWU'
const size = { cols: 80, rows: 24 }
const patience = { timeout: 10_000 }

/** What the window asks of a lab beyond the commands, over the lab's own socket. */
describe.skipIf(whyNoLab() !== undefined)('a lab over its socket', () => {
  let lab: Lab
  let open: LabConnection[] = []

  beforeAll(async () => {
    lab = await startLab({ files: ['lab-scripts/manifests/http-server.yaml'] })
  })
  afterEach(() => {
    for (const connection of open.splice(0)) connection.close()
  })
  afterAll(async () => {
    await lab?.down()
  })

  const join = async (): Promise<LabConnection> => {
    const running = findLab(lab.name)
    if (!running) throw new Error('the lab is not found by its name')
    const socket = await openLabSocket(running)
    const connection = connect(streamChannel(socket, socket))
    open = [...open, connection]
    return connection
  }

  test('counters come when something moved, and no more after unsubscribing', async () => {
    const viewer = await join()
    const samples: CounterSample[] = []
    viewer.on('counters/sample', (sample) => samples.push(sample))
    const { subscription } = await viewer.request('counters/subscribe', {
      target: 'node/worker1',
      table: 'nat',
      chains: [SERVICE_CHAIN],
      intervalMs: 50,
    })
    await expect.poll(() => samples.length, patience).toBe(1)
    await sleep(300)
    expect(samples).toHaveLength(1)
    const packets = () =>
      (samples.at(-1)?.chains[0]?.rules ?? []).reduce((sum, rule) => sum + Number(rule.counters.packets), 0)
    const before = packets()
    await lab.exec('node/worker1', 'curl', '-sS', '--max-time', '3', 'http://10.107.38.142/')
    // The node's own request is marked for masquerading and sent to an endpoint: two rules.
    await expect.poll(packets, patience).toBe(before + 2)
    await viewer.request('counters/unsubscribe', { subscription })
    const seen = samples.length
    await lab.exec('node/worker1', 'curl', '-sS', '--max-time', '3', 'http://10.107.38.142/')
    await sleep(300)
    expect(samples).toHaveLength(seen)
  })

  test('zero is the kernel’s own', async () => {
    const viewer = await join()
    await lab.exec('node/worker1', 'curl', '-sS', '--max-time', '3', 'http://10.107.38.142/')
    await viewer.request('counters/zero', { target: 'node/worker1', table: 'nat', chain: SERVICE_CHAIN })
    const { stdout } = await lab.exec('node/worker1', 'iptables', '-t', 'nat', '-vnxL', SERVICE_CHAIN)
    expect(stdout.match(/^ +0 +0 KUBE-/gm)).toHaveLength(4)
  })

  test('each hook and table counts what comes to it; nat only the first packet of a connection', async () => {
    const viewer = await join()
    let cells: Events['hooks/sample']['cells'] = []
    viewer.on('hooks/sample', (sample) => {
      cells = sample.cells
    })
    await viewer.request('hooks/subscribe', { target: 'node/worker1', intervalMs: 50 })
    const packets = (hook: string, table: string) =>
      Number(cells.find((cell) => cell.hook === hook && cell.table === table)?.packets ?? Number.NaN)
    await expect.poll(() => cells.length, patience).toBe(14)
    const order = cells.map(({ hook, table }) => `${hook} ${table}`)
    expect(order.slice(0, 3)).toEqual(['PREROUTING raw', 'PREROUTING mangle', 'PREROUTING nat'])
    const before = { nat: packets('PREROUTING', 'nat'), raw: packets('PREROUTING', 'raw') }
    const forwarded = packets('FORWARD', 'filter')
    await lab.exec('deployment/http-server', 'curl', '-sS', '--max-time', '3', 'http://10.107.38.142/')
    await expect.poll(() => packets('PREROUTING', 'raw') - before.raw, patience).toBeGreaterThan(4)
    await expect.poll(() => packets('FORWARD', 'filter') - forwarded, patience).toBeGreaterThan(4)
    expect(packets('PREROUTING', 'nat') - before.nat).toBe(1)
    // iptables does not see the table that counts.
    const save = (await lab.exec('node/worker1', 'iptables-save')).stdout
    expect(save).not.toContain('chainwalk')
  })

  test('a rule typed by hand is told at once, and told from ours; what is gone comes back', async () => {
    const viewer = await join()
    await viewer.request('objects/list', { kinds: ['pod'] })
    const changed: string[] = []
    viewer.on('lab/changed', ({ nodes }) => changed.push(...nodes))
    await lab.exec('node/worker2', 'iptables', '-I', 'INPUT', '1', '-s', '192.0.2.1', '-j', 'DROP')
    await lab.exec('node/worker2', 'iptables', '-t', 'nat', '-D', SERVICE_CHAIN, '2')
    await expect.poll(() => new Set(changed), patience).toEqual(new Set(['worker2']))
    const { handMade, missing, origins } = await viewer.request('rules/read', { target: 'node/worker2' })
    expect(handMade).toEqual([
      { table: 'filter', chain: 'INPUT', number: 1, text: '-s 192.0.2.1/32 -j DROP' },
    ])
    expect(missing).toMatchObject([{ table: 'nat', chain: SERVICE_CHAIN, number: 2 }])
    expect(origins[SERVICE_CHAIN]).toMatchObject({ namespace: 'default', service: 'http-svc' })

    await viewer.request('rules/restore', { node: 'worker2' })
    const after = await viewer.request('rules/read', { target: 'node/worker2' })
    expect(after.missing).toEqual([])
    expect(after.handMade).toEqual(handMade)

    const versions = await viewer.request('rules/history', { node: 'worker2' })
    expect(versions.map(({ cause }) => cause)).toContain('apply')
    expect(versions.at(-1)).toMatchObject({ cause: 'changed by hand on the node', added: 1, removed: 0 })
    const last = versions.at(-1)?.version ?? 0
    const { text } = await viewer.request('rules/diff', { node: 'worker2', from: last - 1, to: last })
    expect(text).toContain('+ -A INPUT -s 192.0.2.1/32 -j DROP')
  })

  test('links are those of the kernel, and their counters move with traffic', async () => {
    const viewer = await join()
    const { links } = await viewer.request('topology/read', {})
    const seen = JSON.parse((await lab.exec('node/worker1', 'ip', '-j', 'address')).stdout) as {
      ifname: string
      addr_info: { local: string; prefixlen: number }[]
    }[]
    const ours = links.filter(({ host }) => host === 'node/worker1')
    expect(ours.map(({ name, addresses }) => [name, addresses])).toEqual(
      seen.map(({ ifname, addr_info }) => [
        ifname,
        addr_info.map(({ local, prefixlen }) => `${local}/${prefixlen}`),
      ]),
    )
    const port = ours.find(({ name }) => name.startsWith('veth'))
    expect(port).toMatchObject({ bridge: 'cni0', up: true, hairpin: true })
    const inner = links.find(({ id }) => id === port?.peer)
    expect(inner?.host).toMatch(/^pod\/default\/http-server-/)
    expect(inner).toMatchObject({
      name: 'eth0',
      kind: 'veth',
      up: true,
      addresses: ['10.244.1.7/24'],
      peer: port?.id,
    })
    for (const { id, peer } of links)
      if (peer !== undefined) expect(links.find((other) => other.id === peer)?.peer).toBe(id)
    expect(ours.find(({ name }) => name === 'eth0')?.peer).toBe('switch sw-node1')

    let bytes = Number.NaN
    viewer.on('links/sample', (sample) => {
      bytes = Number(sample.links.find(({ id }) => id === 'client eth0')?.txBytes)
    })
    await viewer.request('links/subscribe', { intervalMs: 50 })
    await expect.poll(() => bytes, patience).toBeGreaterThanOrEqual(0)
    const before = bytes
    await lab.exec('client', 'ping', '-c', '1', '-s', '1000', '172.18.0.3')
    await expect.poll(() => bytes - before, patience).toBeGreaterThan(1000)

    // A pod's end counts as the pod itself does.
    let counted: Events['links/sample']['links'][number] | undefined
    viewer.on('links/sample', (sample) => {
      counted = sample.links.find(({ id }) => id === inner?.id)
    })
    await lab.exec('node/worker1', 'ping', '-c', '1', '-s', '1000', '10.244.1.7')
    const [own] = JSON.parse(
      (await lab.exec(inner?.host ?? '', 'ip', '-j', '-s', 'link', 'show', 'eth0')).stdout,
    ) as {
      stats64: Record<'rx' | 'tx', { bytes: number; packets: number }>
    }[]
    expect(own?.stats64.rx.bytes).toBeGreaterThan(1000)
    await expect
      .poll(() => counted && { ...counted }, patience)
      .toEqual({
        id: inner?.id,
        rxPackets: String(own?.stats64.rx.packets),
        txPackets: String(own?.stats64.tx.packets),
        rxBytes: String(own?.stats64.rx.bytes),
        txBytes: String(own?.stats64.tx.bytes),
      })
  })

  test('a kept terminal outlives its window and gives its screen to the next; another one does not', async () => {
    const first = await join()
    let said = ''
    first.on('streams/data', ({ data }) => {
      said += data
    })
    const { stream } = await first.request('terminals/open', { target: 'client', size, keep: true })
    await first.request('terminals/open', { target: 'client', size })
    await first.request('streams/write', { stream, data: 'echo a"b"c; printf "\\033[1;31mred\\033[0m\\n"\r' })
    await expect.poll(() => said, patience).toContain('abc')
    first.close()

    const second = await join()
    await expect
      .poll(() => second.request('terminals/list', {}), patience)
      .toEqual([{ stream, target: 'client', hostname: 'client' }])
    const { screen } = await second.request('terminals/attach', { stream, size })
    expect(screen).toContain('\r\nabc\r\n')
    expect(['\u001b[1;31mred', '\u001b[31;1mred'].some((red) => screen.includes(red))).toBe(true)
    let more = ''
    second.on('streams/data', ({ data }) => {
      more += data
    })
    const ended = new Promise((resolve) => second.on('streams/exit', (event) => resolve(event.code)))
    await second.request('streams/write', { stream, data: 'exit 5\r' })
    expect(await ended).toBe(5)
    expect(more).toContain('exit')
    expect(await second.request('terminals/list', {})).toEqual([])
  })

  test('a flood in a terminal waits for a slow window instead of filling the memory', async () => {
    const viewer = await join()
    let received = 0
    viewer.on('streams/data', ({ data }) => {
      received += data.length
    })
    const { stream } = await viewer.request('terminals/open', {
      target: 'client',
      size,
      argv: ['seq', '1', '2000000'],
    })
    await sleep(500)
    const held = received
    expect(held).toBeLessThan(1_000_000) // of 16 million characters
    await sleep(300)
    expect(received).toBe(held)
    await viewer.request('streams/ack', { stream, amount: held })
    await expect.poll(() => received, patience).toBeGreaterThan(held)
  })

  test('demo traffic moves counters until it is stopped', async () => {
    const viewer = await join()
    const total = async () => {
      const { chains } = await viewer.request('counters/read', {
        target: 'node/worker1',
        table: 'nat',
        chain: 'KUBE-SERVICES',
      })
      return Number(chains[0]?.rules.at(-1)?.counters.packets ?? 0)
    }
    const before = await total()
    await viewer.request('traffic/set', { running: true })
    await expect.poll(total, patience).toBeGreaterThan(before)
    await viewer.request('traffic/set', { running: false })
  })
})
