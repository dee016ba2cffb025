import ipaddr from 'ipaddr.js'
import type { IpFamily } from './objects.ts'

/** What the API server says of a text that is no address or no CIDR. */
export const CIDR_DETAIL = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'
export const IP_DETAIL = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'

/**
 * The family of an IP address as Go's sloppy parser reads it: leading zeros are decimal, IPv4-mapped IPv6
 * counts as IPv4, zones are refused. Undefined when the text is no address.
 */
export function ipFamilyOf(text: string): IpFamily | undefined {
  return parseIp(text)?.family
}

/** The family of `address/prefix`, bits behind the prefix allowed. Undefined when the text is no CIDR. */
export function cidrFamilyOf(text: string): IpFamily | undefined {
  const [address = '', prefix = '', ...rest] = text.split('/')
  const family = address.includes(':') ? (parseIp(address) ? 'IPv6' : undefined) : ipFamilyOf(address)
  if (!family || rest.length > 0 || !/^\d{1,3}$/.test(prefix)) return undefined
  return Number(prefix) <= (family === 'IPv4' ? 32 : 128) ? family : undefined
}

/** What makes a valid address unfit as an endpoint or external IP, in the API server's words. */
export function specialIpProblems(text: string): string[] {
  const parsed = parseIp(text)
  if (!parsed) return ['must be a valid IP address']
  const { family, bytes } = parsed
  const [first = 0, second = 0, third = 0] = bytes
  const problems: string[] = []
  const isZeroBeforeLast = bytes.slice(0, -1).every((byte) => byte === 0)
  const last = bytes.at(-1)
  if (isZeroBeforeLast && last === 0) problems.push(`may not be unspecified (${text})`)
  if (family === 'IPv4' ? first === 127 : isZeroBeforeLast && last === 1) {
    problems.push('may not be in the loopback range (127.0.0.0/8, ::1/128)')
  }
  if (family === 'IPv4' ? first === 169 && second === 254 : first === 0xfe && (second & 0xc0) === 0x80) {
    problems.push('may not be in the link-local range (169.254.0.0/16, fe80::/10)')
  }
  if (
    family === 'IPv4' ? first === 224 && second === 0 && third === 0 : first === 0xff && (second & 0x0f) === 2
  ) {
    problems.push('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)')
  }
  return problems
}

function parseIp(text: string): { family: IpFamily; bytes: readonly number[] } | undefined {
  const octets = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/.exec(text)
  if (octets) {
    const bytes = octets.slice(1).map(Number)
    return bytes.every((byte) => byte <= 255) ? { family: 'IPv4', bytes } : undefined
  }
  if (!/^[0-9a-fA-F:.]+$/.test(text) || !ipaddr.IPv6.isValid(text)) return undefined
  const address = ipaddr.IPv6.parse(text)
  if (address.isIPv4MappedAddress()) return { family: 'IPv4', bytes: address.toIPv4Address().toByteArray() }
  return { family: 'IPv6', bytes: address.toByteArray() }
}
