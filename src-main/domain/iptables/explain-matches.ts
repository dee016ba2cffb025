import { ownValue } from '../own-value.ts'
import { chanceOf, chanceWords, type LadderStep, overallWords } from './explain-chance.ts'
import { OptionReader, unknownWords } from './explain-options.ts'
import { type ExplanationPart, joined, part, series, words } from './explain-parts.ts'
import { Phrases } from './explain-phrases.ts'
import {
  addressRange,
  addressWords,
  bitWords,
  durationWords,
  hexText,
  numberRange,
  parseMark,
  portWords,
  protocolWords,
  quoted,
  rateWords,
  WHOLE_MARK,
} from './explain-values.ts'
import type { Condition, MatchSpec, RuleSpec } from './rule-spec.ts'

/**
 * Says what it takes from the reader; what it leaves there is shown as it stands. False, with nothing said, when
 * the whole match is to be shown so.
 */
type ExplainMatch = (options: OptionReader, phrases: Phrases) => false | undefined

/** Every condition of a rule but the random one, which needs the rule's neighbours. */
export function explainMatches(spec: RuleSpec, ladder: LadderStep | undefined): Phrases {
  const phrases = new Phrases()
  addProtocol(spec, phrases)
  addAddress('from', spec.source, phrases)
  addAddress('to', spec.destination, phrases)
  addInterface('come in', spec.inInterface, phrases)
  addInterface('go out', spec.outInterface, phrases)
  if (spec.fragment) {
    const heads = 'that are whole packets or first fragments'
    phrases.addClause(words`${spec.fragment.negated ? heads : 'that are second or further fragments'}`)
  }
  if (addChance(spec, ladder, phrases))
    for (const match of spec.matches.filter(({ name }) => name !== 'statistic')) addMatch(match, phrases)
  else for (const match of spec.matches) addMatch(match, phrases)
  return phrases
}

function addMatch(match: MatchSpec, phrases: Phrases): void {
  if (match.name === 'comment') return
  const options = new OptionReader(match.options)
  const explain = ownValue(MATCHES, match.name)
  const isBare = match.options.length === 0 && !SENSE_WITHOUT_OPTIONS.has(match.name)
  const isSaid = explain !== undefined && !isBare && explain(options, phrases) !== false
  const leftover = (isSaid ? options : new OptionReader(match.options)).leftover()
  if (!isSaid || leftover !== '')
    phrases.addClause(words`that match ${unknownWords(`-m ${match.name}`, leftover)}`)
}

const SENSE_WITHOUT_OPTIONS = new Set([
  'tcp',
  'udp',
  'udplite',
  'sctp',
  'dccp',
  'icmp',
  'icmp6',
  'limit',
  'socket',
  'rpfilter',
])

function addProtocol({ protocol, matches }: RuleSpec, phrases: Phrases): void {
  if (!protocol) return
  const name = protocolWords(protocol.value)
  if (/^(all|0.*)$/.test(protocol.value) && !protocol.negated) return
  if (protocol.negated) phrases.subject = words`packets of any protocol but ${name}`
  else if (/^\d/.test(name) || !/^[A-Z]/.test(name)) phrases.subject = words`packets of protocol ${name}`
  else {
    const types = matches.flatMap((match) =>
      match.options.filter(({ name }) => name === '--icmp-type' || name === '--icmpv6-type'),
    )
    const isAny = types.some(({ values: [type], negated }) => type === 'any' && !negated)
    phrases.subject = words`${name} packets${isAny ? ' of any type' : ''}`
  }
}

function addAddress(side: 'from' | 'to', condition: Condition | undefined, phrases: Phrases): void {
  if (!condition) return
  const address = addressWords(condition.value)
  if (condition.negated) phrases.addClause(words`that do not ${verbOf(side)} ${address}`)
  else phrases.addEnd(side, 'address', address)
}

function addPort(
  side: 'from' | 'to',
  condition: { value: string; negated: boolean } | undefined,
  phrases: Phrases,
): void {
  if (!condition) return
  const port = portWords(condition.value)
  if (condition.negated) phrases.addClause(words`that do not ${verbOf(side)} ${port}`)
  else phrases.addEnd(side, 'port', port)
}

