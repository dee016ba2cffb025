import { ownValue } from '../own-value.ts'
import { OptionReader, unknownWords } from './explain-options.ts'
import { type ExplanationPart, joined, part, series, words } from './explain-parts.ts'
import { setEntry } from './explain-state-matches.ts'
import {
  addressRange,
  bitWords,
  hexText,
  type MaskedMark,
  parseMark,
  portWords,
  quoted,
  WHOLE_MARK,
} from './explain-values.ts'
import type { Family } from './rule-set.ts'
import type { TargetSpec } from './rule-spec.ts'

export interface TargetPlace {
  readonly chain: string
  readonly table: string
  readonly family: Family
  /** True where the sentence has named packets: `them` instead of `the packet`. */
  readonly namesPackets: boolean
}

/** `change the destination to 10.244.1.7 port 80 (DNAT)`; undefined for a target that is no verdict or extension. */
export function explainExtension(target: TargetSpec, place: TargetPlace): ExplanationPart[] | undefined {
  const explain = ownValue(TARGETS, target.name)
  if (!explain) {
    if (!OTHER_EXTENSIONS.has(target.name) && target.options.length === 0) return undefined
    return words`do ${unknownWords(`-j ${target.name}`, new OptionReader(target.options).leftover())}`
  }
  const options = new OptionReader(target.options)
  const said = explain(options, place)
  const leftover = options.leftover()
  return leftover === '' ? said : words`${said}, with ${unknownWords(leftover)}`
}

/** Chains cannot have the names of extensions: these are none even where they stand without options. */
const OTHER_EXTENSIONS = new Set([
  'CLUSTERIP',
  'CONNSECMARK',
  'DNPT',
  'ECN',
  'HMARK',
  'IDLETIMER',
  'LED',
  'RATEEST',
  'SECMARK',
  'SNPT',
  'SYNPROXY',
  'TCPOPTSTRIP',
  'ULOG',
])

const BASE_CHAINS = new Set(['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'])

type ExplainTarget = (options: OptionReader, place: TargetPlace) => ExplanationPart[]

const accept: ExplainTarget = (_, { table }) =>
  table === 'filter' || table === 'security'
    ? words`let through (ACCEPT)`
    : words`done with the ${table} table at this hook (ACCEPT)`

const goBack: ExplainTarget = (_, { chain, namesPackets }) => {
  if (BASE_CHAINS.has(chain)) return words`stop here, the policy of ${part('chain', chain)} decides (RETURN)`
  return words`go back to where ${namesPackets ? 'they' : 'it'} came from (RETURN)`
}

const REJECTIONS: Readonly<Record<string, string>> = {
  'tcp-reset': 'a TCP reset',
  'icmp-net-unreachable': 'ICMP network unreachable',
  'icmp-host-unreachable': 'ICMP host unreachable',
  'icmp-port-unreachable': 'ICMP port unreachable',
  'icmp-proto-unreachable': 'ICMP protocol unreachable',
  'icmp-net-prohibited': 'ICMP network prohibited',
  'icmp-host-prohibited': 'ICMP host prohibited',
  'icmp-admin-prohibited': 'ICMP administratively prohibited',
  'icmp6-no-route': 'ICMPv6 no route',
  'icmp6-adm-prohibited': 'ICMPv6 administratively prohibited',
  'icmp6-addr-unreachable': 'ICMPv6 address unreachable',
  'icmp6-port-unreachable': 'ICMPv6 port unreachable',
  'icmp6-policy-fail': 'ICMPv6 policy failed',
  'icmp6-reject-route': 'ICMPv6 route rejected',
}

const reject: ExplainTarget = (options, { family }) => {
  const usual = family === 'ipv6' ? 'icmp6-port-unreachable' : 'icmp-port-unreachable'
  const answer = options.value('--reject-with') ?? usual
  return words`refuse with ${ownValue(REJECTIONS, answer) ?? unknownWords(answer)} (REJECT)`
}

