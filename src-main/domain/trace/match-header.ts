import { numberRange, protocolWords } from '../iptables/explain-values.ts'
import { protocolNumber } from '../iptables/protocol-names.ts'
import type { Condition, MatchSpec, Option, RuleSpec } from '../iptables/rule-spec.ts'
import { type Check, compare, MATCHED, type MatchOutcome, miss, notKnown, open } from './match-outcome.ts'
import { type AddressMask, isWithin, parseAddressMask, parseAddressRange } from './walk-address.ts'
import type { LivePacket } from './walk-packet.ts'

type AddressSide = 'source' | 'destination'

/** -s, -d, -i, -o, -p and -f, in the order in which iptables asks them. */
export function readPlainConditions(spec: RuleSpec): Check[] {
  const { source, destination, inInterface, outInterface, protocol, fragment } = spec
  return [
    ...(source ? [addressCheck('source', source)] : []),
    ...(destination ? [addressCheck('destination', destination)] : []),
    ...(inInterface ? [interfaceCheck('in', inInterface)] : []),
    ...(outInterface ? [interfaceCheck('out', outInterface)] : []),
    ...(protocol ? [protocolCheck(protocol)] : []),
    ...(fragment ? [fragmentCheck(fragment.negated)] : []),
  ]
}

function addressOf(packet: LivePacket, side: AddressSide) {
  return side === 'source' ? packet.src : packet.dst
}

function addressCheck(side: AddressSide, { value, negated }: Condition): Check {
  const masks = value.split(',').map(parseAddressMask)
  const known = masks.filter((mask): mask is AddressMask => mask !== undefined)
  if (known.length < masks.length) return notKnown(`${side === 'source' ? '-s' : '-d'} ${value}`)
  const wanted = value
    .split(',')
    .map((one) => one.replace(/(?<=\..*)\/32$|(?<=:.*)\/128$/, ''))
    .join(' or ')
  return (packet, facts) => {
    const address = addressOf(packet, side)
    if (!address)
      return open(facts, 'interface-addresses', {
        key: `${side} ${value}`,
        fact: `the new ${side} address is ${wanted}`,
        denial: `the new ${side} address is not ${wanted}`,
        negated,
      })
    return compare(
      known.some((mask) => isWithin(address, mask)),
      negated,
      side,
      address.text,
      wanted,
    )
  }
}

function interfaceCheck(side: 'in' | 'out', { value, negated }: Condition): Check {
  const stem = value.endsWith('+') ? value.slice(0, -1) : undefined
  const fits = (name: string): boolean => (stem === undefined ? name === value : name.startsWith(stem))
  const wanted = stem === undefined ? value : `a name that begins with ${stem}`
  const verb = side === 'in' ? 'comes in by' : 'goes out by'
  return (packet, facts) => {
    const name = packet[side]
    if (name === undefined && side === 'out' && packet.isRouted)
      return open(facts, 'routing', {
        key: `out ${value}`,
        fact: `${packet.dst.text} is reached by ${value}`,
        denial: `${packet.dst.text} is not reached by ${value}`,
        negated,
      })
    if ((name !== undefined && fits(name)) !== negated) return MATCHED
    const missing = side === 'in' ? 'is sent by the node itself' : 'has no way out yet'
    const actual = name === undefined ? missing : `${verb} ${name}`
    return miss(`the packet ${actual}, the rule wants ${negated ? 'anything but ' : ''}${wanted}`)
  }
}

/** Both as numbers, so that `6` is `tcp`. */
export function isProtocol(packet: LivePacket, protocol: string): boolean {
  return protocolNumber(packet.protocol) === protocolNumber(protocol)
}

function protocolCheck({ value, negated }: Condition): Check {
  const isAny = protocolNumber(value) === '0'
  return (packet) =>
    compare(
      isAny || isProtocol(packet, value),
      negated,
      'protocol',
      protocolWords(packet.protocol),
      isAny ? 'any' : protocolWords(value),
    )
}

function fragmentCheck(negated: boolean): Check {
  return (packet) => {
    if (packet.isLaterFragment !== negated) return MATCHED
    return negated
      ? miss('the packet is a second or further fragment, the rule wants whole packets and first ones')
      : miss('the packet is no second or further fragment')
  }
}

