/**
 * Runs in a process of its own, in a fresh network namespace that is the node: loads one rule set after the other, sends
 * random packets from a pod, a client, another node and the node itself, and compares what the kernel's trace says of
 * each with the walk. Reads the plan's file name from argv and prints a report as JSON.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { parseSave } from '../../src-main/domain/iptables/parse-save.ts'
import type { RuleSet } from '../../src-main/domain/iptables/rule-set.ts'
import { optionOf, readRule } from '../../src-main/domain/iptables/rule-spec.ts'
import { OpenChains } from '../../src-main/domain/trace/open-chains.ts'
import type { TraceEvent } from '../../src-main/domain/trace/trace-event.ts'
import type { WalkContext } from '../../src-main/domain/trace/walk-context.ts'
import type { TcpFlag, WalkPacket } from '../../src-main/domain/trace/walk-packet.ts'
import { hopsOf, type Walk, type WalkPath } from '../../src-main/domain/trace/walk-path.ts'
import { type WalkOptions, walkRuleset } from '../../src-main/domain/trace/walk-ruleset.ts'
import { lastErrno, libcFunction } from '../../src-main/system/kernel/libc.ts'
import {
  createNetworkNamespace,
  inNamespaces,
  type NamespaceFd,
} from '../../src-main/system/kernel/namespace.ts'
import {
  addressFamilies,
  internetSocketAddress,
  receive,
  receiveFlags,
  socket,
  socketTypes,
} from '../../src-main/system/kernel/socket.ts'
import { addAddress } from '../../src-main/system/netlink/address-messages.ts'
import { walkMessages } from '../../src-main/system/netlink/codec.ts'
import { addVethPair, setLink } from '../../src-main/system/netlink/link-messages.ts'
import { getTableRuleCounters } from '../../src-main/system/netlink/nf-tables-messages.ts'
import { nfnetlinkGroups } from '../../src-main/system/netlink/nfnetlink.ts'
import { addRoute } from '../../src-main/system/netlink/route-messages.ts'
import { type NetlinkSocket, openNetlinkSocket } from '../../src-main/system/netlink/socket.ts'
import { decodeTraceEvent } from '../../src-main/system/trace-monitor/decode-trace.ts'
import { type Random, randomFrom } from './walk-random-rules.ts'

export interface WalkPlan {
  readonly seed: number
  /** No rule set is begun after so long; the report says how many were done. */
  readonly budgetMs: number
  readonly sets: readonly {
    readonly name: string
    readonly save: string
    readonly packets: number
    /** Whether to send later packets of the same connections, too. */
    readonly later: boolean
  }[]
}

export interface WalkReport {
  readonly packets: number
  readonly hops: number
  readonly branching: number
  /** Of chains that somebody jumped to, by the kernel's word; so many of them had no rule. */
  readonly chainEnds: number
  readonly emptyChainEnds: number
  readonly gotos: number
  readonly ends: Record<string, number>
  readonly sets: number
  /** At most 20; `wrong` counts all. */
  readonly wrong: number
  readonly differences: readonly unknown[]
  /** Paths whose frequency does not fit their chance. */
  readonly unlikely: readonly unknown[]
  /** By rule set: `nat KUBE-SERVICES 3`, the rules that no packet matched. */
  readonly unmatched: Readonly<Record<string, readonly string[]>>
  readonly overruns: number
}

const env = { PATH: `${process.env['PATH']}:/usr/sbin:/sbin`, LC_ALL: 'C' }
const sendto = libcFunction('sendto', 'long', ['int', 'void *', 'size_t', 'int', 'void *', 'uint'])

const NODE_LINKS = { 5: 'cni0', 6: 'eth0', 7: 'eth1', 1: 'lo' } as Record<number, string>
const context: WalkContext = {
  interfaces: [
    { name: 'lo', addresses: ['127.0.0.1/8'] },
    { name: 'cni0', addresses: ['10.244.1.1/24'] },
    { name: 'eth0', addresses: ['192.168.0.2/24'] },
    { name: 'eth1', addresses: ['172.18.0.2/16'] },
  ],
  routes: [
    { to: '10.244.0.0/16', via: '172.18.0.3', dev: 'eth1' },
    { to: 'default', via: '192.168.0.1', dev: 'eth0' },
  ],
  sysctls: { ipForward: true, routeLocalnet: true, rpFilter: 0, acceptLocal: false },
  bridges: [],
}

