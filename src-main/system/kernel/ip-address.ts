import { isIPv4, isIPv6 } from 'node:net'

export interface IpAddress {
  readonly family: 4 | 6
  /** 4 or 16 bytes in network order. */
  readonly bytes: Uint8Array
}

export function parseIpAddress(text: string): IpAddress {
  if (isIPv4(text)) return { family: 4, bytes: Uint8Array.from(text.split('.'), Number) }
  if (isIPv6(text) && !text.includes('%')) return { family: 6, bytes: parseIpv6(text) }
  throw new Error(`not an IP address: ${text}`)
}

function parseIpv6(text: string): Uint8Array {
  const bytes = new Uint8Array(16)
  const [head = '', tail] = text.split('::')
  const first = words(head)
  const last = tail === undefined ? [] : words(tail)
  first.forEach((word, i) => {
    bytes[2 * i] = word >> 8
    bytes[2 * i + 1] = word & 255
  })
  last.forEach((word, i) => {
    const at = 16 - 2 * (last.length - i)
    bytes[at] = word >> 8
    bytes[at + 1] = word & 255
  })
  return bytes
}

function words(part: string): number[] {
  if (part === '') return []
  return part.split(':').flatMap((word) => {
    if (!word.includes('.')) return [Number.parseInt(word, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = word.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}

/** Text as inet_ntop writes it (RFC 5952): lower case, the longest run of two or more zero words as `::`. */
export function formatIpAddress(bytes: Uint8Array, start = 0, length = bytes.length - start): string {
  if (length === 4) return `${bytes[start]}.${bytes[start + 1]}.${bytes[start + 2]}.${bytes[start + 3]}`
  if (length !== 16) throw new Error(`an IP address has 4 or 16 bytes, not ${length}`)
  const words = Array.from(
    { length: 8 },
    (_, i) => ((bytes[start + 2 * i] ?? 0) << 8) | (bytes[start + 2 * i + 1] ?? 0),
  )
  let runAt = -1
  let runLength = 1
  for (let i = 0; i < 8; i++) {
    let end = i
    while (words[end] === 0) end++
    if (end - i > runLength) {
      runAt = i
      runLength = end - i
    }
    i = Math.max(i, end - 1)
  }
  // inet_ntop keeps the dotted form for IPv4-mapped addresses.
  if (runAt === 0 && runLength === 5 && words[5] === 0xffff) {
    return `::ffff:${formatIpAddress(bytes, start + 12, 4)}`
  }
  const hex = (part: number[]) => part.map((word) => word.toString(16)).join(':')
  if (runAt < 0) return hex(words)
  return `${hex(words.slice(0, runAt))}::${hex(words.slice(runAt + runLength))}`
}