export function optionText({ name, negated, values }: Option): string {
  return [...(negated ? ['!'] : []), name, ...values].join(' ')
}

/** For matches whose options each stand for themselves: one check an option, and none is lost. */
export function eachOption(
  match: MatchSpec,
  read: (option: Option, value: string) => Check | undefined,
): Check[] {
  return match.options.map(
    (option) => read(option, option.values[0] ?? '') ?? notKnown(`-m ${match.name} ${optionText(option)}`),
  )
}

/** `80`, `1:80`, `1024:`; undefined for a name of /etc/services. */
function parseRange(written: string, separator = ':'): readonly [number, number] | undefined {
  const [from = '', to] = written.split(separator)
  const first = from === '' && to !== undefined ? 0 : numberOf(from)
  const last = to === undefined ? first : to === '' ? Number.POSITIVE_INFINITY : numberOf(to)
  return first === undefined || last === undefined ? undefined : [first, last]
}

function numberOf(text: string): number | undefined {
  return /^(0x[\da-f]+|\d+)$/i.test(text) ? Number(text) : undefined
}

function portCheck(
  sides: readonly ('sport' | 'dport')[],
  written: string,
  negated: boolean,
): Check | undefined {
  const ranges: (readonly [number, number])[] = []
  for (const item of written.split(',')) {
    const range = parseRange(item)
    if (!range) return undefined
    ranges.push(range)
  }
  const wanted = written
    .split(',')
    .map((item) => numberRange(item))
    .join(' or ')
  const what = sides.length === 2 ? 'ports' : sides[0] === 'sport' ? 'source port' : 'destination port'
  return (packet, facts) => {
    const ports = sides.map((side) => packet[side])
    if (packet.isLaterFragment) return miss('the packet is a later fragment and shows no ports')
    if (ports.includes(undefined))
      return open(facts, 'packet', {
        key: `${sides.join()} ${written}`,
        fact: `the ${what} is ${wanted}`,
        denial: `the ${what} is not ${wanted}`,
        negated,
      })
    const fits = ports.some((port) =>
      ranges.some(([from, to]) => port !== undefined && port >= from && port <= to),
    )
    return compare(fits, negated, what, ports.join(' and '), wanted)
  }
}

export function readTransport(match: MatchSpec): Check[] {
  const protocol = match.name
  // A rule of an odd maker may load the match without -p.
  const own: Check = (packet) =>
    compare(
      isProtocol(packet, protocol),
      false,
      'protocol',
      protocolWords(packet.protocol),
      protocolWords(protocol),
    )
  return [
    own,
    ...eachOption(match, ({ name, negated, values }, value) => {
      if (name === '--sport' || name === '--source-port') return portCheck(['sport'], value, negated)
      if (name === '--dport' || name === '--destination-port') return portCheck(['dport'], value, negated)
      if (name === '--syn') return flagsCheck('FIN,SYN,RST,ACK', 'SYN', negated)
      if (name === '--tcp-flags') return flagsCheck(value, values[1] ?? '', negated)
      return undefined
    }),
  ]
}

const ALL_FLAGS = ['FIN', 'SYN', 'RST', 'PSH', 'ACK', 'URG']

function flagsCheck(tested: string, wanted: string, negated: boolean): Check {
  const flagsOf = (text: string): string[] =>
    text === 'ALL' ? ALL_FLAGS : text === 'NONE' ? [] : text.split(',')
  const mask = flagsOf(tested)
  const set = flagsOf(wanted)
  const words = `${set.join(' and ') || 'none'} of ${mask.join(', ')}`
  return (packet) => {
    const fits = mask.every((flag) => packet.tcpFlags.has(flag) === set.includes(flag))
    const actual = mask.filter((flag) => packet.tcpFlags.has(flag)).join(' and ') || 'none'
    if (fits !== negated) return MATCHED
    return miss(`of the TCP flags ${actual} set, the rule wants ${negated ? 'anything but ' : ''}${words}`)
  }
}

export function readMultiport(match: MatchSpec): Check[] {
  return eachOption(match, ({ name, negated }, value) => {
    if (name === '--sports' || name === '--source-ports') return portCheck(['sport'], value, negated)
    if (name === '--dports' || name === '--destination-ports') return portCheck(['dport'], value, negated)
    if (name === '--ports') return portCheck(['sport', 'dport'], value, negated)
    return undefined
  })
}

