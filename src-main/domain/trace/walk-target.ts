import { hexText, parseMark } from '../iptables/explain-values.ts'
import { optionOf, type TargetSpec } from '../iptables/rule-spec.ts'
import { ownValue } from '../own-value.ts'
import {
  type Address,
  addressFromNumber,
  parseAddress,
  parseAddressMask,
  parseAddressRange,
} from './walk-address.ts'
import type { NodeFacts } from './walk-context.ts'
import type { LivePacket } from './walk-packet.ts'
import type { Effect } from './walk-path.ts'

/** What NAT decided, for conntrack to carry out behind the table. */
export interface NatBinding {
  readonly side: 'source' | 'destination'
  /** Undefined: not known. */
  readonly address: Address | undefined
  readonly port: number | undefined
  /** The port is one of several, or drawn. */
  readonly isPortOpen: boolean
}

/** What a target that is no chain does. */
export type TargetResult =
  | { readonly kind: 'continue'; readonly packet: LivePacket; readonly effects: readonly Effect[] }
  | { readonly kind: 'accept' | 'drop' | 'return' | 'queue' }
  | { readonly kind: 'reject'; readonly answer: string }
  /** Usually one; several addresses are taken evenly. */
  | { readonly kind: 'nat'; readonly bindings: readonly NatBinding[]; readonly effects: readonly Effect[] }
  | { readonly kind: 'unknown'; readonly why: string }

/** They let the packet go on and change nothing that a rule or the route can ask for. */
const HARMLESS: Readonly<Record<string, string>> = {
  AUDIT: 'writes an audit record',
  CHECKSUM: 'fills in the checksum',
  CLASSIFY: 'puts the packet in a traffic class',
  CONNSECMARK: 'handles the security mark',
  ECN: 'clears the ECN bits',
  IDLETIMER: 'restarts a timer',
  LED: 'blinks',
  LOG: 'writes a line to the kernel log',
  NFLOG: 'hands a copy to a log group',
  RATEEST: 'feeds a rate estimator',
  SECMARK: 'sets the security mark',
  SET: 'changes an ipset',
  TCPMSS: 'changes the largest segment',
  TCPOPTSTRIP: 'strips TCP options',
  TEE: 'sends a copy',
  TRACE: 'switches the trace on',
  ULOG: 'hands a copy to a log group',
}

export function applyTarget(
  target: TargetSpec | undefined,
  packet: LivePacket,
  facts: NodeFacts,
  place: { readonly hook: string; readonly family: 'ipv4' | 'ipv6' },
): TargetResult {
  if (!target) return { kind: 'continue', packet, effects: [] }
  const value = (name: string): string | undefined => optionOf(target, name)?.values[0]
  const has = (name: string): boolean => optionOf(target, name) !== undefined
  switch (target.name) {
    case 'ACCEPT':
      return { kind: 'accept' }
    case 'DROP':
      return { kind: 'drop' }
    case 'RETURN':
      return { kind: 'return' }
    case 'QUEUE':
      return { kind: 'queue' }
    case 'NFQUEUE':
      if (has('--queue-bypass')) facts.note('other', 'whether a program listens on the NFQUEUE queue')
      return { kind: 'queue' }
    case 'REJECT': {
      const usual = place.family === 'ipv6' ? 'icmp6-port-unreachable' : 'icmp-port-unreachable'
      return { kind: 'reject', answer: value('--reject-with') ?? usual }
    }
    case 'MARK':
      return setMark(target, packet)
    case 'CONNMARK':
      return setConnmark(target, packet)
    case 'DNAT':
      return translate(packet, 'destination', value('--to-destination'))
    case 'SNAT':
      return translate(packet, 'source', value('--to-source'), has('--random') || has('--random-fully'))
    case 'MASQUERADE': {
      const route = packet.out === undefined ? undefined : facts.route({ dst: packet.dst, mark: packet.mark })
      const via = route?.kind === 'forward' && route.via !== undefined ? parseAddress(route.via) : undefined
      const address = facts.addressOf(packet.out, via ?? packet.dst)
      const isDrawn = has('--random') || has('--random-fully')
      return natResult(packet, 'source', [address], value('--to-ports'), isDrawn)
    }
    case 'REDIRECT': {
      const here = packet.dst.bits === 32 ? '127.0.0.1' : '::1'
      const address =
        packet.in === undefined ? parseAddress(here) : facts.firstAddressOf(packet.in, packet.dst.bits)
      if (!address) return { kind: 'unknown', why: `REDIRECT needs the address of ${packet.in ?? 'lo'}` }
      return natResult(packet, 'destination', [address], value('--to-ports'), has('--random'))
    }
    case 'NETMAP':
      return netmap(packet, place.hook, value('--to'))
    case 'NOTRACK':
      return untracked(packet)
    case 'CT':
      if (has('--notrack')) return untracked(packet)
      return went(packet, 'gives conntrack settings for the connection')
    case 'TTL':
    case 'HL':
      return setHopLimit(target, packet)
    case 'TOS':
    case 'DSCP':
      return went({ ...packet, tos: undefined }, 'changes the TOS byte')
    default: {
      const harmless = ownValue(HARMLESS, target.name)
      if (harmless !== undefined) return went(packet, harmless)
      return { kind: 'unknown', why: `the target ${target.name} is not known to this walk` }
    }
  }
}