function verbOf(side: 'from' | 'to'): string {
  return side === 'from' ? 'come from' : 'go to'
}

function addInterface(verb: string, condition: Condition | undefined, phrases: Phrases): void {
  if (!condition) return
  phrases.addClause(
    words`that ${condition.negated ? 'do not ' : ''}${verb} by ${interfaceWords(condition.value)}`,
  )
}

function interfaceWords(name: string): ExplanationPart[] {
  if (!name.endsWith('+')) return [part('name', name)]
  return words`an interface named ${part('name', name)} (any ending)`
}

/** False where the statistic match, if any, is not a plain random one. */
function addChance(spec: RuleSpec, ladder: LadderStep | undefined, phrases: Phrases): boolean {
  const statistic = spec.matches.find(({ name }) => name === 'statistic')
  if (!statistic) {
    if (ladder) phrases.addLead(words`the rest, ${overallWords(ladder.leftover)}`)
    return true
  }
  const chance = chanceOf(spec)
  const options = new OptionReader(statistic.options)
  const isRandom = options.value('--mode') === 'random'
  const probability = options.signed('--probability')
  if (chance === undefined || !isRandom || !probability || options.leftover() !== '') return false
  const written = `${probability.negated ? '! ' : ''}--probability ${probability.value}`
  const overall = ladder ? words`, ${overallWords(ladder.leftover * chance)}` : []
  phrases.addLead(words`with a chance of ${chanceWords(chance, written)}${overall}`)
  return true
}

const transport: ExplainMatch = (options, phrases) => {
  addPort('from', options.signed('--sport', '--source-port'), phrases)
  addPort('to', options.signed('--dport', '--destination-port'), phrases)
  const flags = options.pair('--tcp-flags')
  if (flags) addFlags(flags.values, flags.negated, phrases)
  const syn = options.signedFlag('--syn')
  if (syn) addFlags(['FIN,SYN,RST,ACK', 'SYN'], syn.negated, phrases)
  const option = options.signed('--tcp-option')
  if (option)
    phrases.addClause(words`that ${option.negated ? 'do not ' : ''}carry the TCP option ${option.value}`)
}

const TCP_FLAGS = ['FIN', 'SYN', 'RST', 'PSH', 'ACK', 'URG']

function addFlags([mask, set]: readonly [string, string], negated: boolean, phrases: Phrases): void {
  const flagsOf = (text: string): string[] => {
    if (text === 'ALL') return TCP_FLAGS
    return text === 'NONE' ? [] : text.split(',')
  }
  const tested = flagsOf(mask)
  const up = flagsOf(set)
  const down = tested.filter((flag) => !up.includes(flag))
  const state =
    up.length === 0
      ? words`none of the flags ${series(down, 'and')} set`
      : words`${series(up, 'and')} set${down.length > 0 ? words` and ${series(down, 'and')} not set` : ''}`
  const opens = up.join() === 'SYN' && ['FIN', 'RST', 'ACK'].every((flag) => down.includes(flag))
  if (opens && negated) phrases.addClause(words`that do not ask for a connection (not: ${state})`)
  else if (opens) phrases.addClause(words`that ask for a connection (${state})`)
  else phrases.addClause(words`that have ${negated ? 'anything but ' : ''}${state}`)
}

const ICMP_TYPES: Readonly<Record<string, string>> = {
  '0': 'echo reply',
  '3': 'destination unreachable',
  '3/0': 'network unreachable',
  '3/1': 'host unreachable',
  '3/2': 'protocol unreachable',
  '3/3': 'port unreachable',
  '3/4': 'fragmentation needed',
  '5': 'redirect',
  '8': 'echo request',
  '11': 'time exceeded',
  '12': 'parameter problem',
}
const ICMPV6_TYPES: Readonly<Record<string, string>> = {
  '1': 'destination unreachable',
  '1/0': 'no route',
  '1/3': 'address unreachable',
  '1/4': 'port unreachable',
  '2': 'packet too big',
  '3': 'time exceeded',
  '4': 'parameter problem',
  '128': 'echo request',
  '129': 'echo reply',
  '133': 'router solicitation',
  '134': 'router advertisement',
  '135': 'neighbour solicitation',
  '136': 'neighbour advertisement',
  '137': 'redirect',
}

