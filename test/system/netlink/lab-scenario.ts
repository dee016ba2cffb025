/**
 * Runs in a process of its own that `unshare` has put into fresh namespaces, root or rootless, and prints what
 * the lab's kernel layer and the system's tools saw, side by side, as one JSON object. The lab test compares.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { ignoreIdentityChanges } from '../../../src-main/system/kernel/identity-filter.ts'
import {
  mount,
  mountFlags,
  mountSetattrRecursiveReadOnly,
  remountReadOnlyOneByOne,
} from '../../../src-main/system/kernel/mount.ts'
import {
  createMountNamespace,
  createNetworkNamespace,
  createUtsNamespace,
  inNamespaces,
  type NamespaceFd,
} from '../../../src-main/system/kernel/namespace.ts'
import {
  addressFamilies,
  bind,
  close,
  connect,
  internetSocketAddress,
  listen,
  send,
  socket,
  socketTypes,
} from '../../../src-main/system/kernel/socket.ts'
import { addAddress, deleteAddress, getAddresses } from '../../../src-main/system/netlink/address-messages.ts'
import {
  type ConnectionEvent,
  deleteConnection,
  getConnections,
  watchConnections,
} from '../../../src-main/system/netlink/conntrack-messages.ts'
import {
  addBridge,
  addVethPair,
  deleteLink,
  getLinkStatistics,
  getLinks,
  setHairpin,
  setLink,
} from '../../../src-main/system/netlink/link-messages.ts'
import {
  deleteNeighbour,
  getNeighbours,
  setNeighbour,
} from '../../../src-main/system/netlink/neighbour-messages.ts'
import {
  getChains,
  getRuleCounters,
  getRuleCountersByHandle,
  getRuleSetGeneration,
  getTableRuleCounters,
  type RuleSetEvent,
  watchRuleSet,
} from '../../../src-main/system/netlink/nf-tables-messages.ts'
import { nfnetlinkGroups } from '../../../src-main/system/netlink/nfnetlink.ts'
import {
  addRoute,
  deleteRoute,
  getRoutes,
  replaceRoute,
} from '../../../src-main/system/netlink/route-messages.ts'
import { type NetlinkSocket, openNetlinkSocket } from '../../../src-main/system/netlink/socket.ts'
import { watchNetlink } from '../../../src-main/system/netlink/watch.ts'

const report: Record<string, unknown> = {}

const env = { PATH: `${process.env['PATH']}:/usr/sbin:/sbin`, LC_ALL: 'C' }

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] })
}

function restore(rules: string, ...args: string[]): void {
  execFileSync('iptables-nft-restore', args, { input: rules, env })
}

function json(command: string, ...args: string[]): unknown {
  return JSON.parse(run(command, ...args) || '[]')
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

function inNode<T>(net: NamespaceFd, work: () => T): T {
  return inNamespaces({ net }, work)
}

function disableIpv6(): void {
  writeFileSync('/proc/sys/net/ipv6/conf/all/disable_ipv6', '1')
}

/** A node with a bridge and two pods; the second pod serves TCP. */
function buildNode() {
  const node = createNetworkNamespace(() => writeFileSync('/proc/sys/net/ipv4/ip_forward', '1'))
  const pods = [createNetworkNamespace(disableIpv6), createNetworkNamespace(disableIpv6)] as const
  const route = inNode(node, () => openNetlinkSocket('route'))
  const podRoutes = pods.map((pod) => inNode(pod, () => openNetlinkSocket('route')))
  route.request(
    setLink(1, { up: true }),
    addBridge({ name: 'cni0', index: 5, macAddress: '02:00:00:00:00:01' }),
    addAddress({ link: 5, address: '10.244.1.1', prefixLength: 24, broadcast: '10.244.1.255' }),
    addAddress({ link: 5, address: 'fd00:10:244::1', prefixLength: 64 }),
    setLink(5, { up: true }),
    ...pods.map((netns, i) =>
      addVethPair({
        name: `veth${i}`,
        index: 10 + i,
        peer: { name: 'eth0', index: 2, netns, mtu: 1400, macAddress: `02:00:0a:f4:01:0${i + 2}` },
      }),
    ),
  )
  for (const [i, podRoute] of podRoutes.entries()) {
    podRoute.request(
      setLink('lo', { up: true }),
      addAddress({ link: 2, address: `10.244.1.${i + 2}`, prefixLength: 24 }),
      setLink('eth0', { up: true }),
      addRoute({ destination: '0.0.0.0/0', gateway: '10.244.1.1' }),
    )
  }
  route.request(
    setLink(10, { up: true }),
    setLink(11, { up: true }),
    setLink(10, { master: 5 }),
    setLink(11, { master: 5 }),
    setHairpin(10, true),
  )
  return { node, pods, route, podRoutes }
}