type Sender = 'pod' | 'client' | 'peer' | 'node'
const SENDERS: Record<Sender, { readonly in?: string; readonly sources: readonly string[] }> = {
  pod: { in: 'cni0', sources: ['10.244.1.250', '10.244.1.7', '10.244.1.5'] },
  client: {
    in: 'eth0',
    sources: ['198.51.100.7', '203.0.113.200', '192.168.0.250', '10.0.0.9', '8.8.8.8', '192.168.0.2'],
  },
  peer: { in: 'eth1', sources: ['10.244.2.8', '10.244.3.9', '172.18.0.250', '172.18.0.3'] },
  node: { sources: ['192.168.0.2', '172.18.0.2', '10.244.1.1', '127.0.0.1'] },
}

const MARKED_TOS = 4
const TRACED_TTL = 77
const EPERM = 1

function buildNode(): Record<Sender, number> {
  const sysctl = (name: string, value: string) => writeFileSync(`/proc/sys/net/${name}`, value)
  const quiet = () => {
    for (const scope of ['all', 'default']) {
      if (existsSync('/proc/sys/net/ipv6')) sysctl(`ipv6/conf/${scope}/disable_ipv6`, '1')
      sysctl(`ipv4/conf/${scope}/rp_filter`, '0')
      sysctl(`ipv4/conf/${scope}/send_redirects`, '0')
    }
  }
  const route = openNetlinkSocket('route')
  quiet()
  sysctl('ipv4/ip_forward', '1')
  sysctl('ipv4/conf/all/route_localnet', '1')
  sysctl('ipv4/conf/default/route_localnet', '1')
  route.request(setLink(1, { up: true }))
  const others = [
    { index: 5, name: 'cni0', own: '10.244.1.1', length: 24, theirs: '10.244.1.250' },
    { index: 6, name: 'eth0', own: '192.168.0.2', length: 24, theirs: '192.168.0.250' },
    { index: 7, name: 'eth1', own: '172.18.0.2', length: 16, theirs: '172.18.0.250' },
  ].map(({ index, name, own, length, theirs }) => {
    const net = createNetworkNamespace(quiet)
    route.request(addVethPair({ name, index, peer: { name: 'eth0', index: 2, netns: net } }))
    const there = inNamespaces({ net }, () => openNetlinkSocket('route'))
    there.request(
      setLink(1, { up: true }),
      addAddress({ link: 2, address: theirs, prefixLength: 32 }),
      setLink(2, { up: true }),
    )
    route.request(
      addAddress({ link: index, address: own, prefixLength: length }),
      setLink(index, { up: true }),
    )
    there.request(addRoute({ destination: '0.0.0.0/0', gateway: own, link: 2, isOnLink: true }))
    there.close()
    return net
  })
  route.request(
    addRoute({ destination: '10.244.0.0/16', gateway: '172.18.0.3', link: 7 }),
    addRoute({ destination: '0.0.0.0/0', gateway: '192.168.0.1', link: 6 }),
  )
  route.close()
  const [pod, client, peer] = others as [NamespaceFd, NamespaceFd, NamespaceFd]
  const raw = () => socket(addressFamilies.inet, socketTypes.raw, 255)
  return {
    pod: inNamespaces({ net: pod }, raw),
    client: inNamespaces({ net: client }, raw),
    peer: inNamespaces({ net: peer }, raw),
    node: raw(),
  }
}

const TRACE_TABLE = `table inet walk_test {
  chain pre {
    type filter hook prerouting priority -301
    ip ttl ${TRACED_TTL} iif != lo ip dscp 1 meta mark set 0x4000
    ip ttl ${TRACED_TTL} meta nftrace set 1
  }
  chain out {
    type filter hook output priority -301
    ip ttl ${TRACED_TTL} ip dscp 1 meta mark set 0x4000
    ip ttl ${TRACED_TTL} meta nftrace set 1
  }
}
`

/** Added first, so that none is missing. */
const DELETE_TABLES = ['raw', 'mangle', 'nat', 'filter']
  .map((table) => `table ip ${table}\ndelete table ip ${table}\n`)
  .join('')