function icmp(option: string, names: Readonly<Record<string, string>>): ExplainMatch {
  return (options, phrases) => {
    const condition = options.signed(option)
    if (!condition || (condition.value === 'any' && !condition.negated)) return undefined
    const [type = '', code] = condition.value.split('/')
    const name = names[condition.value]
    const number = /^\d/.test(type) && code !== undefined ? `${type} code ${code}` : condition.value
    const said = `${number}${name === undefined ? '' : ` (${name})`}`
    phrases.addClause(words`${condition.negated ? 'not of type' : 'of type'} ${said}`)
  }
}

const multiport: ExplainMatch = (options, phrases) => {
  addPort('from', options.signed('--sports', '--source-ports'), phrases)
  addPort('to', options.signed('--dports', '--destination-ports'), phrases)
  const either = options.signed('--ports')
  if (!either) return
  const verb = either.negated ? 'neither come from nor go to' : 'come from or go to'
  phrases.addClause(words`that ${verb} ${portWords(either.value)}`)
}

/** `whose connection state is NEW`; the commonest ones say what they mean. */
function addState({ value, negated }: { value: string; negated: boolean }, phrases: Phrases): void {
  const states = value.split(',')
  const sorted = states.toSorted().join()
  if (negated) {
    const none = states.length === 1 ? 'not' : 'none of'
    phrases.addClause(words`whose connection state is ${none} ${series(states, 'and')}`)
  } else if (sorted === 'NEW') phrases.addClause(words`that begin a connection (state NEW)`)
  else if (sorted === 'INVALID') phrases.addClause(words`that fit no connection (state INVALID)`)
  else if (sorted === 'ESTABLISHED' || sorted === 'ESTABLISHED,RELATED')
    phrases.addClause(words`that belong to a known connection (state ${series(states, 'or')})`)
  else phrases.addClause(words`whose connection state is ${series(states, 'or')}`)
}

const ORIGINAL_ENDS: readonly (readonly [option: string, name: string])[] = [
  ['--ctorigsrc', 'original source'],
  ['--ctorigdst', 'original destination'],
  ['--ctreplsrc', 'source in replies'],
  ['--ctrepldst', 'destination in replies'],
]

const conntrack: ExplainMatch = (options, phrases) => {
  const state = options.signed('--ctstate')
  if (state) addState(state, phrases)
  const whose = (what: string, negated: boolean, value: readonly ExplanationPart[]): void =>
    phrases.addClause(words`whose connection's ${what} is ${negated ? 'not ' : ''}${value}`)
  const protocol = options.signed('--ctproto')
  if (protocol) whose('protocol', protocol.negated, words`${protocolWords(protocol.value)}`)
  for (const [option, name] of ORIGINAL_ENDS) {
    const address = options.signed(option)
    if (address) whose(name, address.negated, addressWords(address.value))
    const port = options.signed(`${option}port`)
    if (port) whose(name, port.negated, portWords(port.value))
  }
  const status = options.signed('--ctstatus')
  if (status) whose('status', status.negated, series(status.value.split(','), 'or'))
  const expiry = options.signed('--ctexpire')
  if (expiry) {
    const seconds = numberRange(expiry.value)
    phrases.addClause(
      words`whose connection ${expiry.negated ? 'does not expire' : 'expires'} in ${seconds} seconds`,
    )
  }
  const direction = options.value('--ctdir')
  if (direction === 'ORIGINAL')
    phrases.addClause(words`that go in the direction of the first packet (ORIGINAL)`)
  else if (direction === 'REPLY') phrases.addClause(words`that go in the direction of replies (REPLY)`)
  else if (direction !== undefined)
    phrases.addClause(words`that match ${unknownWords(`--ctdir ${direction}`)}`)
}

function markOf(owner: string): ExplainMatch {
  return (options, phrases) => {
    const condition = options.signed('--mark')
    if (!condition) return
    const mark = parseMark(condition.value)
    const { negated } = condition
    if (!mark)
      phrases.addClause(
        words`whose ${owner} ${negated ? 'is not' : 'is'} ${unknownWords(`--mark ${condition.value}`)}`,
      )
    else phrases.addClause(words`whose ${owner} ${markState(mark, negated, condition.value)}`)
  }
}