function namesOfMounts(): string[] {
  return readFileSync('/proc/thread-self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
}

function tryCode(work: () => unknown): string {
  try {
    work()
    return 'done'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}

function tryMessage(work: () => unknown): string {
  try {
    work()
    return 'done'
  } catch (error) {
    return (error as Error).message
  }
}

function kernelSection(): void {
  mount(null, '/', null, mountFlags.recursive | mountFlags.private)
  mount('none', '/tmp', 'tmpfs')
  const becomesAnother = () =>
    spawnSync(process.execPath, ['-e', 'process.setgroups([0]); process.setgid(102); process.setuid(102)'])
      .status === 0
  report['identityBefore'] = becomesAnother()
  report['identityFilter'] = ignoreIdentityChanges()
  report['identityAfter'] = becomesAnother()

  mkdirSync('/tmp/here')
  process.chdir('/tmp/here')
  const net = createNetworkNamespace()
  const uts = createUtsNamespace('pod-0')
  const before = hostname()
  const mounted = inNamespaces({ net }, () =>
    createMountNamespace(() => {
      mount('sysfs', '/sys', 'sysfs', mountFlags.readOnly)
      mount('none', '/mnt', 'tmpfs')
    }),
  )
  const inside = inNamespaces({ net, uts, mount: mounted }, () => ({
    links: readdirSync('/sys/class/net'),
    hostname: hostname(),
    childHostname: run('uname', '-n').trim(),
    childLinks: (json('ip', '-j', 'link') as { ifname: string }[]).map((link) => link.ifname),
    isMounted: namesOfMounts().includes('/mnt'),
  }))
  report['inside'] = inside
  report['outside'] = {
    hostname: hostname() === before,
    isMounted: namesOfMounts().includes('/mnt'),
    directory: run('pwd').trim(),
    ownDirectory: process.cwd(),
  }
  report['throwing'] = [
    tryMessage(() => inNamespaces({ net, uts, mount: mounted }, () => Promise.resolve(1))),
    tryMessage(() =>
      inNamespaces({ net }, () => {
        throw new Error('work failed')
      }),
    ),
    tryMessage(() =>
      createNetworkNamespace(() => {
        throw new Error('preparing failed')
      }),
    ),
    tryMessage(() => {
      const closed = createNetworkNamespace()
      closed.close()
      inNamespaces({ net: closed }, () => 1)
    }),
  ]
  const home = run('readlink', '/proc/self/ns/net')
  report['nested'] = inNamespaces({ net }, () => {
    const own = run('readlink', '/proc/self/ns/net')
    const inner = createNetworkNamespace()
    const nested = inNamespaces({ net: inner }, () => run('readlink', '/proc/self/ns/net'))
    return [nested !== own, own !== home, run('readlink', '/proc/self/ns/net') === own]
  })
  report['home'] = run('readlink', '/proc/self/ns/net') === home

  for (const [name, makeReadOnly] of [
    ['attributes', mountSetattrRecursiveReadOnly],
    ['oneByOne', remountReadOnlyOneByOne],
  ] as const) {
    const path = `/tmp/${name} of it`
    mkdirSync(path)
    mount('none', path, 'tmpfs', mountFlags.noSuid)
    mkdirSync(`${path}/inner`)
    mount('none', `${path}/inner`, 'tmpfs', mountFlags.noDevices)
    makeReadOnly(path)
    report[`readOnly ${name}`] = [
      tryCode(() => writeFileSync(`${path}/file`, '')),
      tryCode(() => writeFileSync(`${path}/inner/file`, '')),
    ]
  }
  report['mountError'] = tryMessage(() => mount('none', '/nowhere', 'tmpfs'))
  process.chdir('/')
}

function routeSection(): ReturnType<typeof buildNode> {
  const lab = buildNode()
  const { node, route, podRoutes } = lab
  route.request(
    addVethPair({ name: 'extra0', index: 20, mtu: 1300, peer: { name: 'extra1', index: 21 } }),
    setLink(21, { name: 'renamed' }),
    setLink(20, { up: true }),
    setLink(21, { up: true, mtu: 1280, macAddress: '02:00:00:00:00:21' }),
    addAddress({ link: 20, address: '192.168.7.1', prefixLength: 32, hasPrefixRoute: false }),
    addRoute({ destination: '10.244.2.0/24', gateway: '172.18.0.3', link: 20, isOnLink: true }),
    addRoute({ destination: '10.9.0.0/16', link: 20, source: '192.168.7.1', metric: 50 }),
    addRoute({ destination: '0.0.0.0/0', link: 20 }),
    addRoute({ destination: '10.10.0.0/16', type: 'unreachable' }),
    addRoute({ destination: 'fd00:99::/64', gateway: 'fd00:10:244::5' }),
    addRoute({ destination: '10.11.0.0/16', link: 20, table: 1000 }),
    addRoute({ destination: '10.12.0.0/16', link: 20 }),
    replaceRoute({ destination: '10.12.0.0/16', link: 21 }),
    addRoute({ destination: '10.13.0.0/16', link: 20 }),
    deleteRoute({ destination: '10.13.0.0/16' }),
    addAddress({ link: 20, address: '192.168.7.2', prefixLength: 24 }),
    deleteAddress({ link: 20, address: '192.168.7.2', prefixLength: 24 }),
    setNeighbour({ link: 20, address: '172.18.0.3', macAddress: '02:00:00:00:00:33' }),
    setNeighbour({ link: 20, address: '172.18.0.4', macAddress: '02:00:00:00:00:44' }),
    deleteNeighbour(20, '172.18.0.4'),
    addBridge({ name: 'gone0', index: 30 }),
    deleteLink('gone0'),
  )
  report['links'] = {
    ours: getLinks(route).map((link) => ({ ...link, statistics: link.statistics !== undefined })),
    ip: inNode(node, () => json('ip', '-j', '-d', 'link')),
    podOurs: getLinks(podRoutes[0] as NetlinkSocket).map(({ name, mtu, macAddress }) => [
      name,
      mtu,
      macAddress,
    ]),
    bridge: inNode(node, () => json('bridge', '-j', '-d', 'link')),
    bridgeIp: inNode(node, () => json('ip', '-j', '-d', 'link', 'show', 'cni0')),
  }
  report['addresses'] = { ours: getAddresses(route), ip: inNode(node, () => json('ip', '-j', 'addr')) }
  report['routes'] = {
    ours: getRoutes(route),
    ip: inNode(node, () => json('ip', '-j', '-details', 'route')),
    ip6: inNode(node, () => json('ip', '-6', '-j', '-details', 'route')),
    table: getRoutes(route, { table: 1000 }),
    pod: getRoutes(podRoutes[0] as NetlinkSocket),
  }
  report['neighbours'] = {
    ours: getNeighbours(route).filter(({ state }) => state === 0x80),
    ip: inNode(node, () => json('ip', '-j', 'neigh', 'show', 'nud', 'permanent')),
  }
  report['refusals'] = {
    exists: tryMessage(() => route.request(addBridge({ name: 'cni0' }))),
    gateway: tryMessage(() =>
      podRoutes[0]?.request(addRoute({ destination: '10.77.0.0/16', gateway: '203.0.113.1' })),
    ),
    noLink: tryMessage(() => route.request(setLink('none0', { up: true }))),
    among: route
      .tryRequest([
        addAddress({ link: 5, address: '10.50.0.1', prefixLength: 32 }),
        addAddress({ link: 999, address: '10.50.0.2', prefixLength: 32 }),
        addAddress({ link: 5, address: '10.50.0.3', prefixLength: 32 }),
        addAddress({ link: 5, address: '10.50.0.1', prefixLength: 32 }),
      ])
      .map(({ index, error }) => [index, error.code]),
    later: getAddresses(route).filter(({ address }) => address.startsWith('10.50.')).length,
    // More than one send, and none of them ends with a request that succeeds.
    many: route.tryRequest(Array.from({ length: 450 }, () => deleteLink('none0'))).length,
    manyInLittleSpace: inNode(node, () =>
      openNetlinkSocket('route', { receiveBufferBytes: 4096 }),
    ).tryRequest(Array.from({ length: 450 }, () => deleteLink('none0'))).length,
    none: route.tryRequest([]).length,
  }
  return lab
}

/** Sends to an address from within a namespace; TCP connects, UDP sends `count` datagrams. */
function sendFrom(net: NamespaceFd, kind: 'tcp' | 'udp', host: string, port: number, count = 1): void {
  inNode(net, () => {
    const type = kind === 'tcp' ? socketTypes.stream : socketTypes.datagram
    const fd = socket(addressFamilies.inet, type)
    connect(fd, internetSocketAddress(host, port))
    if (kind === 'udp') for (let i = 0; i < count; i++) send(fd, Buffer.from(`datagram ${i}`))
    close(fd)
  })
}

/** The node's own IPv6 packets may come between two reads: read until none did. */
function statisticsAtOneMoment(pod: NamespaceFd, route: NetlinkSocket): object {
  for (let attempt = 0; ; attempt++) {
    const after = getLinkStatistics(route).get(2)
    const [link] = inNode(pod, () => json('ip', '-j', '-s', 'link', 'show', 'eth0')) as [{ stats64: unknown }]
    const fromDump = getLinks(route).find(({ index }) => index === 2)?.statistics
    const isQuiet = after?.rxPackets === fromDump?.rxPackets && after?.txPackets === fromDump?.txPackets
    if (isQuiet || attempt === 20) return { after, fromDump, ip: link.stats64 }
  }
}

interface ListedRule {
  packets: string
  bytes: string
}

/** Counters of `iptables -vnxL CHAIN`: the policy's, and each rule's. */
function listed(table: string, chain: string): { policy: ListedRule | undefined; rules: ListedRule[] } {
  const lines = run('iptables-nft', '-t', table, '-vnxL', chain).split('\n')
  const policy = /policy \w+ (\d+) packets, (\d+) bytes/.exec(lines[0] ?? '')
  const rules = lines.slice(2).flatMap((line) => {
    const fields = /^\s*(\d+)\s+(\d+)\s/.exec(line)
    return fields ? [{ packets: fields[1] ?? '', bytes: fields[2] ?? '' }] : []
  })
  return { policy: policy ? { packets: policy[1] ?? '', bytes: policy[2] ?? '' } : undefined, rules }
}

async function netfilterSection({ node, pods }: ReturnType<typeof buildNode>): Promise<void> {
  const netfilter = inNode(node, () => openNetlinkSocket('netfilter'))
  const changes: RuleSetEvent[] = []
  const connections: ConnectionEvent[] = []
  const problems: string[] = []
  const onError = (error: Error) => problems.push(error.message)
  const onOverrun = () => problems.push('overrun')
  const ruleWatch = inNode(node, () =>
    watchRuleSet({ onChange: (events) => changes.push(...events), onOverrun, onError }),
  )
  const connectionWatch = inNode(node, () =>
    watchConnections({ onEvent: (event) => connections.push(event), onOverrun, onError }, [
      'new',
      'update',
      'destroy',
    ]),
  )
  const generation = getRuleSetGeneration(netfilter)
  inNode(node, () =>
    restore(
      `*nat
:PREROUTING ACCEPT [0:0]
:INPUT ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
:KUBE-SERVICES - [0:0]
:KUBE-SVC-A - [0:0]
:KUBE-MARK-MASQ - [0:0]
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A OUTPUT -j KUBE-SERVICES
-A POSTROUTING -m mark --mark 0x4000/0x4000 -j MASQUERADE
-A KUBE-MARK-MASQ -j MARK --or-mark 0x4000
-A KUBE-SERVICES -d 10.96.0.9/32 -p udp -m comment --comment "default/none cluster IP" -m udp --dport 53 -j KUBE-SVC-A
-A KUBE-SERVICES -d 10.96.0.10/32 -p tcp -m comment --comment "default/web cluster IP" -m tcp --dport 80 -j KUBE-SVC-A
-A KUBE-SVC-A ! -s 10.244.0.0/16 -j KUBE-MARK-MASQ
-A KUBE-SVC-A -p tcp -j DNAT --to-destination 10.244.1.3:8080
COMMIT
*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
-A FORWARD -p tcp
-A FORWARD -m mark --mark 0x77/0x77 -j DROP
-A INPUT -p udp --dport 9999
COMMIT
`,
    ),
  )
  const server = inNode(pods[1], () => {
    const fd = socket(addressFamilies.inet, socketTypes.stream)
    bind(fd, internetSocketAddress('0.0.0.0', 8080))
    listen(fd)
    return fd
  })
  const udpServer = inNode(node, () => {
    const fd = socket(addressFamilies.inet, socketTypes.datagram)
    bind(fd, internetSocketAddress('10.244.1.1', 9999))
    return fd
  })
  const podRouteLink = inNode(pods[1], () => openNetlinkSocket('route'))
  const before = getLinkStatistics(podRouteLink).get(2)
  // The node reaches the Service too.
  sendFrom(node, 'tcp', '10.96.0.10', 80)
  sendFrom(pods[0], 'udp', '10.244.1.1', 9999, 7)
  for (let i = 0; i < 3; i++) sendFrom(node, 'tcp', '10.96.0.10', 80)
  await sleep(300)
  report['statistics'] = { before, ...statisticsAtOneMoment(pods[1], podRouteLink) }

  const counters: Record<string, unknown> = {}
  const pairs = [
    ['nat', 'PREROUTING'],
    ['nat', 'OUTPUT'],
    ['nat', 'POSTROUTING'],
    ['nat', 'KUBE-SERVICES'],
    ['nat', 'KUBE-SVC-A'],
    ['nat', 'KUBE-MARK-MASQ'],
    ['filter', 'INPUT'],
    ['filter', 'FORWARD'],
    ['filter', 'OUTPUT'],
  ] as const
  for (const [table, chain] of pairs) {
    const rules = getRuleCounters(netfilter, 'ip', table, chain)
    counters[`${table} ${chain}`] = {
      ours: {
        policy: getChains(netfilter, 'ip', table).find(({ name }) => name === chain)?.base?.counters,
        rules: rules.map(({ packets, bytes }) => ({ packets, bytes })),
      },
      listed: inNode(node, () => listed(table, chain)),
      byHandle: getRuleCountersByHandle(
        netfilter,
        'ip',
        table,
        chain,
        [...rules.map(({ handle }) => handle), 77777].reverse(),
      ),
      inTable: getTableRuleCounters(netfilter, 'ip', table).get(chain) ?? [],
      rules,
    }
  }
  report['counters'] = counters
  report['absent'] = [
    getRuleCounters(netfilter, 'ip', 'nat', 'NO-SUCH-CHAIN'),
    getRuleCounters(netfilter, 'ip', 'mangle', 'PREROUTING'),
    getChains(netfilter, 'ip6', 'nat'),
  ]
  const littleSpace = inNode(node, () => openNetlinkSocket('netfilter', { receiveBufferBytes: 4096 }))
  const [web] = getRuleCounters(netfilter, 'ip', 'nat', 'KUBE-SVC-A')
  report['manyReplies'] = getRuleCountersByHandle(
    littleSpace,
    'ip',
    'nat',
    'KUBE-SVC-A',
    Array.from({ length: 300 }, () => web?.handle ?? 0),
  ).filter((rule) => rule?.packets === web?.packets).length
  report['handles'] = {
    ours: getRuleCounters(netfilter, 'ip', 'nat', 'KUBE-SVC-A').map(({ handle }) => handle),
    nft: inNode(node, () => run('nft', '-a', 'list', 'chain', 'ip', 'nat', 'KUBE-SVC-A'))
      .split('\n')
      .flatMap((line) => /(?:counter|dnat|jump).*# handle (\d+)/.exec(line)?.[1] ?? []),
  }
  report['connections'] = {
    events: connections,
    ours: getConnections(netfilter),
    tool: inNode(node, () => run('conntrack', '-L', '-o', 'id'))
      .trim()
      .split('\n'),
  }
  const doomed = getConnections(netfilter).find(({ original }) => original.protocol === 17)
  if (doomed) netfilter.request(deleteConnection(doomed))
  report['deletedTwice'] = doomed && tryCode(() => netfilter.request(deleteConnection(doomed)))
  await sleep(50)
  report['destroyed'] = connections.some(
    ({ change, connection }) => change === 'destroy' && connection.id === doomed?.id,
  )

  const loaded = changes.length
  report['loaded'] = changes.at(-1)
  inNode(node, () => run('iptables-nft', '-t', 'nat', '-A', 'KUBE-SVC-A', '-j', 'RETURN'))
  await sleep(50)
  report['typed'] = changes.slice(loaded)
  report['generations'] = getRuleSetGeneration(netfilter) - generation

  report['problems'] = problems
  const overruns = await countOverruns(node)
  report['overrun'] = overruns
  ruleWatch.close()
  connectionWatch.close()
  connectionWatch.close()
  close(server)
  close(udpServer)
}

/** Floods a watch whose buffer is small while this thread does not read. */
async function countOverruns(
  node: NamespaceFd,
): Promise<{ overruns: number; messages: number; later: number }> {
  const result = { overruns: 0, messages: 0, later: 0 }
  let isFlood = true
  const watch = inNode(node, () => {
    const events = openNetlinkSocket('netfilter', { isBlocking: false, receiveBufferBytes: 8192 })
    events.join(nfnetlinkGroups.nfTables)
    return watchNetlink(events, {
      onMessage: () => {
        if (isFlood) result.messages++
        else result.later++
      },
      onOverrun: () => result.overruns++,
      onError: (error) => {
        throw error
      },
    })
  })
  const rules = Array.from({ length: 200 }, (_, i) => `-A FLOOD -s 10.0.0.${i} -j RETURN\n`).join('')
  inNode(node, () => restore(`*filter\n:FLOOD - [0:0]\n${rules}COMMIT\n`, '--noflush'))
  await sleep(50)
  isFlood = false
  inNode(node, () => run('iptables-nft', '-A', 'FLOOD', '-j', 'RETURN'))
  await sleep(50)
  watch.close()
  return result
}

function speedSection(): void {
  const podCount = 100
  const nodes = [0, 1].map(() => createNetworkNamespace(disableIpv6))
  const routes = nodes.map((net) => inNode(net, () => openNetlinkSocket('route')))
  for (const route of routes) route.request(addBridge({ name: 'cni0', index: 2 }), setLink(2, { up: true }))
  const start = performance.now()
  const pods = Array.from({ length: podCount }, (_, i) => {
    let route: NetlinkSocket | undefined
    const net = createNetworkNamespace(() => {
      disableIpv6()
      route = openNetlinkSocket('route')
    })
    return { net, route, index: 10 + i, node: i % 2 }
  })
  routes.forEach((route, node) => {
    const own = pods.filter((pod) => pod.node === node)
    route.request(
      ...own.map(({ net, index }) =>
        addVethPair({ name: `veth${index}`, index, peer: { name: 'eth0', index: 2, netns: net } }),
      ),
    )
    for (const { route: podRoute, index } of own) {
      podRoute?.request(
        setLink(1, { up: true }),
        addAddress({ link: 2, address: `10.244.${node}.${index}`, prefixLength: 24 }),
        setLink(2, { up: true }),
        addRoute({ destination: '0.0.0.0/0', gateway: `10.244.${node}.1` }),
      )
      podRoute?.close()
    }
    route.request(...own.map(({ index }) => setLink(index, { up: true })))
    route.request(...own.map(({ index }) => setLink(index, { master: 2 })))
  })
  report['msPerPod'] = (performance.now() - start) / podCount
  report['portsUp'] = routes
    .flatMap((route) => getLinks(route))
    .filter((link) => link.master === 2 && link.hasCarrier && link.operationalState === 'up').length
}

kernelSection()
const lab = routeSection()
await netfilterSection(lab)
speedSection()
// A watch left open must not keep the process alive.
watchConnections({ onEvent: () => undefined, onOverrun: () => undefined, onError: () => undefined })
process.stdout.write(
  JSON.stringify(report, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)),
)