export function readIcmp(match: MatchSpec): Check[] {
  return eachOption(match, ({ negated }, value) => {
    if (value === 'any') return () => (negated ? miss('the rule wants no type at all') : MATCHED)
    const [type, code] = value.split('/').map(numberOf)
    if (type === undefined || (value.includes('/') && code === undefined)) return undefined
    // To the kernel 255 is any type.
    if (type === 255) return () => (negated ? miss('the rule wants no type at all') : MATCHED)
    return (packet, facts) => {
      if (!packet.icmp)
        return open(facts, 'packet', {
          key: `icmp ${value}`,
          fact: `the ICMP type is ${value}`,
          denial: `the ICMP type is not ${value}`,
          negated,
        })
      const { type: actual, code: actualCode } = packet.icmp
      const fits = actual === type && (code === undefined || actualCode === code)
      return compare(fits, negated, 'ICMP type', `${actual}/${actualCode}`, value)
    }
  })
}

export function readIprange(match: MatchSpec): Check[] {
  return eachOption(match, ({ name, negated }, value) => {
    const side = { '--src-range': 'source', '--dst-range': 'destination' }[name] as AddressSide | undefined
    const range = parseAddressRange(value)
    if (!side || !range) return undefined
    const [from, to] = range
    return (packet, facts) => {
      const address = addressOf(packet, side)
      if (!address)
        return open(facts, 'interface-addresses', {
          key: `${side} ${value}`,
          fact: `the new ${side} address is within ${value}`,
          denial: `the new ${side} address is not within ${value}`,
          negated,
        })
      const fits = address.bits === from.bits && address.value >= from.value && address.value <= to.value
      return compare(fits, negated, side, address.text, `${from.text} to ${to.text}`)
    }
  })
}

/** A number of the header that the packet may or may not tell. */
function numberCheck(
  what: string,
  field: (packet: LivePacket) => number | undefined,
  fits: (actual: number) => boolean,
  wanted: string,
  negated: boolean,
): Check {
  return (packet, facts): MatchOutcome => {
    const actual = field(packet)
    if (actual === undefined)
      return open(facts, 'packet', {
        key: `${what} ${wanted}`,
        fact: `the packet's ${what} is ${wanted}`,
        denial: `the packet's ${what} is not ${wanted}`,
        negated,
      })
    return compare(fits(actual), negated, what, String(actual), wanted)
  }
}

/** TTL of IPv4 and hop limit of IPv6. */
export function readHopLimit(match: MatchSpec): Check[] {
  const what = match.name === 'ttl' ? 'TTL' : 'hop limit'
  return eachOption(match, ({ name, negated }, value) => {
    const bound = numberOf(value)
    const relation = /-(eq|lt|gt)$/.exec(name)?.[1]
    if (bound === undefined || relation === undefined) return undefined
    const fits = (actual: number): boolean =>
      relation === 'eq' ? actual === bound : relation === 'lt' ? actual < bound : actual > bound
    const wanted = { eq: value, lt: `below ${value}`, gt: `above ${value}` }[relation] ?? value
    return numberCheck(what, (packet) => packet.ttl, fits, wanted, negated)
  })
}

export function readLength(match: MatchSpec): Check[] {
  return eachOption(match, ({ negated }, value) => {
    const range = parseRange(value)
    if (!range) return undefined
    const fits = (actual: number): boolean => actual >= range[0] && actual <= range[1]
    return numberCheck('length', (packet) => packet.length, fits, numberRange(value), negated)
  })
}

export function readTos(match: MatchSpec): Check[] {
  return eachOption(match, ({ name, negated }, value) => {
    const [wanted, mask = match.name === 'tos' ? 0xff : 0x3f] = value.split('/').map(numberOf)
    if (wanted === undefined || (name !== '--tos' && name !== '--dscp')) return undefined
    const isDscp = name === '--dscp'
    const fits = (actual: number): boolean => (actual & mask) === wanted
    const field = (packet: LivePacket): number | undefined =>
      packet.tos === undefined ? undefined : isDscp ? packet.tos >> 2 : packet.tos
    return numberCheck(isDscp ? 'DSCP' : 'TOS', field, fits, value, negated)
  })
}