function went(packet: LivePacket, text: string): TargetResult {
  return { kind: 'continue', packet, effects: [{ kind: 'note', text }] }
}

function untracked(packet: LivePacket): TargetResult {
  // xt_CT leaves alone what conntrack has seen already: packets that come back over lo.
  if (packet.ctState !== undefined)
    return went(packet, 'changes nothing: conntrack has seen the packet already')
  return went({ ...packet, ctState: 'untracked' }, 'is not tracked: no connection state and no NAT')
}

/** `(mark & ~mask) ^ value`, as xt_MARK has it; undefined for an option of another kind. */
export function changedMark(mark: number, option: string, written: string): number | undefined {
  const given = parseMark(written)
  if (!given) return undefined
  const { value, mask } = given
  switch (option) {
    case '--set-xmark':
      return ((mark & ~mask) ^ value) >>> 0
    case '--set-mark':
      return ((mark & ~(mask | value)) | value) >>> 0
    case '--and-mark':
      return (mark & value) >>> 0
    case '--or-mark':
      return (mark | value) >>> 0
    case '--xor-mark':
      return (mark ^ value) >>> 0
    default:
      return undefined
  }
}

function setMark(target: TargetSpec, packet: LivePacket): TargetResult {
  const [option] = target.options
  const to = option && changedMark(packet.mark, option.name, option.values[0] ?? '')
  if (to === undefined) return { kind: 'unknown', why: 'what MARK sets cannot be read' }
  const effects: Effect[] = [{ kind: 'mark', from: packet.mark, to }]
  return { kind: 'continue', packet: { ...packet, mark: to }, effects }
}

function setConnmark(target: TargetSpec, packet: LivePacket): TargetResult {
  const maskOf = (name: string): number | undefined => {
    const written = optionOf(target, name)?.values[0] ?? optionOf(target, '--mask')?.values[0]
    return written === undefined ? 0xffffffff : parseMark(written)?.value
  }
  if (packet.ctState === undefined || packet.ctState === 'untracked' || packet.ctState === 'invalid')
    return went(packet, 'would handle the mark of a connection, but the packet belongs to none')
  const [nfmask, ctmask] = [maskOf('--nfmask'), maskOf('--ctmask')]
  if (nfmask === undefined || ctmask === undefined)
    return { kind: 'unknown', why: 'the masks of CONNMARK cannot be read' }
  if (optionOf(target, '--restore-mark')) {
    if (packet.connmark === undefined) return { kind: 'unknown', why: "the connection's mark is not known" }
    const to = ((packet.mark & ~nfmask) ^ (packet.connmark & ctmask)) >>> 0
    const effects: Effect[] = [{ kind: 'mark', from: packet.mark, to }]
    return { kind: 'continue', packet: { ...packet, mark: to }, effects }
  }
  const before = packet.connmark
  if (optionOf(target, '--save-mark')) {
    if (before === undefined && ctmask !== 0xffffffff)
      return went(packet, "saves the mark in the connection's mark, the rest of which is not known")
    const to = (((before ?? 0) & ~ctmask) ^ (packet.mark & nfmask)) >>> 0
    return {
      kind: 'continue',
      packet: { ...packet, connmark: to },
      effects: [{ kind: 'connmark', from: before ?? 0, to }],
    }
  }
  const [option] = target.options
  const to = option && changedMark(before ?? 0, option.name, option.values[0] ?? '')
  const isWhole = option?.name === '--set-xmark' && !option.values[0]?.includes('/')
  if (to === undefined) return { kind: 'unknown', why: 'what CONNMARK sets cannot be read' }
  if (before === undefined && !isWhole)
    return went(packet, "changes the connection's mark, which is not known")
  return {
    kind: 'continue',
    packet: { ...packet, connmark: to },
    effects: [{ kind: 'connmark', from: before ?? 0, to }],
  }
}