interface Sent {
  /** The IP header's identification. */
  readonly id: number
  /** TCP's, as is the acknowledgement. */
  readonly sequence: number
  readonly acknowledgement?: number
  readonly sender: Sender
  readonly packet: WalkPacket
}

/** What a rule set's rules speak of. */
function findTargets(ruleSet: RuleSet) {
  const addresses = new Set<string>()
  const ports = new Set<number>()
  const sources = new Set<string>()
  const services: { dst: string; dport: number; protocol: string }[] = []
  for (const rule of ruleSet.tables.flatMap((table) => table.rules)) {
    const spec = readRule(rule)
    const written = spec.matches.map((match) => optionOf(match, '--dport')?.values[0]).find((port) => port)
    const dport = written === undefined ? undefined : Number(written.split(':')[0])
    const dst = spec.destination && oneOf(spec.destination.value)
    const protocol = spec.protocol?.value ?? 'tcp'
    if (dst) addresses.add(dst)
    if (dport !== undefined) {
      ports.add(dport)
      services.push({ dst: dst ?? '192.168.0.2', dport, protocol })
    }
    const [to, port] = spec.target
      ? (optionOf(spec.target, '--to-destination')?.values[0]?.split(':') ?? [])
      : []
    if (to && addresses.size < 60) addresses.add(to)
    if (port) ports.add(Number(port))
    const source = spec.source && oneOf(spec.source.value)
    if (source && sources.size < 20) sources.add(source)
  }
  return {
    services: services.filter(({ protocol }) => protocol === 'tcp' || protocol === 'udp'),
    addresses: [...addresses],
    ports: [...ports].filter((port) => port > 0),
    sources: [...sources],
  }
}

/** An address that a rule's prefix holds. */
function oneOf(written: string): string {
  const [address = '', length = '32'] = written.split('/')
  return length === '32' ? address : address.replace(/\d+$/, '77')
}

function near(random: Random, address: string): string {
  const octets = address.split('.').map(Number)
  octets[3] = Math.min(254, Math.max(1, (octets[3] ?? 1) + (random.below(2) ? 1 : -1)))
  return octets.join('.')
}

function isSendable(address: string): boolean {
  const [first = 0] = address.split('.').map(Number)
  // Broadcasts need a socket option, and multicast is not walked.
  return first > 0 && first < 224 && !/\.(0|255)$/.test(address)
}

let nextPort = 1024

function makePacket(
  random: Random,
  targets: ReturnType<typeof findTargets>,
): { sender: Sender; packet: WalkPacket } {
  const sender = random.pick<Sender>(['pod', 'pod', 'client', 'client', 'peer', 'node'])
  const { sources, in: link } = SENDERS[sender]
  const elsewhere = ['192.168.0.2', '172.18.0.2', '10.244.1.1', '10.244.2.99', '8.8.4.4', '192.168.0.77']
  const isService = random.next() < 0.6 && targets.services.length > 0
  const service = isService ? random.pick(targets.services) : undefined
  let dst =
    service?.dst ??
    (random.next() < 0.5 && targets.addresses.length > 0
      ? random.pick(targets.addresses)
      : random.pick(elsewhere))
  // A node port is any of the node's own addresses.
  if (service?.dst === '192.168.0.2' && random.below(2))
    dst = random.pick(
      sender === 'node' ? ['172.18.0.2', '10.244.1.1', '127.0.0.1'] : ['172.18.0.2', '10.244.1.1'],
    )
  if (random.next() < 0.1) dst = near(random, dst)
  const dport =
    service && random.next() < 0.9
      ? service.dport
      : targets.ports.length > 0 && random.next() < 0.7
        ? random.pick(targets.ports) + (random.next() < 0.3 ? 1 : 0)
        : 1 + random.below(60000)
  const src =
    random.next() < 0.25 && sender !== 'node' && targets.sources.length > 0
      ? random.pick(targets.sources)
      : random.pick(sources)
  const protocol =
    random.next() < 0.05
      ? 'icmp'
      : random.next() < 0.9 && service
        ? service.protocol
        : random.pick(['tcp', 'udp'])
  const isMarked = random.next() < 0.1
  nextPort = nextPort >= 65000 ? 1024 : nextPort + 1
  const common = {
    protocol,
    src,
    dst,
    ttl: TRACED_TTL,
    length: protocol === 'tcp' ? 40 : 28,
    tos: isMarked ? MARKED_TOS : 0,
    ...(isMarked ? { mark: 0x4000 } : {}),
    ...(link === undefined ? {} : { in: link }),
  }
  const usable =
    isSendable(dst) &&
    isSendable(src) &&
    (sender === 'node' || !dst.startsWith('127.')) &&
    !/\.250$/.test(dst)
  if (!usable || src.startsWith('127.') !== (sender === 'node' && src === '127.0.0.1'))
    return makePacket(random, targets)
  if (protocol === 'icmp')
    return { sender, packet: { ...common, icmp: { type: 8, code: 0 }, owner: { uid: 0, gid: 0 } } }
  const flags: readonly TcpFlag[] =
    random.next() < 0.85
      ? ['SYN']
      : random.pick<TcpFlag[]>([['ACK'], ['RST'], ['SYN', 'ACK'], ['FIN', 'ACK'], ['RST', 'ACK']])
  return {
    sender,
    packet: {
      ...common,
      sport: nextPort,
      dport,
      ...(protocol === 'tcp' ? { tcpFlags: flags } : {}),
      owner: { uid: 0, gid: 0 },
    },
  }
}