/** `10.244.1.7:80`, `10.0.0.1-10.0.0.9:80-90`, `[fd00::1]:80`, `:8080-8090/80`. */
function natWords(side: 'source' | 'destination', written: string, target: string): ExplanationPart[] {
  const bracketed = /^\[([^\]]*)\](?:-\[([^\]]*)\])?(?::(.*))?$/.exec(written)
  const colons = written.split(':').length - 1
  const plain = colons > 1 ? [written, written, undefined] : /^([^:]*)(?::(.*))?$/.exec(written)
  const address = bracketed
    ? [bracketed[1], bracketed[2]].filter((end) => end !== undefined).join('-')
    : (plain?.[1] ?? written)
  const [ports, base] = (bracketed ? bracketed[3] : plain?.[2])?.split('/') ?? []
  const port = ports === undefined || ports === '' ? [] : portWords(ports)
  const shift = base === undefined ? [] : words`, counted from port ${part('port', base)}`
  const isRange = address.includes('-')
  const where = address === '' ? [] : words`${isRange ? 'one of ' : ''}${addressRange(address, 'to')}`
  if (where.length === 0 && port.length > 0)
    return words`change the ${side} port to ${ports?.includes('-') ? 'one of ' : ''}${withoutFirstWord(port)}${shift} (${target})`
  return words`change the ${side} to ${where}${port.length > 0 ? words` ${port}` : ''}${shift} (${target})`
}

/** `ports 80 to 90` without `ports`, where that word has been said. */
function withoutFirstWord([first, ...rest]: readonly ExplanationPart[]): ExplanationPart[] {
  return first?.kind === 'text' ? joined([first.text.replace(/^ports? /, ''), ...rest]) : rest
}

function natNotes(options: OptionReader): ExplanationPart[] {
  const notes = [
    ...(options.flag('--random') ? ['with random ports'] : []),
    ...(options.flag('--random-fully') ? ['with fully random source ports'] : []),
    ...(options.flag('--persistent') ? ['the same for all connections of a client'] : []),
  ]
  return notes.length === 0 ? [] : words`, ${series(notes, 'and')}`
}

function nat(side: 'source' | 'destination', option: string, target: string): ExplainTarget {
  return (options) => {
    const to = options.value(option)
    const said = to === undefined ? words`change the ${side} (${target})` : natWords(side, to, target)
    return words`${said}${natNotes(options)}`
  }
}

const masquerade: ExplainTarget = (options, { namesPackets }) => {
  const ports = options.value('--to-ports')
  const packets = namesPackets ? 'them' : 'the packet'
  const leave = namesPackets ? 'they leave' : 'it leaves'
  const from = ports === undefined ? [] : words`, with source ${portWords(ports)}`
  return words`give ${packets} the address of the link ${leave} by as source (MASQUERADE)${from}${natNotes(options)}`
}

const redirect: ExplainTarget = (options) => {
  const ports = options.value('--to-ports')
  const to = ports === undefined ? [] : words`, ${portWords(ports)}`
  return words`send to this node itself${to} (REDIRECT)${natNotes(options)}`
}

const netmap: ExplainTarget = (options, { chain }) => {
  const to = options.value('--to')
  if (to === undefined) return words`exchange the network (NETMAP)`
  const sides: Readonly<Record<string, string>> = {
    PREROUTING: 'the destination',
    OUTPUT: 'the destination',
    INPUT: 'the source',
    POSTROUTING: 'the source',
  }
  return words`move ${sides[chain] ?? 'the address'} into ${part('address', to)}, one address for one (NETMAP)`
}

/** What the option does to a mark: the bits of the mask are cleared, then the value is XORed. */
function markChange(option: string, given: MaskedMark): MaskedMark | undefined {
  switch (option) {
    case '--set-xmark':
      return given
    case '--set-mark':
      return { value: given.value, mask: (given.mask | given.value) >>> 0 }
    case '--or-mark':
      return { value: given.value, mask: given.value }
    case '--xor-mark':
      return { value: given.value, mask: 0 }
    case '--and-mark':
      return { value: 0, mask: ~given.value >>> 0 }
    default:
      return undefined
  }
}

