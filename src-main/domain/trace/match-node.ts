import type { MatchSpec } from '../iptables/rule-spec.ts'
import { eachOption } from './match-header.ts'
import { type Check, compare, MATCHED, type MatchOutcome, miss, notKnown, open } from './match-outcome.ts'
import { isWithin, parseAddressMask } from './walk-address.ts'
import type { NodeFacts } from './walk-context.ts'
import type { LivePacket } from './walk-packet.ts'

const TYPES = new Set(['UNSPEC', 'UNICAST', 'LOCAL', 'BROADCAST', 'MULTICAST'])

export function readAddrtype(match: MatchSpec): Check[] {
  const limits = match.options.filter(({ name }) => name.startsWith('--limit-iface'))
  const isByInput = limits.some(({ name }) => name === '--limit-iface-in')
  const kinds = match.options.filter((option) => !limits.includes(option))
  return eachOption({ ...match, options: kinds }, ({ name, negated }, value) => {
    const side = { '--src-type': 'source', '--dst-type': 'destination' }[name]
    const wanted = value.split(',')
    if (!side || !wanted.every((type) => TYPES.has(type))) return undefined
    return (packet, facts) => {
      const address = side === 'source' ? packet.src : packet.dst
      const dev = limits.length === 0 ? undefined : isByInput ? packet.in : packet.out
      const type = address && facts.typeOf(address, dev)
      const text = address?.text ?? 'the new source'
      if (type === undefined) {
        const words = wanted.map((one) => typeWords(one)).join(' or ')
        const isPlainLocal = value === 'LOCAL' && dev === undefined
        return open(facts, 'local-addresses', {
          key: isPlainLocal ? localKey(text) : `type ${text} ${value} ${dev ?? ''}`,
          fact: `${text} is ${words}`,
          denial: `${text} is not ${words}`,
          negated,
        })
      }
      if (wanted.includes(type) !== negated) return MATCHED
      const where = dev === undefined ? '' : ` (on ${dev})`
      const isNot = negated ? 'anything but ' : ''
      return miss(
        `the ${side} ${text} is ${typeWords(type)}${where}, the rule wants ${isNot}${wanted.map(typeWords).join(' or ')}`,
      )
    }
  })
}

/** The key of the question whether an address is the node's own, which routing asks too. */
export function localKey(address: string): string {
  return `local ${address}`
}

function typeWords(type: string): string {
  return (
    {
      LOCAL: "one of the node's own addresses",
      UNICAST: 'an address of another host',
      BROADCAST: 'a broadcast address',
      MULTICAST: 'a multicast address',
      UNSPEC: 'the unspecified address',
    }[type] ?? type
  )
}

/** ipsets of addresses and prefixes, one dimension. */
export function readSet(match: MatchSpec): Check[] {
  return match.options.map((option) => {
    const [name = '', sides = ''] = option.values
    if (option.name !== '--match-set') return notKnown(`-m set ${option.name}`)
    return (packet, facts) => {
      const address = sides === 'src' ? packet.src : packet.dst
      const entries = facts.context.sets?.[name]
      if (!entries || !address || sides.includes(','))
        return open(facts, 'ipset', {
          key: `set ${name} ${sides} ${address?.text ?? ''}`,
          fact: `the set ${name} holds ${sides.includes(',') ? `the packet's ${sides}` : (address?.text ?? 'the new source')}`,
          denial: `the set ${name} does not hold ${sides.includes(',') ? `the packet's ${sides}` : (address?.text ?? 'the new source')}`,
          negated: option.negated,
        })
      const holds = entries.some((entry) => {
        const mask = parseAddressMask(entry)
        return mask !== undefined && isWithin(address, mask)
      })
      if (holds !== option.negated) return MATCHED
      return miss(`${address.text} is ${holds ? '' : 'not '}in the set ${name}`)
    }
  })
}

