/** What rtnetlink's messages have in common. Numbers of include/uapi/linux/rtnetlink.h. */

export const AF_UNSPEC = 0
export const AF_INET = 2
export const AF_BRIDGE = 7
export const AF_INET6 = 10

export const familyNumber = (family: 4 | 6): number => (family === 4 ? AF_INET : AF_INET6)

/** Undefined for what is neither IPv4 nor IPv6. */
export function ipFamily(family: number): 4 | 6 | undefined {
  if (family === AF_INET) return 4
  if (family === AF_INET6) return 6
  return undefined
}

export const routeScopes = { universe: 0, site: 200, link: 253, host: 254, nowhere: 255 } as const
export type RouteScope = keyof typeof routeScopes

const scopeNames = new Map<number, RouteScope>(
  Object.entries(routeScopes).map(([name, value]) => [value, name as RouteScope]),
)

export function scopeOf(value: number): RouteScope | number {
  return scopeNames.get(value) ?? value
}

export function parseMacAddress(text: string): Uint8Array {
  if (!/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(text)) throw new Error(`not a MAC address: ${text}`)
  return Uint8Array.from(text.split(':'), (byte) => Number.parseInt(byte, 16))
}

export function formatMacAddress(buffer: Buffer, start: number, end: number): string {
  const hex = buffer.toString('hex', start, end)
  return hex.replace(/..(?!$)/g, '$&:')
}
