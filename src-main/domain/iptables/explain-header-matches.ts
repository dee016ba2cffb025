import { type ExplainMatch, notOf } from './explain-match.ts'
import { type ExplanationPart, part, series, words } from './explain-parts.ts'
import type { Phrases } from './explain-phrases.ts'
import { addressRange, addressWords, portWords, protocolWords } from './explain-values.ts'
import type { Condition, RuleSpec } from './rule-spec.ts'

export function addProtocol({ protocol, matches }: RuleSpec, phrases: Phrases): void {
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

export function addAddress(side: 'from' | 'to', condition: Condition | undefined, phrases: Phrases): void {
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

export function addInterface(verb: string, condition: Condition | undefined, phrases: Phrases): void {
  if (!condition) return
  phrases.addClause(
    words`that ${condition.negated ? 'do not ' : ''}${verb} by ${interfaceWords(condition.value)}`,
  )
}

function interfaceWords(name: string): ExplanationPart[] {
  if (!name.endsWith('+')) return [part('name', name)]
  return words`an interface named ${part('name', name)} (any ending)`
}

export const transport: ExplainMatch = (options, phrases) => {
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

export const ICMP_TYPES: Readonly<Record<string, string>> = {
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

export const ICMPV6_TYPES: Readonly<Record<string, string>> = {
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

export function icmp(option: string, names: Readonly<Record<string, string>>): ExplainMatch {
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

export const multiport: ExplainMatch = (options, phrases) => {
  addPort('from', options.signed('--sports', '--source-ports'), phrases)
  addPort('to', options.signed('--dports', '--destination-ports'), phrases)
  const either = options.signed('--ports')
  if (!either) return
  const verb = either.negated ? 'neither come from nor go to' : 'come from or go to'
  phrases.addClause(words`that ${verb} ${portWords(either.value)}`)
}

export const physdev: ExplainMatch = (options, phrases) => {
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

export function hopLimit(name: string, prefix: string): ExplainMatch {
  return (options, phrases) => {
    const equal = options.signed(`--${prefix}-eq`)
    if (equal) phrases.addClause(words`whose ${name} is ${equal.negated ? 'not ' : ''}${equal.value}`)
    const below = options.value(`--${prefix}-lt`)
    if (below !== undefined) phrases.addClause(words`whose ${name} is below ${below}`)
    const above = options.value(`--${prefix}-gt`)
    if (above !== undefined) phrases.addClause(words`whose ${name} is above ${above}`)
  }
}

export const iprange: ExplainMatch = (options, phrases) => {
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
