import { ownValue } from '../own-value.ts'
import { type ExplanationPart, part, series, words } from './explain-parts.ts'
import { protocolName } from './protocol-names.ts'

/** `10.96.0.1/32` is one address, `a,b` is either of them, `0.0.0.0/0` is any. */
export function addressWords(written: string): ExplanationPart[] {
  const addresses = written.split(',').map((one): ExplanationPart[] => {
    if (one === '0.0.0.0/0' || one === '::/0') return words`any address (${part('address', one)})`
    return [part('address', one.replace(/(?<=\..*)\/(32|255\.255\.255\.255)$|(?<=:.*)\/128$/, ''), one)]
  })
  return series(addresses, 'or')
}

/** `10.0.0.1-10.0.0.9` with what parts the two; a single address stays one. */
export function addressRange(written: string, between: string): ExplanationPart[] {
  const [from = '', to] = written.split('-')
  if (to === undefined) return [part('address', from)]
  return words`${part('address', from)} ${between} ${part('address', to)}`
}

/** `port 80`, `ports 1 to 80`, `port 80, 443 or 8000 to 9000`; ranges part at ":" (matches) or "-" (targets). */
export function portWords(written: string): ExplanationPart[] {
  const items = written.split(',')
  const isRange = items.length === 1 && rangeEnds(written) !== undefined
  return words`${isRange ? 'ports' : 'port'} ${series(items.map(portRange), 'or')}`
}

function portRange(written: string): ExplanationPart[] {
  const ends = rangeEnds(written)
  if (!ends) return [part('port', written)]
  return words`${part('port', ends[0])} to ${part('port', ends[1])}`
}

/** A service name may hold "-" (`domain-s`); a range of targets is made of numbers. */
function rangeEnds(written: string): [first: string, last: string] | undefined {
  const range = /^([^:]*):([^:]*)$/.exec(written) ?? /^(\d+)-(\d+)$/.exec(written)
  return range ? [range[1] || '0', range[2] || '65535'] : undefined
}

/** `40:100` as `40 to 100`; where an end is missing, up to or from the other. */
export function numberRange(written: string, separator: ':' | '-' = ':'): string {
  const [from = '', to] = written.split(separator)
  if (to === undefined) return from
  if (from === '') return `at most ${to}`
  return to === '' ? `at least ${from}` : `${from} to ${to}`
}

const PROTOCOL_WORDS: Readonly<Record<string, string>> = {
  udplite: 'UDP-Lite',
  'ipv6-icmp': 'ICMPv6',
  icmpv6: 'ICMPv6',
  icmp6: 'ICMPv6',
  ipencap: 'IP-in-IP',
  'mobility-header': 'Mobile IPv6',
  mh: 'Mobile IPv6',
}
const SPELT_IN_CAPITALS = /^(tcp|udp|sctp|dccp|icmp|igmp|esp|ah|gre|vrrp|ospf|pim|egp|igp|rsvp|l2tp|eigrp)$/

/** `TCP` for tcp; `112 (VRRP)` for a number; a name that is not known stays as it is. */
export function protocolWords(written: string): string {
  const name = protocolName(written)
  const said = ownValue(PROTOCOL_WORDS, name) ?? (SPELT_IN_CAPITALS.test(name) ? name.toUpperCase() : name)
  return /^\d+$/.test(written) && said !== written ? `${written} (${said})` : said
}

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [86400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
]

/** `3 hours` for 10800, `minute` for 60: in the largest unit that is exact. */
export function durationWords(seconds: string, written: string): ExplanationPart {
  const count = Number(seconds)
  const unit = UNITS.find(([length]) => count > 0 && count % length === 0)
  if (!unit) return part('text', `${seconds} seconds`, written)
  const units = count / unit[0]
  return part('text', units === 1 ? unit[1] : `${units} ${unit[1]}s`, written)
}

const RATE_UNITS: Readonly<Record<string, string>> = { s: 'second', m: 'minute', h: 'hour', d: 'day' }

/** `3 times a minute` for 3/min; undefined for another kind of rate (`10kb/s`). */
export function rateWords(written: string): ExplanationPart | undefined {
  const rate = /^(\d+)(?:\/([smhd])[a-z]*)?$/.exec(written)
  if (!rate) return undefined
  const times = rate[1] === '1' ? '1 time' : `${rate[1]} times`
  const unit = RATE_UNITS[rate[2] ?? 's']
  return part('text', `${times} ${unit === 'hour' ? 'an' : 'a'} ${unit}`, written)
}

export interface MaskedMark {
  readonly value: number
  /** All 32 bits where the text gives no mask. */
  readonly mask: number
}

export const WHOLE_MARK = 0xffffffff

/** Undefined for what is no number. */
export function parseMark(written: string): MaskedMark | undefined {
  const [value = '', mask = String(WHOLE_MARK)] = written.split('/')
  const numbers = [value, mask].map((text) => (/^(0x[\da-f]+|\d+)$/i.test(text) ? Number(text) : Number.NaN))
  if (numbers.some((number) => !(number <= WHOLE_MARK))) return undefined
  return { value: Number(numbers[0]), mask: Number(numbers[1]) }
}

export function hexText(value: number): string {
  return `0x${(value >>> 0).toString(16)}`
}

/** `bit 0x4000`, `bits 0xc000`. */
export function bitWords(bits: number, written?: string): ExplanationPart[] {
  const isSingle = bits !== 0 && (bits & (bits - 1)) === 0
  return words`${isSingle ? 'bit' : 'bits'} ${part('mark', hexText(bits), written)}`
}

/** A string of the rule as it was meant, in quotes. */
export function quoted(value: string): ExplanationPart {
  return part('name', `"${value}"`)
}