function markState(
  { value, mask }: { value: number; mask: number },
  negated: boolean,
  written: string,
): ExplanationPart[] {
  if (mask === WHOLE_MARK) return words`is ${negated ? 'not ' : ''}${part('mark', hexText(value), written)}`
  const isSingle = (mask & (mask - 1)) === 0
  if (mask !== 0 && isSingle && (value === mask || value === 0)) {
    const has = (value === mask) !== negated
    return words`${has ? 'has' : 'lacks'} ${bitWords(mask, written)}`
  }
  if (value === mask) return words`${negated ? 'lacks one of' : 'has all of'} the ${bitWords(mask, written)}`
  if (value === 0) return words`${negated ? 'has one of' : 'has none of'} the ${bitWords(mask, written)}`
  const bits = bitWords(mask)
  return words`is ${negated ? 'not ' : ''}${part('mark', hexText(value), written)} in the ${bits}`
}

const statistic: ExplainMatch = (options, phrases) => {
  const mode = options.value('--mode')
  const every = options.signed('--every')
  if (mode !== 'nth' || !every) return false
  const start = options.value('--packet') ?? '0'
  const chosen = `1 packet in every ${every.value}`
  phrases.addLead(words`for ${every.negated ? `all but ${chosen}` : chosen} (the count starts at ${start})`)
}

const ADDRESS_TYPES: Readonly<Record<string, string>> = {
  UNICAST: 'a unicast address',
  LOCAL: 'an address of this node',
  BROADCAST: 'a broadcast address',
  MULTICAST: 'a multicast address',
  ANYCAST: 'an anycast address',
}

const addrtype: ExplainMatch = (options, phrases) => {
  const onInput = options.flag('--limit-iface-in')
  const onOutput = options.flag('--limit-iface-out')
  const link = onInput ? ' on the interface they come in by' : ' on the interface they go out by'
  for (const [option, side] of [
    ['--src-type', 'source'],
    ['--dst-type', 'destination'],
  ] as const) {
    const type = options.signed(option)
    if (!type) continue
    const names = type.value.split(',').map((name) => ownValue(ADDRESS_TYPES, name) ?? `of type ${name}`)
    const place = onInput || onOutput ? link : ''
    phrases.addClause(words`whose ${side} is ${type.negated ? 'not ' : ''}${series(names, 'or')}${place}`)
  }
}

const recent: ExplainMatch = (options, phrases) => {
  const list = options.value('--name') ?? 'DEFAULT'
  const isDestination = options.flag('--rdest')
  if (!isDestination) options.flag('--rsource')
  const side = isDestination ? 'destination' : 'source'
  const key = words`${side} address${networkOf(options.value('--mask'))}`
  const name = part('name', list)
  if (options.flag('--set')) phrases.addEffect(words`remember the ${key} in the list ${name}`)
  const remove = options.signedFlag('--remove')
  if (remove?.negated)
    phrases.addClause(words`whose ${key} is not in the list ${name} (where it is, it is removed)`)
  else if (remove) phrases.addClause(words`whose ${key} is in the list ${name}, from where it is removed`)
  for (const verb of ['--rcheck', '--update'] as const) {
    const check = options.signedFlag(verb)
    if (!check) continue
    const seconds = options.value('--seconds')
    const hits = options.value('--hitcount')
    const details = [
      ...(hits === undefined ? [] : [words` at least ${hits} times`]),
      ...(seconds === undefined
        ? []
        : [words` within the last ${durationWords(seconds, `--seconds ${seconds}`)}`]),
      ...(options.flag('--rttl') ? [words` with the same TTL`] : []),
    ]
    const notes = [
      ...(options.flag('--reap') ? ['older entries are forgotten'] : []),
      ...(verb === '--update' ? ['this time is noted, too'] : []),
    ]
    const seen = details.length > 0 ? joined([' as seen', ...details]) : []
    const note = notes.length > 0 ? words` (${series(notes, 'and')})` : []
    phrases.addClause(words`whose ${key} is ${check.negated ? 'not ' : ''}in the list ${name}${seen}${note}`)
  }
}

