import { ownValue } from '../own-value.ts'
import { chanceOf, chanceWords, type LadderStep, overallWords } from './explain-chance.ts'
import {
  addAddress,
  addInterface,
  addProtocol,
  hopLimit,
  ICMP_TYPES,
  ICMPV6_TYPES,
  icmp,
  iprange,
  multiport,
  physdev,
  transport,
} from './explain-header-matches.ts'
import { type ExplainMatch, notOf, property } from './explain-match.ts'
import { OptionReader, unknownWords } from './explain-options.ts'
import { type ExplanationPart, joined, part, series, words } from './explain-parts.ts'
import { Phrases } from './explain-phrases.ts'
import {
  addState,
  connlimit,
  conntrack,
  hashlimit,
  limit,
  markOf,
  quota,
  recent,
  set,
  statistic,
} from './explain-state-matches.ts'
import { numberRange, quoted } from './explain-values.ts'
import type { MatchSpec, RuleSpec } from './rule-spec.ts'

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
