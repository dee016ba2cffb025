import { hexText, numberRange, parseMark, protocolWords, WHOLE_MARK } from '../iptables/explain-values.ts'
import type { MatchSpec } from '../iptables/rule-spec.ts'
import { eachOption, isProtocol } from './match-header.ts'
import { type Check, compare, MATCHED, miss, open } from './match-outcome.ts'
import { isWithin, parseAddressMask } from './walk-address.ts'
import type { LivePacket } from './walk-packet.ts'

export function readState(match: MatchSpec): Check[] {
  return eachOption(match, ({ name, negated }, value) =>
    name === '--state' ? stateCheck(value, negated) : undefined,
  )
}

export function readConntrack(match: MatchSpec): Check[] {
  return eachOption(match, ({ name, negated }, value) => {
    switch (name) {
      case '--ctstate':
        return stateCheck(value, negated)
      case '--ctproto':
        return (packet) =>
          compare(
            isProtocol(packet, value),
            negated,
            "the connection's protocol",
            protocolWords(packet.protocol),
            protocolWords(value),
          )
      case '--ctorigsrc':
      case '--ctorigdst':
        return originalAddressCheck(name === '--ctorigsrc' ? 'src' : 'dst', value, negated)
      case '--ctorigdstport':
        return originalPortCheck(value, negated)
      case '--ctdir':
        return (packet) =>
          compare(
            packet.direction === value.toLowerCase(),
            negated,
            "the packet's direction",
            packet.direction.toUpperCase(),
            value,
          )
      default:
        return undefined
    }
  })
}

/** NEW, ESTABLISHED, … are the packet's; DNAT and SNAT say that the connection is translated. */
function stateCheck(written: string, negated: boolean): Check {
  const wanted = written.split(',')
  const words = wanted.join(' or ')
  return (packet, facts) => {
    // The raw table stands before conntrack, where a packet belongs to no connection.
    const state = (packet.ctState ?? 'invalid').toUpperCase()
    const has: string[] = [state]
    for (const kind of ['DNAT', 'SNAT'] as const) {
      const translated = kind === 'DNAT' ? packet.dnat : packet.snat
      if (packet.ctState === undefined || packet.ctState === 'untracked' || packet.ctState === 'invalid')
        break
      if (translated === undefined && wanted.includes(kind) && !wanted.includes(state))
        return open(facts, 'conntrack', {
          key: `status ${kind}`,
          fact: `the connection is translated (${kind})`,
          denial: `the connection is not translated (${kind})`,
          negated,
        })
      if (translated) has.push(kind)
    }
    const fits = has.some((name) => wanted.includes(name))
    return compare(fits, negated, 'connection state', has.join(' and '), words)
  }
}

function originalAddressCheck(side: 'src' | 'dst', value: string, negated: boolean): Check | undefined {
  const mask = parseAddressMask(value)
  if (!mask) return undefined
  const what = side === 'src' ? 'original source' : 'original destination'
  return (packet, facts) => {
    if (isUntracked(packet)) return miss('the packet belongs to no connection')
    const address = packet.original?.[side]
    if (!address) return unknownOriginal(facts, what, value, negated)
    return compare(isWithin(address, mask), negated, `the connection's ${what}`, address.text, value)
  }
}

function originalPortCheck(value: string, negated: boolean): Check | undefined {
  if (!/^\d*(:\d*)?$/.test(value)) return undefined
  const [from = '', to = from] = value.split(':')
  return (packet, facts) => {
    if (isUntracked(packet)) return miss('the packet belongs to no connection')
    const port = packet.original?.dport
    if (port === undefined) return unknownOriginal(facts, 'original destination port', value, negated)
    const fits = port >= Number(from || 0) && port <= Number(to || 65535)
    return compare(
      fits,
      negated,
      "the connection's original destination port",
      String(port),
      numberRange(value),
    )
  }
}

function isUntracked({ ctState }: LivePacket): boolean {
  return ctState === undefined || ctState === 'untracked' || ctState === 'invalid'
}

function unknownOriginal(facts: Parameters<Check>[1], what: string, value: string, negated: boolean) {
  return open(facts, 'conntrack', {
    key: `${what} ${value}`,
    fact: `the connection's ${what} is ${value}`,
    denial: `the connection's ${what} is not ${value}`,
    negated,
  })
}

export function readMark(match: MatchSpec): Check[] {
  const isConnection = match.name === 'connmark'
  const what = isConnection ? "the connection's mark" : 'the mark'
  return eachOption(match, ({ name, negated }, value) => {
    const wanted = name === '--mark' ? parseMark(value) : undefined
    if (!wanted) return undefined
    const bits = wanted.mask === WHOLE_MARK ? '' : ` in the bits ${hexText(wanted.mask)}`
    return (packet, facts) => {
      if (isConnection && isUntracked(packet)) return miss('the packet belongs to no connection')
      const mark = isConnection ? packet.connmark : packet.mark
      if (mark === undefined)
        return open(facts, 'conntrack', {
          key: `connmark ${value}`,
          fact: `${what} is ${value}`,
          denial: `${what} is not ${value}`,
          negated,
        })
      const fits = (mark & wanted.mask) >>> 0 === wanted.value >>> 0
      if (fits !== negated) return MATCHED
      const isNot = negated ? 'anything but ' : ''
      return miss(`${what} is ${hexText(mark)}, the rule wants ${isNot}${hexText(wanted.value)}${bits}`)
    }
  })
}