const FLAG_BITS = { FIN: 1, SYN: 2, RST: 4, PSH: 8, ACK: 16, URG: 32 } as const

function checksum(bytes: Buffer, start = 0): number {
  let sum = start
  for (let i = 0; i < bytes.length; i += 2) sum += ((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0)
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
  return ~sum & 0xffff
}

function encode({ id, sequence, acknowledgement, packet }: Sent): Buffer {
  const protocol = { tcp: 6, udp: 17, icmp: 1 }[packet.protocol] ?? 0
  const body = Buffer.alloc(packet.protocol === 'tcp' ? 20 : 8)
  if (packet.protocol === 'icmp') {
    body[0] = packet.icmp?.type ?? 8
    body.writeUInt16BE(id, 4)
  } else {
    body.writeUInt16BE(packet.sport ?? 0, 0)
    body.writeUInt16BE(packet.dport ?? 0, 2)
    if (packet.protocol === 'tcp') {
      body.writeUInt32BE(sequence, 4)
      body.writeUInt32BE(acknowledgement ?? 0, 8)
      body[12] = 5 << 4
      body[13] = (packet.tcpFlags ?? []).reduce((bits, flag) => bits | FLAG_BITS[flag], 0)
      body.writeUInt16BE(1024, 14)
    } else body.writeUInt16BE(8, 4)
  }
  const header = Buffer.alloc(20)
  header[0] = 0x45
  header[1] = packet.tos ?? 0
  header.writeUInt16BE(20 + body.length, 2)
  header.writeUInt16BE(id, 4)
  header[8] = TRACED_TTL
  header[9] = protocol
  header.set(packet.src.split('.').map(Number), 12)
  header.set(packet.dst.split('.').map(Number), 16)
  header.writeUInt16BE(checksum(header), 10)
  const pseudo = Buffer.concat([header.subarray(12, 20), Buffer.from([0, protocol, 0, body.length])])
  const partial = packet.protocol === 'icmp' ? 0 : ~checksum(pseudo) & 0xffff
  const sum = checksum(body, partial)
  body.writeUInt16BE(
    sum === 0 && packet.protocol === 'udp' ? 0xffff : sum,
    packet.protocol === 'tcp' ? 16 : packet.protocol === 'udp' ? 6 : 2,
  )
  return Buffer.concat([header, body])
}

const buffer = Buffer.alloc(256 * 1024)
let overruns = 0

function drain(trace: NetlinkSocket, events: TraceEvent[]): boolean {
  let hasRead = false
  for (;;) {
    let length: number | undefined
    try {
      length = receive(trace.fd, buffer, receiveFlags.dontWait)
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOBUFS') throw error
      overruns++
      continue
    }
    if (length === undefined) return hasRead
    hasRead = true
    walkMessages(buffer, length, ({ start, end, type }) => {
      const event = decodeTraceEvent(buffer, start, end, type)
      if (event) events.push(event)
      return undefined
    })
  }
}

const pause = new Int32Array(new SharedArrayBuffer(4))
function sleep(ms: number): void {
  Atomics.wait(pause, 0, 0, ms)
}

/** Each packet's events: a walk through a base chain begins with the header, whose IP id names the packet. */
function groupEvents(events: readonly TraceEvent[]): Map<number, TraceEvent[]> {
  const packets = new Map<number, TraceEvent[]>()
  const current = new Map<number, number>()
  for (const event of events) {
    if (event.packet) current.set(event.traceId, event.packet.header.ipId)
    const id = current.get(event.traceId)
    if (id === undefined) continue
    const list = packets.get(id)
    if (list) list.push(event)
    else packets.set(id, [event])
  }
  return packets
}

type Handles = ReadonlyMap<string, ReadonlyMap<number, number>>

function readHandles(nft: NetlinkSocket, ruleSet: RuleSet): Handles {
  const handles = new Map<string, Map<number, number>>()
  for (const { name } of ruleSet.tables) {
    for (const [chain, rules] of getTableRuleCounters(nft, 'ip', name))
      handles.set(`${name} ${chain}`, new Map(rules.map(({ handle }, i) => [handle, i + 1])))
  }
  return handles
}

const HOOKS: ReadonlySet<string> = new Set(['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'])

interface SeenHop {
  readonly at: string
  readonly header: string | undefined
}

function seenHops(events: readonly TraceEvent[], handles: Handles): SeenHop[] {
  return events.flatMap((event): SeenHop[] => {
    if (event.family !== 2) return []
    if (event.type === 'return')
      // A built-in chain's end is its policy's.
      return HOOKS.has(event.chain)
        ? []
        : [{ at: `${event.table} ${event.chain} end RETURN`, header: undefined }]
    const rule =
      event.type === 'policy' ? 'policy' : handles.get(`${event.table} ${event.chain}`)?.get(event.handle)
    const verdict =
      typeof event.verdict === 'string' ? event.verdict : 'jump' in event.verdict ? 'JUMP' : 'GOTO'
    return [
      {
        at: `${event.table} ${event.chain} ${rule} ${verdict}`,
        header: event.packet && headerText(event, event.chain),
      },
    ]
  })
}

interface ChainEnds {
  /** By the kernel's own word for it. */
  readonly told: readonly string[]
  /** As journeys take them from what comes next. */
  readonly derived: readonly string[]
  readonly gotos: number
}

/** The chains that the packet left at their end; a built-in chain's end is its policy's. */
function chainEnds(events: readonly TraceEvent[]): ChainEnds {
  const told: string[] = []
  const derived: string[] = []
  let gotos = 0
  let open: OpenChains | undefined
  for (const event of events) {
    if (event.family !== 2) continue
    if (event.packet) open = new OpenChains(event.chain)
    if (typeof event.verdict !== 'string' && 'goto' in event.verdict) gotos++
    if (event.type !== 'return')
      derived.push(...(open?.follow(event) ?? []).map(({ chain }) => `${event.table} ${chain}`))
    else if (!HOOKS.has(event.chain)) told.push(`${event.table} ${event.chain}`)
  }
  return { told, derived, gotos }
}

function headerText({ packet }: TraceEvent, chain: string): string {
  if (!packet) return ''
  const { header, inLink, outLink, mark } = packet
  const ports = header.protocol === 1 ? '0 0' : `${header.sourcePort} ${header.destinationPort}`
  const link = (index: number) => NODE_LINKS[index] ?? (index === 0 ? '-' : String(index))
  // Kernels differ in whether POSTROUTING knows where a packet came in.
  const input = chain === 'POSTROUTING' ? '' : `${link(inLink)} `
  return `${header.source} ${header.destination} ${ports} ${input}${link(outLink)} ${mark.toString(16)}`
}

const KERNEL_VERDICTS: Record<string, string> = {
  REJECT: 'DROP',
  DNAT: 'ACCEPT',
  SNAT: 'ACCEPT',
  MASQUERADE: 'ACCEPT',
  REDIRECT: 'ACCEPT',
  NETMAP: 'ACCEPT',
}
const KNOWN_VERDICTS = new Set(['ACCEPT', 'DROP', 'QUEUE', 'JUMP', 'GOTO', 'RETURN', 'CONTINUE'])

function walkedHops(path: WalkPath): { at: string; header: string }[] {
  return hopsOf(path)
    .filter((hop) => hop.kind !== 'translation')
    .map((hop) => {
      const verdict =
        KERNEL_VERDICTS[hop.verdict] ?? (KNOWN_VERDICTS.has(hop.verdict) ? hop.verdict : 'CONTINUE')
      const { src, dst, sport, dport, in: input, out, mark } = hop.packet
      const links = hop.hook === 'POSTROUTING' ? out || '-' : `${input || '-'} ${out || '-'}`
      return {
        at: `${hop.table} ${hop.chain} ${hop.rule ?? (hop.kind === 'end' ? 'end' : 'policy')} ${verdict}`,
        header: `${src} ${dst} ${sport} ${dport} ${links} ${mark.toString(16)}`,
      }
    })
}

/** The kernel tells the header once for each walk through a base chain, the mark as it is behind the first rule. */
function differences(path: WalkPath, seen: readonly SeenHop[]): string | undefined {
  const walked = walkedHops(path)
  const at = seen.findIndex((hop, i) => hop.at !== walked[i]?.at)
  if (at >= 0) return `hop ${at + 1}: kernel ${seen[at]?.at}, walk ${walked[at]?.at ?? 'has ended'}`
  if (walked.length > seen.length)
    return `hop ${seen.length + 1}: kernel has ended, walk ${walked[seen.length]?.at}`
  for (const [i, { header }] of seen.entries()) {
    const own = walked[i]
    const isMark = own?.at.endsWith('CONTINUE')
    // A port that the kernel drew reads 0 in the walk.
    const drawn = own?.header.split(' ').map((word, place) => (place === 2 || place === 3) && word === '0')
    const cut = (text: string) =>
      text
        .split(' ')
        .map((word, place, words) => (drawn?.[place] || (isMark && place === words.length - 1) ? '' : word))
        .join(' ')
    if (header !== undefined && own && cut(header) !== cut(own.header))
      return `header at hop ${i + 1} (${own.at}): kernel ${header}, walk ${own.header}`
  }
  return undefined
}

/** A sent packet whose way was told right. */
interface Judged {
  readonly one: Sent
  readonly path: WalkPath
}

/** All packets of one rule set. */
class Comparison {
  readonly #name: string
  readonly #ruleSet: RuleSet
  readonly #handles: Handles
  readonly #matched = new Set<string>()
  readonly #recent: Map<string, Set<string>>
  readonly #fit = new Map<string, { expected: number; variance: number; observed: number }>()
  readonly #isLarge: boolean

  constructor(name: string, ruleSet: RuleSet) {
    this.#name = name
    this.#ruleSet = ruleSet
    this.#handles = readHandles(nft, ruleSet)
    // Lists of an equal name outlive the rule set before, entries and all.
    const folder = '/proc/net/xt_recent'
    const lists = existsSync(folder) ? readdirSync(folder) : []
    this.#recent = new Map(
      lists.map((list) => [
        list,
        new Set(readFileSync(`${folder}/${list}`, 'utf8').match(/(?<=^src=)[\d.]+/gm) ?? []),
      ]),
    )
    this.#isLarge = ruleSet.tables.some(({ rules }) => rules.length > 400)
  }

  sendAndJudge(batch: readonly Sent[]): Judged[] {
    const events: TraceEvent[] = []
    const sent = batch.filter((one, i) => {
      const bytes = encode(one)
      const address = internetSocketAddress(one.packet.dst, 0)
      const length = sendto(sockets[one.sender], bytes, bytes.length, 0, address, address.length)
      // A packet that a rule drops on OUTPUT is refused with EPERM.
      const isSent = Number(length) >= 0 || lastErrno() === EPERM
      if (!isSent) this.#tell(one, { problem: `sendto: errno ${lastErrno()}` })
      if (i % 20 === 19) drain(trace, events)
      return isSent
    })
    for (let quiet = 0; quiet < 3; quiet = drain(trace, events) ? 0 : quiet + 1) sleep(2)
    const grouped = groupEvents(events)
    return sent.flatMap((one) => {
      const seen = grouped.get(one.id) ?? []
      this.#judgeEnds(one, chainEnds(seen))
      const path = this.#judge(one, seenHops(seen, this.#handles))
      return path ? [{ one, path }] : []
    })
  }

  #judgeEnds(one: Sent, { told, derived, gotos }: ChainEnds): void {
    totals.chainEnds += told.length
    totals.emptyChainEnds += told.filter((chain) => !this.#handles.get(chain)?.size).length
    totals.gotos += gotos
    if (told.join() !== derived.join()) this.#tell(one, { problem: 'ends of chains', kernel: told, derived })
  }

  #judge(one: Sent, seen: readonly SeenHop[]): WalkPath | undefined {
    totals.packets++
    totals.hops += seen.length
    const places = new Set(seen.map(({ at }) => at.split(' ').slice(0, 3).join(' ')))
    for (const place of places) this.#matched.add(place)
    const options: WalkOptions = this.#isLarge
      ? { choose: ({ at }) => places.has(`${at?.table} ${at?.chain} ${at?.rule}`) }
      : { maxPaths: 2000 }
    const recentLists = Object.fromEntries(
      [...this.#recent].map(([list, addresses]) => [
        list,
        [...addresses].map((address) => ({ address, seenSecondsAgo: [0] })),
      ]),
    )
    const walk: Walk = walkRuleset(this.#ruleSet, one.packet, { ...context, recentLists }, options)
    if (walk.paths.length > 1) totals.branching++
    const found = walk.paths.find((path) => differences(path, seen) === undefined)
    const sum = walk.paths.reduce((total, path) => total + path.chance.value, 0)
    const isConditional = walk.paths.some((path) => path.isConditional)
    const isComplete = this.#isLarge || isConditional || Math.abs(sum - 1) < 1e-9
    const [closest] = walk.paths
    if (!found || found.chance.value <= 0 || !isComplete) {
      this.#tell(one, {
        problem: found ? `chances add up to ${sum}` : closest && differences(closest, seen),
        kernel: seen.map(({ at }) => at),
        walk: closest && walkedHops(closest).map(({ at }) => at),
        outcome: closest?.outcome,
        paths: walk.paths.length,
      })
      return undefined
    }
    ends[found.outcome.kind] = (ends[found.outcome.kind] ?? 0) + 1
    this.#remember(found)
    if (!this.#isLarge && !isConditional && walk.paths.length > 1) this.#count(walk.paths, found)
    return found
  }

  #tell(one: Sent, problem: Readonly<Record<string, unknown>>): void {
    totals.wrong++
    if (wrong.length < 20) wrong.push({ set: this.#name, packet: one.packet, ...problem })
  }

  /** What `-m recent --set` noted is there for the next packet. */
  #remember(path: WalkPath): void {
    for (const step of path.steps) {
      if (step.kind !== 'rule' || !step.text.includes('-m recent')) continue
      const list = / --name (\S+)/.exec(step.text)?.[1]
      if (list && step.text.includes('--set')) this.#recent.get(list)?.add(step.packet.src)
    }
  }

  #count(paths: readonly WalkPath[], found: WalkPath): void {
    for (const path of paths) {
      const key = walkedHops(path)
        .map(({ at }) => at)
        .filter((at) => at.includes('KUBE-SEP-'))
        .join()
      const chance = path.chance.value
      const known = this.#fit.get(key) ?? { expected: 0, variance: 0, observed: 0 }
      this.#fit.set(key, {
        expected: known.expected + chance,
        variance: known.variance + chance * (1 - chance),
        observed: known.observed + (path === found ? 1 : 0),
      })
    }
  }

  /** Five standard deviations away: once in two million. */
  unlikely(): unknown[] {
    return [...this.#fit]
      .filter(
        ([, { expected, variance, observed }]) => Math.abs(observed - expected) > 5 * Math.sqrt(variance) + 1,
      )
      .map(([key, counts]) => ({ set: this.#name, key, ...counts }))
  }

  /** The rules that no packet matched. */
  unmatched(): string[] {
    return [...this.#handles].flatMap(([chain, handles]) =>
      [...handles.values()].map((rule) => `${chain} ${rule}`).filter((place) => !this.#matched.has(place)),
    )
  }
}

/** Packets of connections that conntrack knows: sent again before any answer, answered, and sent once more. */
function compareLater(comparison: Comparison, judged: readonly Judged[]): void {
  const known = judged.filter(({ one: { packet }, path }) => {
    const isOpening = packet.protocol === 'udp' || packet.tcpFlags?.join() === 'SYN'
    const isMasqueraded = path.packet.src !== packet.src || path.packet.sport !== packet.sport
    // Nobody else can send to 127.0.0.1.
    if (packet.src.startsWith('127.')) return false
    return (
      isOpening && !isMasqueraded && path.outcome.kind === 'forwarded' && path.packet.in !== path.packet.out
    )
  })
  const connectionOf = ({ one: { packet }, path }: Judged) => {
    const isTranslated = path.packet.dst !== packet.dst || path.packet.dport !== packet.dport
    const destination = { address: path.packet.dst, port: path.packet.dport }
    return { dnat: isTranslated, snat: false, ...(isTranslated ? { destination } : {}) }
  }
  const again =
    (state: 'new' | 'established') =>
    (before: Judged): Sent => ({
      ...before.one,
      id: takeId(),
      packet: { ...before.one.packet, ctState: state, connection: connectionOf(before) },
    })
  comparison.sendAndJudge(known.map(again('new')))
  const answers = known.flatMap(({ one: { packet, sequence }, path }): Sent[] => {
    const sender = ({ cni0: 'pod', eth0: 'client', eth1: 'peer' } as const)[path.packet.out]
    if (!sender) return []
    const { dnat } = connectionOf({ one: { packet, sequence, id: 0, sender }, path })
    const { mark: _, owner: __, ...common } = packet
    return [
      {
        id: takeId(),
        sender,
        sequence: 1,
        acknowledgement: (sequence + 1) >>> 0,
        packet: {
          ...common,
          in: path.packet.out,
          src: path.packet.dst,
          sport: path.packet.dport,
          dst: packet.src,
          dport: packet.sport ?? 0,
          tos: 0,
          ctState: 'established',
          ...(packet.protocol === 'tcp' ? { tcpFlags: ['SYN', 'ACK'] } : {}),
          connection: {
            direction: 'reply',
            dnat,
            snat: false,
            ...(dnat ? { source: { address: packet.dst, port: packet.dport ?? 0 } } : {}),
          },
        },
      },
    ]
  })
  comparison.sendAndJudge(answers)
  // The far ends are no real ones: they reset a TCP connection that they know nothing of.
  comparison.sendAndJudge(known.filter(({ one }) => one.packet.protocol === 'udp').map(again('established')))
}

const totals = { packets: 0, hops: 0, branching: 0, chainEnds: 0, emptyChainEnds: 0, gotos: 0, wrong: 0 }
const ends: Record<string, number> = {}
const wrong: unknown[] = []
let lastId = 0

function takeId(): number {
  lastId = (lastId % 65000) + 1
  return lastId
}

const sockets = buildNode()
execFileSync('nft', ['-f', '-'], { input: TRACE_TABLE, env })
const trace = openNetlinkSocket('netfilter', { isBlocking: false, receiveBufferBytes: 64 * 1024 * 1024 })
trace.join(nfnetlinkGroups.trace)
const nft = openNetlinkSocket('netfilter')

function main(): void {
  const plan = JSON.parse(readFileSync(process.argv[2] as string, 'utf8')) as WalkPlan
  const random = randomFrom(plan.seed)
  const unlikely: unknown[] = []
  const unmatched: Record<string, string[]> = {}
  const deadline = performance.now() + plan.budgetMs
  let done = 0
  for (const set of plan.sets) {
    if (performance.now() > deadline) break
    done++
    const { ruleSet, problems } = parseSave(set.save)
    if (!ruleSet) throw new Error(`${set.name}: ${JSON.stringify(problems[0])}`)
    // A restore leaves the tables that it does not name.
    execFileSync('nft', ['-f', '-'], { input: DELETE_TABLES, env })
    execFileSync('iptables-nft-restore', [], { input: set.save, env })
    const comparison = new Comparison(set.name, ruleSet)
    const targets = findTargets(ruleSet)
    for (let left = set.packets; left > 0; left -= 100) {
      const batch = Array.from({ length: Math.min(left, 100) }, (): Sent => {
        const id = takeId()
        return { id, sequence: (id * 7919) >>> 0, ...makePacket(random, targets) }
      })
      const judged = comparison.sendAndJudge(batch)
      if (set.later) compareLater(comparison, judged)
    }
    unlikely.push(...comparison.unlikely())
    unmatched[set.name] = comparison.unmatched()
  }
  const report: WalkReport = {
    ...totals,
    ends,
    sets: done,
    differences: wrong,
    unlikely,
    unmatched,
    overruns,
  }
  process.stdout.write(JSON.stringify(report))
}

main()