export function readOwner(match: MatchSpec): Check[] {
  return eachOption(match, ({ name, negated }, value) => {
    return (packet, facts): MatchOutcome => {
      // Forwarded packets have no sending process: every form fails, negated or not, but ! --socket-exists.
      if (packet.owner === undefined)
        return name === '--socket-exists' && negated
          ? MATCHED
          : miss('the packet is not sent by a process of the node')
      if (name === '--socket-exists')
        return negated ? miss('the packet is sent by a process of the node') : MATCHED
      const id =
        packet.owner === 'not known'
          ? undefined
          : name === '--uid-owner'
            ? packet.owner.uid
            : packet.owner.gid
      const [from = '', to = from] = value.split('-')
      if (id === undefined || !/^\d+$/.test(from) || !/^\d+$/.test(to))
        return open(facts, 'packet', {
          key: `${name} ${value}`,
          fact: `the sending process belongs to ${name === '--uid-owner' ? 'user' : 'group'} ${value}`,
          denial: `the sending process does not belong to ${name === '--uid-owner' ? 'user' : 'group'} ${value}`,
          negated,
        })
      const what = name === '--uid-owner' ? "the sender's user" : "the sender's group"
      return compare(id >= Number(from) && id <= Number(to), negated, what, String(id), value)
    }
  })
}

export function readPhysdev(match: MatchSpec): Check[] {
  return eachOption(match, ({ name, negated }, value) => {
    if (name !== '--physdev-in' && name !== '--physdev-is-in') return undefined
    return (packet, facts) => {
      const isBridged = facts.isBridge(packet.in)
      if (packet.physIn === undefined && isBridged !== false && packet.in !== undefined)
        return open(facts, 'bridge', {
          key: `${name} ${value}`,
          fact: `the packet comes in by ${name === '--physdev-in' ? `the bridge port ${value}` : 'a bridge port'}`,
          denial: `the packet does not come in by ${name === '--physdev-in' ? `the bridge port ${value}` : 'a bridge port'}`,
          negated,
        })
      if (name === '--physdev-is-in') {
        const isIn = packet.physIn !== undefined
        return isIn !== negated ? MATCHED : miss(`the packet comes in by ${isIn ? 'a' : 'no'} bridge port`)
      }
      const stem = value.endsWith('+') ? value.slice(0, -1) : undefined
      const port = packet.physIn ?? ''
      const fits = port !== '' && (stem === undefined ? port === value : port.startsWith(stem))
      return compare(fits, negated, 'the bridge port', port === '' ? 'none' : port, value)
    }
  })
}

/** Whether a reply would leave by the interface that the packet came in by. */
export function readRpfilter(match: MatchSpec): Check[] {
  const flags = new Set(match.options.map(({ name }) => name))
  const isInverted = flags.has('--invert')
  return [
    (packet, facts) => {
      if (packet.in === undefined || packet.in === 'lo')
        return isInverted ? miss('the sender is the node itself') : MATCHED
      const passes = passesReversePath(packet, facts, {
        isLoose: flags.has('--loose'),
        acceptsLocal: flags.has('--accept-local'),
      })
      if (passes === undefined)
        return open(facts, 'routing', {
          key: 'rpfilter',
          fact: `a reply to ${packet.src?.text ?? 'the source'} would leave by ${packet.in}`,
          denial: `a reply to ${packet.src?.text ?? 'the source'} would not leave by ${packet.in}`,
          negated: isInverted,
        })
      if (passes !== isInverted) return MATCHED
      return miss(
        `a reply to ${packet.src?.text ?? 'the source'} would ${passes ? '' : 'not '}leave by ${packet.in}`,
      )
    },
  ]
}

/** Undefined where the node's routes are not known. */
export function passesReversePath(
  packet: LivePacket,
  facts: NodeFacts,
  how: { readonly isLoose: boolean; readonly acceptsLocal: boolean },
): boolean | undefined {
  if (!packet.src) return undefined
  const type = facts.typeOf(packet.src)
  if (type === undefined) return undefined
  if (type === 'LOCAL') return how.acceptsLocal
  const route = facts.route({ dst: packet.src, mark: packet.mark })
  if (route.kind === 'unknown') return undefined
  if (route.kind === 'unreachable') return false
  return how.isLoose || (route.kind === 'forward' && route.dev === packet.in)
}

/** `--pol none` is every packet without IPsec, which is all that this walk knows. */
export function readPolicy(match: MatchSpec): Check[] {
  const value = (name: string) =>
    match.options.find((option) => option.name === name && !option.negated)?.values[0]
  if (value('--pol') === 'none') return [() => MATCHED]
  if (value('--pol') === 'ipsec') return [() => miss('the packet is not under IPsec')]
  return [
    notKnown(`-m policy ${match.options.map(({ name, values }) => [name, ...values].join(' ')).join(' ')}`),
  ]
}