/** Nothing for a mask that keeps the whole address. */
function networkOf(mask: string | undefined): ExplanationPart[] {
  if (mask === undefined || mask === '255.255.255.255' || /^(ffff:){7}ffff$/i.test(mask)) return []
  return words` under the mask ${part('address', mask)}`
}

const limit: ExplainMatch = (options, phrases) => {
  const written = options.value('--limit') ?? '3/hour'
  const burst = options.value('--limit-burst') ?? '5'
  const rate = rateWords(written) ?? unknownWords(written)
  phrases.addLead(words`at most ${rate} (bursts of ${burst})`)
}

const hashlimit: ExplainMatch = (options, phrases) => {
  const upTo = options.value('--hashlimit-upto', '--hashlimit')
  const above = upTo === undefined ? options.value('--hashlimit-above') : undefined
  const written = upTo ?? above
  if (written === undefined) return
  const rate = rateWords(written) ?? unknownWords(written)
  const burst = options.value('--hashlimit-burst') ?? '5'
  const modes = options.value('--hashlimit-mode')?.split(',') ?? []
  const perKey = modes.length === 0 ? [] : words` for each ${series(modes.map(hashKey), 'and')}`
  const list = options.value('--hashlimit-name')
  const notes = [
    words`bursts of ${burst}`,
    ...(list === undefined ? [] : [words`table ${part('name', list)}`]),
    ...HASH_NETWORKS.flatMap(([option, side]) => {
      const length = options.value(option)
      return length === undefined ? [] : [words`${side}s taken by their first ${length} bits`]
    }),
  ]
  const bound = above === undefined ? 'at most' : 'only beyond'
  phrases.addLead(
    words`${bound} ${rate}${perKey} (${joined(notes.flatMap((note, at) => (at === 0 ? [note] : [', ', note])))})`,
  )
}

const HASH_NETWORKS = [
  ['--hashlimit-srcmask', 'source'],
  ['--hashlimit-dstmask', 'destination'],
] as const

function hashKey(mode: string): string {
  const keys: Readonly<Record<string, string>> = {
    srcip: 'source address',
    dstip: 'destination address',
    srcport: 'source port',
    dstport: 'destination port',
  }
  return keys[mode] ?? mode
}

const SET_SIDES: Readonly<Record<string, string>> = { src: 'source', dst: 'destination' }

const set: ExplainMatch = (options, phrases) => {
  const found = options.pair('--match-set')
  if (!found) return
  const [name, sides] = found.values
  const isIn = found.negated ? 'is not in' : 'is in'
  phrases.addClause(words`whose ${setEntry(sides)} ${isIn} the set ${part('name', name)}`)
}

/** `source`; `src,dst entry` where a set joins several fields. */
export function setEntry(sides: string): string {
  return ownValue(SET_SIDES, sides) ?? `${sides} entry`
}

const owner: ExplainMatch = (options, phrases) => {
  const user = options.signed('--uid-owner')
  const group = options.signed('--gid-owner')
  const withOthers = options.flag('--suppl-groups') ? ' (or a further group of its)' : ''
  const said = (value: string): ExplanationPart => part('name', numberRange(value, '-'), value)
  if (user) phrases.addClause(words`that ${notOf(user)}come from a process of user ${said(user.value)}`)
  if (group)
    phrases.addClause(
      words`that ${notOf(group)}come from a process of group ${said(group.value)}${withOthers}`,
    )
  const socket = options.signedFlag('--socket-exists')
  if (socket) phrases.addClause(words`that ${notOf(socket)}belong to a process's socket`)
}

function notOf({ negated }: { negated: boolean }): string {
  return negated ? 'do not ' : ''
}

const physdev: ExplainMatch = (options, phrases) => {
  for (const [option, verb] of [
    ['--physdev-in', 'come in'],
    ['--physdev-out', 'go out'],
  ] as const) {
    const port = options.signed(option)
    if (port)
      phrases.addClause(words`that ${notOf(port)}${verb} by the bridge port ${part('name', port.value)}`)
    const any = options.signedFlag(option.replace('physdev-', 'physdev-is-'))
    if (any) phrases.addClause(words`that ${notOf(any)}${verb} by a bridge port`)
  }
  const bridged = options.signedFlag('--physdev-is-bridged')
  if (bridged)
    phrases.addClause(words`that are ${bridged.negated ? 'not bridged' : 'bridged and not routed'}`)
}

