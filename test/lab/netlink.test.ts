import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RuleCounters } from '../../src-main/system/netlink/nf-tables-messages.ts'

const root = join(import.meta.dirname, '../..')
const PATH = `${process.env['PATH']}:/usr/sbin:/sbin`

/** Any user that owns nothing on the machine will do; no account is needed for it. */
const ordinaryUser = '54321'
const isRoot = process.getuid?.() === 0
const inNewNamespaces = ['unshare', '--net', '--mount', '--uts']
const ways = {
  root: inNewNamespaces,
  rootless: [
    ...(isRoot ? ['setpriv', '--reuid', ordinaryUser, '--regid', ordinaryUser, '--clear-groups'] : []),
    ...inNewNamespaces,
    '--user',
    '--map-root-user',
  ],
}

const tools = [
  'unshare',
  'setpriv',
  'ip',
  'bridge',
  'nft',
  'iptables-nft',
  'iptables-nft-restore',
  'conntrack',
]

function whatIsMissing(way: keyof typeof ways): string | undefined {
  const missing = tools.filter((tool) => !PATH.split(':').some((folder) => existsSync(join(folder, tool))))
  if (missing.length > 0) return `not installed: ${missing.join(', ')}`
  if (way === 'root' && !isRoot) return 'not run as root'
  const [command = '', ...args] = [...ways[way], 'test', '-r', join(root, 'package.json')]
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8', env: { PATH, LC_ALL: 'C' } })
  if (status === 0) return undefined
  return stderr.trim() || 'the checkout cannot be read by an ordinary user'
}

interface Counted {
  readonly policy?: { readonly packets: string; readonly bytes: string }
  readonly rules: readonly { readonly packets: string; readonly bytes: string }[]
}

type Json = Record<string, unknown>

/** What lab-scenario.ts prints; 64-bit numbers are strings. */
interface Report {
  readonly identityBefore: boolean
  readonly identityFilter: { readonly installed: boolean }
  readonly identityAfter: boolean
  readonly inside: Json
  readonly outside: Json
  readonly throwing: readonly string[]
  readonly nested: readonly boolean[]
  readonly home: boolean
  readonly 'readOnly attributes': readonly string[]
  readonly 'readOnly oneByOne': readonly string[]
  readonly mountError: string
  readonly links: { ours: Json[]; ip: Json[]; podOurs: unknown[]; bridge: Json[]; bridgeIp: Json[] }
  readonly addresses: { ours: Json[]; ip: { ifindex: number; addr_info: Json[] }[] }
  readonly routes: { ours: Json[]; ip: Json[]; ip6: Json[]; table: Json[]; pod: Json[] }
  readonly neighbours: { ours: Json[]; ip: Json[] }
  readonly refusals: Json
  readonly statistics: { before: Json; after: Json; fromDump: Json; ip: { rx: Json; tx: Json } }
  readonly counters: Record<
    string,
    {
      ours: Counted
      listed: Counted
      byHandle: (RuleCounters | null)[]
      inTable: RuleCounters[]
      rules: RuleCounters[]
    }
  >
  readonly absent: unknown
  readonly manyReplies: number
  readonly handles: { ours: number[]; nft: string[] }
  readonly connections: {
    events: { change: string; connection: ConnectionJson }[]
    ours: ConnectionJson[]
    tool: string[]
  }
  readonly deletedTwice: string
  readonly destroyed: boolean
  readonly loaded: Json
  readonly typed: Json[]
  readonly generations: number
  readonly problems: readonly string[]
  readonly overrun: { overruns: number; messages: number; later: number }
  readonly msPerPod: number
  readonly portsUp: number
}

interface TupleJson {
  readonly source: string
  readonly destination: string
  readonly protocol: number
  readonly sourcePort: number
  readonly destinationPort: number
}

interface ConnectionJson {
  readonly id: number
  readonly original: TupleJson
  readonly reply: TupleJson
  readonly tcpState?: string
}

let folder = ''

beforeAll(async () => {
  mkdirSync(join(root, 'out'), { recursive: true })
  folder = mkdtempSync(join(root, 'out/netlink-'))
  chmodSync(folder, 0o755)
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: {
      ssr: 'test/system/netlink/lab-scenario.ts',
      outDir: folder,
      target: 'node20',
      emptyOutDir: false,
    },
  })
})

afterAll(() => {
  if (folder) rmSync(folder, { recursive: true })
})

