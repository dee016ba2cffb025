import type { IpFamily } from '../kubernetes/objects.ts'

/** An address as Go's net.IP prints it, beside its bits. */
export interface IpAddress {
  readonly family: IpFamily
  readonly text: string
  /** 2 numbers of 16 bits (IPv4) or 8 (IPv6). */
  readonly groups: readonly number[]
}

/** `text` is the masked address with its length, e.g. `10.244.0.0/16`. */
export interface Cidr {
  readonly family: IpFamily
  readonly text: string
  readonly groups: readonly number[]
  readonly prefix: number
}

/**
 * As Kubernetes reads addresses: leading zeros of IPv4 numbers are decimal, an IPv4-mapped IPv6 address is IPv4.
 * Undefined when it is no address.
 */
export function parseIp(text: string): IpAddress | undefined {
  const groups = text.includes(':') ? parseIpv6(text) : parseIpv4(text)
  return groups && formatted(groups)
}

/**
 * The address as rules spell it; undefined when it is none of this family. Quicker than parseIp for the usual IPv4
 * text, which stands as it is.
 */
export function normalizeIp(text: string, family: IpFamily): string | undefined {
  if (family === 'IPv4' && isPlainIpv4(text)) return text
  const ip = parseIp(text)
  return ip?.family === family ? ip.text : undefined
}

/** Undefined when it is no CIDR; host bits are dropped. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/')
  if (slash < 0) return undefined
  const address = text.slice(0, slash)
  const digits = text.slice(slash + 1)
  const groups = address.includes(':') ? parseIpv6(address) : parseIpv4(address)
  if (!groups || !/^\d{1,3}$/.test(digits)) return undefined
  const prefix = Number(digits)
  if (prefix > groups.length * 16) return undefined
  const masked = groups.map((group, i) => group & groupMask(prefix, i))
  return {
    family: groups.length === 2 ? 'IPv4' : 'IPv6',
    text: `${formatGroups(masked)}/${prefix}`,
    groups: masked,
    prefix,
  }
}

export function contains(cidr: Cidr, ip: IpAddress): boolean {
  return (
    cidr.family === ip.family &&
    cidr.groups.every((group, i) => group === ((ip.groups[i] as number) & groupMask(cidr.prefix, i)))
  )
}

export function isLoopback(ip: { readonly family: IpFamily; readonly groups: readonly number[] }): boolean {
  return ip.family === 'IPv4'
    ? (ip.groups[0] as number) >> 8 === 127
    : ip.groups.every((group, i) => group === (i === 7 ? 1 : 0))
}

/** `ip:port`, with brackets around an IPv6 address. */
export function joinHostPort(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`
}

function groupMask(prefix: number, group: number): number {
  const bits = Math.min(16, Math.max(0, prefix - group * 16))
  return (0xffff << (16 - bits)) & 0xffff
}

function formatted(groups: readonly number[]): IpAddress {
  const mapped =
    groups.length === 8 && groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  const own = mapped ? groups.slice(6) : groups
  return { family: own.length === 2 ? 'IPv4' : 'IPv6', text: formatGroups(own), groups: own }
}

/** Four numbers up to 255 without leading zeros. */
function isPlainIpv4(text: string): boolean {
  let value = -1
  let dots = 0
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48
    if (digit >= 0 && digit <= 9) {
      if (value === 0) return false
      value = value < 0 ? digit : value * 10 + digit
      if (value > 255) return false
    } else {
      if (digit !== -2 || value < 0) return false
      dots++
      value = -1
    }
  }
  return dots === 3 && value >= 0
}

/** Two 16-bit groups. */
function parseIpv4(text: string): [number, number] | undefined {
  const numbers = text.split('.')
  if (numbers.length !== 4) return undefined
  let value = 0
  for (const number of numbers) {
    if (!/^\d+$/.test(number) || Number(number) > 255) return undefined
    value = value * 256 + Number(number)
  }
  return [Math.floor(value / 65536), value % 65536]
}

/** Eight 16-bit groups. */
function parseIpv6(text: string): number[] | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = parseGroups(halves[0] as string)
  const tail = halves.length === 2 ? parseGroups(halves[1] as string) : []
  if (!head || !tail) return undefined
  const missing = 8 - head.length - tail.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined
  return [...head, ...Array<number>(missing).fill(0), ...tail]
}

function parseGroups(text: string): number[] | undefined {
  if (text === '') return []
  const groups: number[] = []
  const parts = text.split(':')
  for (const [i, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16))
    else {
      const ipv4 = i === parts.length - 1 ? parseIpv4(part) : undefined
      if (!ipv4) return undefined
      groups.push(...ipv4)
    }
  }
  return groups
}

/** IPv6 with the leftmost longest run of two or more zero groups left out. */
function formatGroups(groups: readonly number[]): string {
  if (groups.length === 2) {
    const [high, low] = groups as [number, number]
    return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
  }
  let start = -1
  let length = 1
  for (let i = 0; i < 8; i++) {
    let end = i
    while (end < 8 && groups[end] === 0) end++
    if (end - i > length) {
      start = i
      length = end - i
    }
  }
  const hex = groups.map((group) => group.toString(16))
  return start < 0
    ? hex.join(':')
    : `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`
}
