import ipaddr from 'ipaddr.js'
import type { IpFamily } from './objects.ts'

/** An address as a number, with its family. */
export interface Address {
  readonly family: IpFamily
  readonly value: bigint
}

/** Addresses from `first` to `last`, both included. */
export interface AddressRange {
  readonly family: IpFamily
  readonly first: bigint
  readonly last: bigint
}

/** Reads `10.96.0.1` or `fd00::1`, leading zeros as decimal like the API server; undefined for anything else. */
export function parseAddress(text: string): Address | undefined {
  const octets = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/.exec(text)
  if (octets) {
    const bytes = octets.slice(1).map(Number)
    return bytes.every((byte) => byte <= 255) ? { family: 'IPv4', value: bytesValue(bytes) } : undefined
  }
  if (!/^[0-9a-fA-F:.]+$/.test(text) || !text.includes(':') || !ipaddr.IPv6.isValid(text)) return undefined
  return { family: 'IPv6', value: bytesValue(ipaddr.IPv6.parse(text).toByteArray()) }
}

/** The address as Kubernetes writes it (RFC 5952 for IPv6). */
export function formatAddress({ family, value }: Address): string {
  if (family === 'IPv4') return bytesOf(value, 4).join('.')
  const address = ipaddr.fromByteArray(bytesOf(value, 16))
  return 'toRFC5952String' in address ? address.toRFC5952String() : address.toString()
}

/** All addresses of a CIDR, network and broadcast address included; host bits are masked. */
export function parseCidr(text: string): AddressRange | undefined {
  const [base = '', length = '', ...more] = text.split('/')
  const address = parseAddress(base)
  const bits = address?.family === 'IPv6' ? 128 : 32
  if (!address || more.length > 0 || !/^\d{1,3}$/.test(length) || Number(length) > bits) return undefined
  const size = 1n << BigInt(bits - Number(length))
  const first = address.value - (address.value % size)
  return { family: address.family, first, last: first + size - 1n }
}

/** Reads `first-last` or a CIDR (all of its addresses). */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [from = '', to, ...more] = text.split('-')
  if (to === undefined) return parseCidr(text)
  const first = parseAddress(from.trim())
  const last = parseAddress(to.trim())
  if (!first || !last || more.length > 0 || first.family !== last.family || first.value > last.value) {
    return undefined
  }
  return { family: first.family, first: first.value, last: last.value }
}

/** The addresses that a host may have: without network address and, for IPv4, broadcast address. */
export function usableRange(range: AddressRange): AddressRange {
  if (range.last - range.first < 2n) return range
  return {
    family: range.family,
    first: range.first + 1n,
    last: range.family === 'IPv4' ? range.last - 1n : range.last,
  }
}

export function isInRange(range: AddressRange, address: Address): boolean {
  return range.family === address.family && address.value >= range.first && address.value <= range.last
}

/** The address's text in the one spelling that Kubernetes uses, so that equal addresses compare equal. */
export function canonicalAddress(text: string): string {
  const address = parseAddress(text)
  return address ? formatAddress(address) : text
}

function bytesValue(bytes: readonly number[]): bigint {
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
}

function bytesOf(value: bigint, length: number): number[] {
  return Array.from({ length }, (_, index) => Number((value >> BigInt(8 * (length - 1 - index))) & 0xffn))
}
