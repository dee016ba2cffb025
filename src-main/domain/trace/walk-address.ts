import { parseIp } from '../kube-proxy/ip-address.ts'

/** An IP address as a number, beside the text that people read. */
export interface Address {
  readonly bits: 32 | 128
  readonly value: bigint
  readonly text: string
}

/** What a rule's address may be: all addresses that agree with `value` where `mask` has ones. */
export interface AddressMask {
  readonly bits: 32 | 128
  readonly value: bigint
  readonly mask: bigint
}

/** Undefined for what is no address. */
export function parseAddress(text: string): Address | undefined {
  const ip = parseIp(text)
  if (!ip) return undefined
  const value = ip.groups.reduce((number, group) => (number << 16n) | BigInt(group), 0n)
  return { bits: ip.family === 'IPv4' ? 32 : 128, value, text: ip.text }
}

/** `10.0.0.0/8`, `10.0.0.0/255.0.0.0`, `fd00::/64` or a single address; undefined for anything else. */
export function parseAddressMask(written: string): AddressMask | undefined {
  const [head = '', length, ...rest] = written.split('/')
  const address = parseAddress(head)
  if (!address || rest.length > 0) return undefined
  const mask = length === undefined ? prefixMask(address.bits, address.bits) : parseMask(length, address.bits)
  if (mask === undefined) return undefined
  return { bits: address.bits, value: address.value & mask, mask }
}

function parseMask(written: string, bits: 32 | 128): bigint | undefined {
  if (!/^\d{1,3}$/.test(written)) {
    const mask = parseAddress(written)
    return mask?.bits === bits ? mask.value : undefined
  }
  const length = Number(written)
  return length <= bits ? prefixMask(length, bits) : undefined
}

function prefixMask(length: number, bits: 32 | 128): bigint {
  const all = (1n << BigInt(bits)) - 1n
  return all ^ (all >> BigInt(length))
}

export function isWithin(address: Address, { bits, value, mask }: AddressMask): boolean {
  return address.bits === bits && (address.value & mask) === value
}

/** `10.0.0.1-10.0.0.9` or one address, both ends included; undefined for anything else. */
export function parseAddressRange(written: string): readonly [Address, Address] | undefined {
  const [first = '', last = first, ...rest] = written.split('-')
  const from = parseAddress(first)
  const to = parseAddress(last)
  return from && to && from.bits === to.bits && rest.length === 0 ? [from, to] : undefined
}

/** The last address of a prefix, which IPv4 keeps for broadcasts. */
export function isBroadcastOf(address: Address, { bits, value, mask }: AddressMask): boolean {
  const all = (1n << BigInt(bits)) - 1n
  const hostBits = all ^ mask
  return bits === 32 && hostBits > 1n && address.bits === bits && address.value === (value | hostBits)
}

export function addressFromNumber(value: bigint, bits: 32 | 128): Address {
  const size = bits / 16
  const groups = Array.from({ length: size }, (_, i) =>
    Number((value >> BigInt(16 * (size - 1 - i))) & 0xffffn),
  )
  if (bits === 128) {
    const plain = groups.map((group) => group.toString(16)).join(':')
    return parseAddress(plain) ?? { bits, value, text: plain }
  }
  const [high = 0, low = 0] = groups
  return { bits, value, text: `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}` }
}

const LOOPBACK = { 32: parseAddressMask('127.0.0.0/8'), 128: parseAddressMask('::1') }
const MULTICAST = { 32: parseAddressMask('224.0.0.0/4'), 128: parseAddressMask('ff00::/8') }

export function isLoopback(address: Address): boolean {
  const loopback = LOOPBACK[address.bits]
  return loopback !== undefined && isWithin(address, loopback)
}

export function isMulticast(address: Address): boolean {
  const multicast = MULTICAST[address.bits]
  return multicast !== undefined && isWithin(address, multicast)
}