const MARK_OPTIONS = ['--set-xmark', '--set-mark', '--or-mark', '--xor-mark', '--and-mark']

function setMark(options: OptionReader, owner: string, target: string, chain: string): ExplanationPart[] {
  for (const name of MARK_OPTIONS) {
    const written = options.value(name)
    if (written === undefined) continue
    const given = parseMark(written)
    const change = given && markChange(name, given)
    if (!change) return words`change ${owner} by ${unknownWords(`${name} ${written}`)} (${target})`
    const said = `${name} ${written}`
    if (name === '--and-mark' && given)
      return words`keep only the ${bitWords(given.value, said)} of ${owner}${targetNote(target)}`
    return words`${markWords(change, owner, said)}${cleared(change, chain)}${targetNote(target)}`
  }
  return words`do ${unknownWords(`-j ${target}`)}`
}

function markWords({ value, mask }: MaskedMark, owner: string, written: string): ExplanationPart[] {
  if (value === 0 && mask === 0) return words`leave ${owner} as it is (${part('mark', '0x0', written)})`
  if (mask === WHOLE_MARK) return words`set ${owner} to ${part('mark', hexText(value), written)}`
  if (value === mask) return words`set ${bitWords(value, written)} of ${owner}`
  if (mask === 0) return words`flip ${bitWords(value, written)} of ${owner}`
  if (value === 0) return words`clear ${bitWords(mask, written)} of ${owner}`
  const bits = bitWords(mask, written)
  if ((value & ~mask) === 0) return words`set the ${bits} of ${owner} to ${part('mark', hexText(value))}`
  return words`clear ${bits} of ${owner}, then flip ${bitWords(value)}`
}

/** The chain's first rule has sent back every packet without the bit. */
function cleared({ mask }: MaskedMark, chain: string): ExplanationPart[] {
  return chain === 'KUBE-POSTROUTING' && mask === 0 ? words`, which clears it: here it is always set` : []
}

function targetNote(target: string): string {
  return target === 'MARK' ? '' : ` (${target})`
}

const connmark: ExplainTarget = (options, { chain }) => {
  const saves = options.flag('--save-mark')
  const restores = !saves && options.flag('--restore-mark')
  if (!saves && !restores) return setMark(options, "the connection's mark", 'CONNMARK', chain)
  const both = options.value('--mask')
  const ofPacket = options.value('--nfmask') ?? both
  const ofConnection = options.value('--ctmask') ?? both
  const bits = (mask: string | undefined): ExplanationPart[] => {
    const parsed = mask === undefined ? undefined : parseMark(mask)
    if (mask === undefined) return []
    return parsed ? words`${bitWords(parsed.value, mask)} of ` : words`the bits ${part('mark', mask)} of `
  }
  const packetMark = words`${bits(ofPacket)}the mark`
  const connectionMark = words`${bits(ofConnection)}the connection's mark`
  return saves
    ? words`copy ${packetMark} to ${connectionMark} (CONNMARK)`
    : words`copy ${connectionMark} to ${packetMark} (CONNMARK)`
}

const LOG_DETAILS = [
  ['--log-tcp-sequence', 'TCP sequence numbers'],
  ['--log-tcp-options', 'TCP options'],
  ['--log-ip-options', 'IP options'],
  ['--log-uid', "the sender's user"],
  ['--log-macdecode', 'link addresses'],
] as const

const log: ExplainTarget = (options) => {
  const prefix = options.value('--log-prefix')
  const level = options.value('--log-level')
  const details = LOG_DETAILS.filter(([option]) => options.flag(option)).map(([, name]) => name)
  const begins = prefix === undefined ? [] : words` that begins with ${quoted(prefix)}`
  const at = level === undefined ? '' : ` at level ${level}`
  const telling = details.length === 0 ? [] : words`, telling ${series(details, 'and')},`
  return words`write a line${begins}${at}${telling} to the kernel log and go on (LOG)`
}