function setHopLimit(target: TargetSpec, packet: LivePacket): TargetResult {
  const [option] = target.options
  const by = Number(option?.values[0])
  const kind = /-(set|inc|dec)$/.exec(option?.name ?? '')?.[1]
  if (!kind || !Number.isInteger(by))
    return { kind: 'unknown', why: `what ${target.name} sets cannot be read` }
  const { ttl } = packet
  const moved =
    ttl === undefined ? undefined : Math.min(255, Math.max(0, kind === 'inc' ? ttl + by : ttl - by))
  const to = kind === 'set' ? by : moved
  const text =
    to === undefined
      ? `changes the ${target.name}`
      : `sets the ${target.name} from ${ttl ?? 'what it is'} to ${to}`
  return went({ ...packet, ttl: to }, text)
}

/** `10.244.1.7:80`, `10.0.0.1-10.0.0.9:80-90`, `[fd00::1]:80`, `:8080`. */
function translate(
  packet: LivePacket,
  side: 'source' | 'destination',
  written: string | undefined,
  isDrawn = false,
): TargetResult {
  const unknown: TargetResult = { kind: 'unknown', why: `the new ${side} ${written ?? ''} cannot be read` }
  if (written === undefined) return unknown
  const bracketed = /^\[([^\]]*)\](?:-\[([^\]]*)\])?(?::(.*))?$/.exec(written)
  const isBareV6 = !bracketed && written.split(':').length > 2
  const plain = isBareV6 ? [written, written] : /^([^:]*)(?::(.*))?$/.exec(written)
  const head = bracketed
    ? [bracketed[1], bracketed[2]].filter((end) => end !== undefined).join('-')
    : (plain?.[1] ?? '')
  const ports = bracketed ? bracketed[3] : isBareV6 ? undefined : plain?.[2]
  if (ports?.includes('/')) return unknown
  if (head === '') {
    const own = side === 'source' ? packet.src : packet.dst
    return natResult(packet, side, [own], ports, isDrawn)
  }
  const range = parseAddressRange(head)
  if (!range) return unknown
  const count = range[1].value - range[0].value + 1n
  if (count < 1n || count > MOST_ADDRESSES) return unknown
  const addresses = Array.from({ length: Number(count) }, (_, i) =>
    addressFromNumber(range[0].value + BigInt(i), range[0].bits),
  )
  return natResult(packet, side, addresses, ports, isDrawn)
}

const MOST_ADDRESSES = 256n

function natResult(
  packet: LivePacket,
  side: 'source' | 'destination',
  addresses: readonly (Address | undefined)[],
  ports: string | undefined,
  isDrawn: boolean,
): TargetResult {
  const own = side === 'source' ? packet.sport : packet.dport
  const [first, last = first] = (ports ?? '')
    .split('-')
    .map((text) => (text === '' ? undefined : Number(text)))
  // A port within the range stays; any other becomes one of them.
  const keeps = first === undefined || (own !== undefined && own >= first && own <= (last ?? first))
  const isRange = first !== last
  const isPortOpen = own !== undefined && (isDrawn ? first === undefined || isRange : !keeps && isRange)
  const port = isPortOpen ? undefined : keeps ? own : first
  const bindings = addresses.map((address) => ({ side, address, port, isPortOpen }))
  const from = endText(side === 'source' ? packet.src : packet.dst, own)
  const openPort = ports === undefined ? 'a port drawn at random' : `one of the ports ${ports}`
  const effects = bindings.map(
    ({ address }): Effect => ({
      kind: side,
      from,
      to: isPortOpen
        ? `${address?.text ?? 'the address of the outgoing interface'}, ${openPort}`
        : endText(address, port),
    }),
  )
  return { kind: 'nat', bindings, effects }
}

export function endText(address: Address | undefined, port: number | undefined): string {
  const text = address?.text ?? 'the address of the outgoing interface'
  if (port === undefined) return text
  return address?.bits === 128 ? `[${text}]:${port}` : `${text}:${port}`
}

function netmap(packet: LivePacket, hook: string, to: string | undefined): TargetResult {
  const net = to === undefined ? undefined : parseAddressMask(to)
  const side = hook === 'PREROUTING' || hook === 'OUTPUT' ? 'destination' : 'source'
  const own = side === 'source' ? packet.src : packet.dst
  if (!net || !own || net.bits !== own.bits)
    return { kind: 'unknown', why: 'the network of NETMAP cannot be read' }
  const all = (1n << BigInt(net.bits)) - 1n
  const address = addressFromNumber(net.value | (own.value & (all ^ net.mask)), own.bits)
  return natResult(packet, side, [address], undefined, false)
}

/** `mark 0x0 → 0x4000`, for lists of effects. */
export function effectText(effect: Effect): string {
  switch (effect.kind) {
    case 'mark':
      return `mark ${hexText(effect.from)} → ${hexText(effect.to)}`
    case 'connmark':
      return `connection's mark ${hexText(effect.from)} → ${hexText(effect.to)}`
    case 'source':
    case 'destination':
      return `${effect.kind} ${effect.from} → ${effect.to}`
    case 'note':
      return effect.text
    default:
      return effect satisfies never
  }
}