function hopLimit(name: string, prefix: string): ExplainMatch {
  return (options, phrases) => {
    const equal = options.signed(`--${prefix}-eq`)
    if (equal) phrases.addClause(words`whose ${name} is ${equal.negated ? 'not ' : ''}${equal.value}`)
    const below = options.value(`--${prefix}-lt`)
    if (below !== undefined) phrases.addClause(words`whose ${name} is below ${below}`)
    const above = options.value(`--${prefix}-gt`)
    if (above !== undefined) phrases.addClause(words`whose ${name} is above ${above}`)
  }
}

/** One option whose value reads as `whose … is (not) …`. */
function property(option: string, head: string, say: (value: string) => ExplanationPart[]): ExplainMatch {
  return (options, phrases) => {
    const condition = options.signed(option)
    if (condition) phrases.addClause(words`${head} ${condition.negated ? 'not ' : ''}${say(condition.value)}`)
  }
}

const iprange: ExplainMatch = (options, phrases) => {
  for (const [option, side] of [
    ['--src-range', 'source'],
    ['--dst-range', 'destination'],
  ] as const) {
    const range = options.signed(option)
    if (!range) continue
    const between = range.negated ? 'is not between' : 'is between'
    phrases.addClause(words`whose ${side} ${between} ${addressRange(range.value, 'and')}`)
  }
}

const connlimit: ExplainMatch = (options, phrases) => {
  const above = options.signed('--connlimit-above')
  const upTo = above ? undefined : options.signed('--connlimit-upto')
  const bound = above ?? upTo
  if (!bound) return
  const side = options.flag('--connlimit-daddr') ? 'destination' : 'source'
  if (side === 'source') options.flag('--connlimit-saddr')
  const mask = options.value('--connlimit-mask')
  const isWhole = mask === undefined || mask === '32' || mask === '128'
  const key = isWhole ? `${side} address` : `${side}'s /${mask} network`
  const exceeds = (above !== undefined) !== bound.negated
  const count = exceeds ? 'more than' : 'at most'
  phrases.addClause(
    words`whose ${part('text', key, mask && `--connlimit-mask ${mask}`)} has ${count} ${bound.value} connections`,
  )
}

const string: ExplainMatch = (options, phrases) => {
  const text = options.signed('--string')
  const hex = text ? undefined : options.signed('--hex-string')
  const pattern = text ?? hex
  if (!pattern) return
  const from = options.value('--from')
  const to = options.value('--to')
  const algorithm = options.value('--algo')
  const notes = [
    ...(from === undefined ? [] : [`from byte ${from} on`]),
    ...(to === undefined ? [] : [`up to byte ${to}`]),
    ...(options.flag('--icase') ? ['in capitals or not'] : []),
    ...(algorithm === undefined ? [] : [`searched by ${algorithm}`]),
  ]
  const note = notes.length === 0 ? '' : ` (${notes.join(', ')})`
  const kind = hex ? 'the bytes' : 'the text'
  phrases.addClause(words`that ${notOf(pattern)}contain ${kind} ${quoted(pattern.value)}${note}`)
}

const socket: ExplainMatch = (options, phrases) => {
  const transparent = options.flag('--transparent') ? 'a transparent socket' : 'a socket'
  const wildcard = options.flag('--nowildcard') ? ', one bound to any address too' : ''
  phrases.addClause(words`that belong to ${transparent} of this node${wildcard}`)
  if (options.flag('--restore-skmark')) phrases.addEffect(words`set the mark to that of the socket`)
}

const rpfilter: ExplainMatch = (options, phrases) => {
  const isInverted = options.flag('--invert')
  const notes = [
    ...(options.flag('--loose') ? ['by any interface'] : []),
    ...(options.flag('--validmark') ? ['with the mark taken into account'] : []),
    ...(options.flag('--accept-local') ? ['senders on this node allowed'] : []),
  ]
  const note = notes.length === 0 ? '' : ` (${notes.join(', ')})`
  const would = isInverted ? 'would not' : 'would'
  phrases.addClause(words`whose reply ${would} leave by the interface they come in by${note}`)
}