const nflog: ExplainTarget = (options) => {
  const group = options.value('--nflog-group') ?? '0'
  const prefix = options.value('--nflog-prefix')
  const size = options.value('--nflog-size')
  const range = options.value('--nflog-range')
  const batch = options.value('--nflog-threshold')
  const bytes = size ?? range
  const what = bytes === undefined ? 'a copy' : `the first ${bytes} bytes`
  const notes = [
    ...(prefix === undefined ? [] : [words`with the prefix ${quoted(prefix)}`]),
    ...(batch === undefined ? [] : [words`${batch} at a time`]),
    ...(size === undefined || range === undefined ? [] : [words`range ${range}`]),
  ]
  const note = notes.length === 0 ? [] : words`, ${series(notes, 'and')},`
  return words`hand ${what} to the programs of log group ${group}${note} and go on (NFLOG)`
}

const nfqueue: ExplainTarget = (options) => {
  const balance = options.value('--queue-balance')
  const number = options.value('--queue-num')
  const [first = '', last = ''] = balance?.split(':') ?? []
  const queue = balance === undefined ? `queue ${number ?? '0'}` : `one of the queues ${first} to ${last}`
  const both = balance !== undefined && number !== undefined ? ` and queue ${number}` : ''
  const fanout = options.flag('--queue-cpu-fanout') ? ', chosen by processor,' : ''
  const bypass = options.flag('--queue-bypass') ? ', or let through if none listens' : ''
  return words`hand to the program on ${queue}${both}${fanout} to decide${bypass} (NFQUEUE)`
}

function hopLimit(name: string, prefix: string, target: string): ExplainTarget {
  return (options) => {
    const to = options.value(`--${prefix}-set`)
    if (to !== undefined) return words`set the ${name} to ${to} (${target})`
    const up = options.value(`--${prefix}-inc`)
    if (up !== undefined) return words`raise the ${name} by ${up} (${target})`
    const down = options.value(`--${prefix}-dec`)
    if (down !== undefined) return words`lower the ${name} by ${down} (${target})`
    return words`change the ${name} (${target})`
  }
}

const tcpmss: ExplainTarget = (options) => {
  const mss = options.value('--set-mss')
  if (mss !== undefined) return words`set the largest TCP segment (MSS) to ${mss} bytes (TCPMSS)`
  const fits = options.flag('--clamp-mss-to-pmtu') ? ' to what the path carries (its MTU)' : ''
  return words`limit the largest TCP segment (MSS)${fits} (TCPMSS)`
}

const notrack: ExplainTarget = (options) => {
  const isTarget = !options.flag('--notrack')
  return words`do not track, so no connection state and no NAT (${isTarget ? 'NOTRACK' : 'CT'})`
}

const ct: ExplainTarget = (options, place) => {
  if (options.flag('--notrack')) return words`do not track, so no connection state and no NAT (CT)`
  const said = [
    ...CT_ZONES.flatMap(([option, where]) => {
      const zone = options.value(option)
      return zone === undefined ? [] : [words`track in zone ${part('name', zone)}${where}`]
    }),
    ...CT_SETTINGS.flatMap(([option, text]) => {
      const value = options.value(option)
      return value === undefined ? [] : [words`${text} ${part('name', value)}`]
    }),
  ]
  return said.length === 0
    ? words`track ${place.namesPackets ? 'them' : 'the packet'} (CT)`
    : words`${series(said, 'and')} (CT)`
}

const CT_ZONES = [
  ['--zone', ''],
  ['--zone-orig', ' in the direction of the first packet'],
  ['--zone-reply', ' in the direction of replies'],
] as const
const CT_SETTINGS = [
  ['--helper', 'give the connection the helper'],
  ['--timeout', 'apply the timeout policy'],
  ['--ctevents', 'report only the events'],
  ['--expevents', 'report only the expectation events'],
] as const