describe.each(Object.keys(ways) as (keyof typeof ways)[])('the kernel layer, %s', (way) => {
  const missing = whatIsMissing(way)
  if (missing !== undefined && !process.env['CI']) {
    test.skip(missing, () => undefined)
    return
  }
  let report: Report

  beforeAll(() => {
    if (missing !== undefined) throw new Error(missing)
    const [command = '', ...args] = [...ways[way], process.execPath, join(folder, 'lab-scenario.js')]
    const output = execFileSync(command, args, { encoding: 'utf8', env: { PATH }, timeout: 30_000, cwd: '/' })
    report = JSON.parse(output) as Report
  })

  test('enters network, host name and mount namespaces, children too, and comes back', () => {
    expect(report.inside).toEqual({
      links: ['lo'],
      hostname: 'pod-0',
      childHostname: 'pod-0',
      childLinks: ['lo'],
      isMounted: true,
    })
    expect(report.outside).toEqual({
      hostname: true,
      isMounted: false,
      directory: '/tmp/here',
      ownDirectory: '/tmp/here',
    })
    expect(report.nested).toEqual([true, true, true])
  })

  test('comes back when the work throws or is not synchronous', () => {
    expect(report.throwing).toEqual([
      'work in a namespace must be synchronous, but it returned a promise',
      'work failed',
      'preparing failed',
      'this net namespace is closed',
    ])
    expect(report.home).toBe(true)
  })

  test('makes mounts read-only, with and without mount_setattr', () => {
    expect(report['readOnly attributes']).toEqual(['EROFS', 'EROFS'])
    expect(report['readOnly oneByOne']).toEqual(['EROFS', 'EROFS'])
    expect(report.mountError).toBe('mount tmpfs on /nowhere: No such file or directory (ENOENT)')
  })

  test('lets children drop their identity', () => {
    expect(report.identityBefore).toBe(way === 'root')
    expect(report.identityFilter).toEqual({ installed: true })
    expect(report.identityAfter).toBe(true)
  })

  test('makes and lists links as ip does', () => {
    const { links } = report
    expect(
      links.ours.map(({ index, name, mtu, macAddress, kind, operationalState, master }) => ({
        index,
        name,
        mtu,
        macAddress,
        kind,
        operationalState,
        master,
      })),
    ).toEqual(
      links.ip.map((link) => ({
        index: link['ifindex'],
        name: link['ifname'],
        mtu: link['mtu'],
        macAddress: link['address'],
        kind: (link['linkinfo'] as { info_kind?: string } | undefined)?.info_kind,
        operationalState: String(link['operstate']).toLowerCase(),
        master: links.ip.find(({ ifname }) => ifname === link['master'])?.['ifindex'],
      })),
    )
    expect(links.ours.find(({ name }) => name === 'renamed')).toMatchObject({
      index: 21,
      mtu: 1280,
      macAddress: '02:00:00:00:00:21',
      peer: 20,
      isUp: true,
    })
    expect(links.podOurs).toContainEqual(['eth0', 1400, '02:00:0a:f4:01:02'])
    expect(links.bridge.map(({ ifname, state, hairpin }) => [ifname, state, hairpin])).toEqual([
      ['veth0', 'forwarding', true],
      ['veth1', 'forwarding', false],
    ])
    expect(links.bridgeIp[0]).toMatchObject({
      linkinfo: { info_data: { stp_state: 0, mcast_snooping: 0, forward_delay: 0 } },
    })
  })

  test('makes and lists addresses as ip does', () => {
    const ip = report.addresses.ip.flatMap(({ ifindex, addr_info }) =>
      addr_info.map((address) => ({
        link: ifindex,
        family: address['family'] === 'inet' ? 4 : 6,
        address: address['local'],
        prefixLength: address['prefixlen'],
        broadcast: address['broadcast'],
        scope: address['scope'] === 'global' ? 'universe' : address['scope'],
      })),
    )
    expect(report.addresses.ours).toHaveLength(ip.length)
    expect(report.addresses.ours).toEqual(expect.arrayContaining(ip))
  })

  test('makes and lists routes as ip does', () => {
    const names = new Map(report.links.ours.map(({ name, index }) => [name, index]))
    const ip = [...report.routes.ip.map(withFamily(4)), ...report.routes.ip6.map(withFamily(6))].map(
      (route) => {
        const anywhere = route.family === 4 ? '0.0.0.0/0' : '::/0'
        const destination = route['dst'] === 'default' ? anywhere : String(route['dst'])
        return {
          family: route.family,
          destination: destination.includes('/')
            ? destination
            : `${destination}/${route.family === 4 ? 32 : 128}`,
          gateway: route['gateway'],
          link: route['type'] === 'unicast' ? names.get(route['dev']) : undefined,
          source: route['prefsrc'],
          metric: route['metric'],
          type: route['type'],
          scope: route['scope'] === 'global' ? 'universe' : route['scope'],
          isOnLink: (route['flags'] as string[]).includes('onlink'),
        }
      },
    )
    const ours = report.routes.ours.map(({ table, protocol, ...route }) => {
      expect(table).toBe(254)
      expect([2, 3]).toContain(protocol)
      return route
    })
    expect(ours).toEqual(
      ip.map((route) => Object.fromEntries(Object.entries(route).filter(([, v]) => v !== undefined))),
    )
    expect(report.routes.ours.find(({ destination }) => destination === '10.12.0.0/16')).toMatchObject({
      link: 21,
    })
    expect(report.routes.ours.find(({ destination }) => destination === '10.13.0.0/16')).toBeUndefined()
    expect(report.routes.table).toMatchObject([{ destination: '10.11.0.0/16', table: 1000, link: 20 }])
    expect(report.routes.pod[0]).toMatchObject({ destination: '0.0.0.0/0', gateway: '10.244.1.1', link: 2 })
  })

  test('makes and lists neighbours as ip does', () => {
    expect(report.neighbours.ours).toEqual([
      { link: 20, address: '172.18.0.3', macAddress: '02:00:00:00:00:33', state: 0x80 },
    ])
    expect(report.neighbours.ip).toMatchObject([
      { dst: '172.18.0.3', dev: 'extra0', lladdr: '02:00:00:00:00:33', state: ['PERMANENT'] },
    ])
  })

  test('says what was refused and why, and does the rest', () => {
    expect(report.refusals).toEqual({
      exists: 'add bridge cni0: File exists (EEXIST)',
      gateway: 'add route 10.77.0.0/16 via 203.0.113.1: Nexthop has invalid gateway (ENETUNREACH)',
      noLink: 'set link none0 up true: No such device (ENODEV)',
      among: [
        [1, 'ENODEV'],
        [3, 'EEXIST'],
      ],
      later: 2,
      many: 450,
      manyInLittleSpace: 450,
      none: 0,
    })
  })

  test('reads link statistics as ip does', () => {
    const { before, after, fromDump, ip } = report.statistics
    const expected = {
      rxPackets: String(ip.rx['packets']),
      rxBytes: String(ip.rx['bytes']),
      txPackets: String(ip.tx['packets']),
      txBytes: String(ip.tx['bytes']),
    }
    expect(fromDump).toMatchObject(expected)
    expect(after).toEqual(fromDump)
    expect(Number(after['rxPackets'])).toBeGreaterThan(Number(before['rxPackets']))
  })

  test('reads the counters that iptables -vnxL shows', () => {
    for (const [name, { ours, listed }] of Object.entries(report.counters)) {
      expect(ours, name).toEqual(listed)
    }
    const web = report.counters['nat KUBE-SERVICES']?.ours.rules ?? []
    expect(web.map(({ packets }) => packets)).toEqual(['0', '4'])
    expect(report.counters['filter INPUT']?.ours.rules[0]).toMatchObject({ packets: '7' })
    expect(report.absent).toEqual([[], [], []])
  })

  test('reads the same counters by table and by handle', () => {
    for (const { rules, inTable, byHandle } of Object.values(report.counters)) {
      expect(inTable).toEqual(rules)
      expect(byHandle).toEqual([null, ...rules.toReversed()])
    }
    expect(report.manyReplies).toBe(300)
    expect(report.handles.ours.map(String)).toEqual(report.handles.nft)
  })

  test('follows connections and lists them as conntrack does', () => {
    const { events, ours, tool } = report.connections
    const first = events.find(({ change }) => change === 'new')?.connection
    expect(first).toMatchObject({
      original: { source: '192.168.7.1', destination: '10.96.0.10', protocol: 6, destinationPort: 80 },
      reply: { source: '10.244.1.3', destination: '10.244.1.1', protocol: 6, sourcePort: 8080 },
      tcpState: 'SYN_SENT',
    })
    const states = events.filter(({ connection }) => connection.id === first?.id)
    expect(states.map(({ connection }) => connection.tcpState)).toEqual(
      expect.arrayContaining(['SYN_SENT', 'SYN_RECV', 'ESTABLISHED', 'FIN_WAIT']),
    )
    const told = tool.map((line) => {
      const values = (key: string) =>
        [...line.matchAll(new RegExp(`${key}=(\\S+)`, 'g'))].map((m) => m[1] ?? '')
      const tuple = (i: number) =>
        [values('src')[i], values('dst')[i], values('sport')[i], values('dport')[i]].join()
      return [Number(values(' id')[0]), tuple(0), tuple(1)]
    })
    const text = (tuple: TupleJson) =>
      [tuple.source, tuple.destination, tuple.sourcePort, tuple.destinationPort].join()
    const listed = ours.map(({ id, original, reply }) => [id, text(original), text(reply)])
    expect(listed).toHaveLength(told.length)
    expect(listed).toEqual(expect.arrayContaining(told))
    expect(report.deletedTwice).toBe('ENOENT')
    expect(report.destroyed).toBe(true)
  })

  test('notices rules that somebody else writes', () => {
    expect(report.loaded).toMatchObject({ kind: 'generation', processName: 'iptables-nft-re' })
    expect(report.typed).toMatchObject([
      { kind: 'rule', change: 'new', family: 'ip', table: 'nat', chain: 'KUBE-SVC-A' },
      { kind: 'generation', processName: 'iptables-nft' },
    ])
    expect(report.generations).toBe(3)
    expect(report.problems).toEqual([])
  })

  test('says when events were lost, and goes on', () => {
    expect(report.overrun.overruns).toBeGreaterThan(0)
    expect(report.overrun.messages).toBeLessThan(200)
    expect(report.overrun.later).toBeGreaterThan(0)
  })

  test('makes a hundred pods, all of them reachable at once', () => {
    expect(report.portsUp).toBe(100)
  })
})

function withFamily(family: 4 | 6) {
  return (route: Json) => ({ ...route, family }) as Json & { family: 4 | 6 }
}