const time: ExplainMatch = (options, phrases) => {
  const days = options.signed('--weekdays')
  const dates = options.signed('--monthdays')
  const [from, to] = [options.value('--timestart'), options.value('--timestop')]
  const [first, last] = [options.value('--datestart'), options.value('--datestop')]
  const zone = options.flag('--kerneltz') ? " (in the kernel's time zone)" : ' (UTC)'
  const isContiguous = options.flag('--contiguous')
  const said = [
    ...(days
      ? [words`on ${days.negated ? 'days other than ' : ''}${series(days.value.split(','), 'and')}`]
      : []),
    ...(dates
      ? [words`on ${dates.negated ? 'any but ' : ''}day ${series(dates.value.split(','), 'or')} of the month`]
      : []),
    ...(from === undefined ? [] : [words`from ${from}`]),
    ...(to === undefined ? [] : [words`to ${to}`]),
    ...(isContiguous ? [words`without a break at midnight`] : []),
    ...(first === undefined ? [] : [words`since ${first}`]),
    ...(last === undefined ? [] : [words`until ${last}`]),
  ]
  if (said.length === 0) return
  phrases.addLead(joined([...said.flatMap((piece, at) => (at === 0 ? [piece] : [' ', piece])), zone]))
}

const quota: ExplainMatch = (options, phrases) => {
  const bytes = options.signed('--quota')
  if (bytes)
    phrases.addLead(words`${bytes.negated ? 'after' : 'until'} ${bytes.value} bytes have come by this rule`)
}

const policy: ExplainMatch = (options, phrases) => {
  const direction = options.value('--dir')
  const kind = options.value('--pol')
  const verb = { in: 'came in', out: 'will go out' }[direction ?? '']
  const way = { ipsec: 'under IPsec', none: 'without IPsec' }[kind ?? '']
  if (verb === undefined || way === undefined) return false
  phrases.addClause(words`that ${verb} ${way}`)
}

const MATCHES: Readonly<Record<string, ExplainMatch>> = {
  tcp: transport,
  udp: transport,
  udplite: transport,
  sctp: transport,
  dccp: transport,
  icmp: icmp('--icmp-type', ICMP_TYPES),
  icmp6: icmp('--icmpv6-type', ICMPV6_TYPES),
  multiport,
  conntrack,
  state: (options, phrases) => {
    const state = options.signed('--state')
    if (state) addState(state, phrases)
  },
  mark: markOf('mark'),
  connmark: markOf("connection's mark"),
  statistic,
  addrtype,
  recent,
  limit,
  hashlimit,
  set,
  owner,
  physdev,
  nfacct: (options, phrases) => {
    const name = options.value('--nfacct-name')
    if (name !== undefined) phrases.addEffect(words`count in the account ${part('name', name)}`)
  },
  ttl: hopLimit('TTL', 'ttl'),
  hl: hopLimit('hop limit', 'hl'),
  length: property('--length', 'whose length in bytes is', (value) => words`${numberRange(value)}`),
  mac: property('--mac-source', 'whose sender in the link layer is', (mac) => [part('address', mac)]),
  pkttype: property('--pkt-type', 'whose type in the link layer is', (type) => words`${type}`),
  iprange,
  connlimit,
  helper: property('--helper', "whose connection's helper is", (name) => [part('name', name)]),
  string,
  dscp: (options, phrases) => {
    property('--dscp', 'whose DSCP is', (value) => words`${value}`)(options, phrases)
    property('--dscp-class', 'whose DSCP class is', (value) => words`${value}`)(options, phrases)
  },
  tos: property('--tos', 'whose TOS is', (value) => words`${value}`),
  tcpmss: property('--mss', 'whose MSS is', (value) => words`${numberRange(value)}`),
  u32: (options, phrases) => {
    const test = options.signed('--u32')
    if (test)
      phrases.addClause(
        words`that ${test.negated ? 'fail' : 'pass'} the test ${quoted(test.value)} on their bytes`,
      )
  },
  cpu: property('--cpu', 'handled by a processor that is', (cpu) => words`number ${cpu}`),
  socket,
  rpfilter,
  time,
  quota,
  policy,
}