const tproxy: ExplainTarget = (options) => {
  const port = options.value('--on-port')
  const ip = options.value('--on-ip')
  const mark = options.value('--tproxy-mark')
  const on = joined([
    ...(ip === undefined ? [] : [words` on ${part('address', ip)}`]),
    ...(port === undefined ? [] : [words` ${ip === undefined ? 'on ' : ''}${portWords(port)}`]),
  ])
  const parsed = mark === undefined ? undefined : parseMark(mark)
  const marked =
    mark === undefined
      ? []
      : words`, then ${parsed ? markWords(parsed, 'the mark', mark) : unknownWords(`--tproxy-mark ${mark}`)}`
  return words`hand to the socket of this node${on} with the header unchanged${marked} (TPROXY)`
}

const tos: ExplainTarget = (options) => {
  const value = options.value('--set-tos')
  return value === undefined ? words`change the TOS (TOS)` : words`set the TOS to ${value} (TOS)`
}

const dscp: ExplainTarget = (options) => {
  const value = options.value('--set-dscp')
  if (value !== undefined) return words`set the DSCP to ${value} (DSCP)`
  const name = options.value('--set-dscp-class')
  return words`set the DSCP${name === undefined ? '' : ` to the class ${name}`} (DSCP)`
}

const set: ExplainTarget = (options) => {
  const timeout = options.value('--timeout')
  const isRefreshed = options.flag('--exist')
  const said = SET_CHANGES.flatMap(([option, verb, preposition]) => {
    const entry = options.pair(option)
    if (!entry) return []
    const [name, sides] = entry.values
    return [words`${verb} the ${setEntry(sides)} ${preposition} the set ${part('name', name)}`]
  })
  const notes = [
    ...(timeout === undefined ? [] : [`for ${timeout} seconds`]),
    ...(isRefreshed ? ['anew if it is there'] : []),
  ]
  const note = notes.length === 0 ? '' : ` ${notes.join(', ')}`
  return said.length === 0 ? words`change a set${note} (SET)` : words`${series(said, 'and')}${note} (SET)`
}

const SET_CHANGES = [
  ['--add-set', 'add', 'to'],
  ['--del-set', 'remove', 'from'],
  ['--map-set', 'look up', 'in'],
] as const

const TARGETS: Readonly<Record<string, ExplainTarget>> = {
  ACCEPT: accept,
  DROP: () => words`discard without an answer (DROP)`,
  RETURN: goBack,
  QUEUE: () => words`hand to a program to decide (QUEUE)`,
  REJECT: reject,
  DNAT: nat('destination', '--to-destination', 'DNAT'),
  SNAT: nat('source', '--to-source', 'SNAT'),
  MASQUERADE: masquerade,
  REDIRECT: redirect,
  NETMAP: netmap,
  MARK: (options, { chain }) => setMark(options, 'the mark', 'MARK', chain),
  CONNMARK: connmark,
  LOG: log,
  NFLOG: nflog,
  NFQUEUE: nfqueue,
  TTL: hopLimit('TTL', 'ttl', 'TTL'),
  HL: hopLimit('hop limit', 'hl', 'HL'),
  TCPMSS: tcpmss,
  NOTRACK: notrack,
  CT: ct,
  TRACE: () => words`report every rule met from here on (TRACE)`,
  TPROXY: tproxy,
  TEE: (options) => {
    const gateway = options.value('--gateway')
    return words`send a copy${gateway === undefined ? '' : words` to ${part('address', gateway)}`} and go on (TEE)`
  },
  CHECKSUM: (options) =>
    options.flag('--checksum-fill')
      ? words`fill in the checksum (CHECKSUM)`
      : words`do ${unknownWords('-j CHECKSUM')}`,
  CLASSIFY: (options) => {
    const name = options.value('--set-class')
    return words`put in the traffic class ${name === undefined ? '' : part('name', name)} (CLASSIFY)`
  },
  TOS: tos,
  DSCP: dscp,
  SET: set,
  AUDIT: (options) => {
    const type = options.value('--type')
    return words`write an audit record${type === undefined ? '' : ` of type ${type}`} and go on (AUDIT)`
  },
}
