import { parseIpAddress } from '../kernel/ip-address.ts'
import {
  messageFlags,
  type NetlinkRequest,
  readIpAddress,
  readU8,
  readU32,
  walkAttributes,
  writeBody,
} from './codec.ts'
import { familyNumber, ipFamily, type RouteScope, routeScopes, scopeOf } from './rtnetlink.ts'
import type { NetlinkSocket } from './socket.ts'

// Numbers of include/uapi/linux/rtnetlink.h.
const RTM_NEWROUTE = 24
const RTM_DELROUTE = 25
const RTM_GETROUTE = 26
const RTA = { dst: 1, oif: 4, gateway: 5, priority: 6, preferredSource: 7, table: 15 } as const
const RTNH_F_ONLINK = 4
const RTPROT_BOOT = 3
const RTM_F_CLONED = 0x200

export const routeTypes = {
  unicast: 1,
  local: 2,
  broadcast: 3,
  anycast: 4,
  multicast: 5,
  blackhole: 6,
  unreachable: 7,
  prohibit: 8,
} as const
export type RouteType = keyof typeof routeTypes
export const routeTables = { default: 253, main: 254, local: 255 } as const

const typeNames = new Map<number, RouteType>(
  Object.entries(routeTypes).map(([name, value]) => [value, name as RouteType]),
)

export interface RouteOptions {
  /** `10.244.1.0/24`; `0.0.0.0/0` or `::/0` for the default route. */
  readonly destination: string
  readonly gateway?: string
  /** Index of the link that it leads out of. */
  readonly link?: number
  /** The gateway is on the link although no prefix says so. */
  readonly isOnLink?: boolean
  /** Absent: link without a gateway, universe with one, as `ip route` does. */
  readonly scope?: RouteScope
  readonly source?: string
  readonly table?: number
  readonly type?: RouteType
  readonly metric?: number
}

export function addRoute(route: RouteOptions): NetlinkRequest {
  return routeRequest('add', RTM_NEWROUTE, messageFlags.create | messageFlags.exclusive, route)
}

export function replaceRoute(route: RouteOptions): NetlinkRequest {
  return routeRequest('replace', RTM_NEWROUTE, messageFlags.create | messageFlags.replace, route)
}

export function deleteRoute(route: RouteOptions): NetlinkRequest {
  return routeRequest('delete', RTM_DELROUTE, 0, route)
}

function routeRequest(verb: string, type: number, flags: number, route: RouteOptions): NetlinkRequest {
  const [network = '', length = ''] = route.destination.split('/')
  const { family, bytes } = parseIpAddress(network)
  const prefixLength = length === '' ? bytes.length * 8 : Number(length)
  const table = route.table ?? routeTables.main
  const routeType = route.type ?? 'unicast'
  const isLinkRoute = route.gateway === undefined && routeType === 'unicast' && family === 4
  // A deletion without a scope matches routes of any.
  const scope =
    route.scope ??
    (type === RTM_DELROUTE ? 'nowhere' : isLinkRoute ? 'link' : routeType === 'local' ? 'host' : 'universe')
  const body = writeBody((w) => {
    // struct rtmsg: family, destination and source length, tos, table, protocol, scope, type, flags
    w.u8(familyNumber(family)).u8(prefixLength).u8(0).u8(0)
    w.u8(table < 256 ? table : 0).u8(type === RTM_DELROUTE ? 0 : RTPROT_BOOT)
    w.u8(routeScopes[scope]).u8(type === RTM_DELROUTE && route.type === undefined ? 0 : routeTypes[routeType])
    w.u32(route.isOnLink ? RTNH_F_ONLINK : 0)
    if (prefixLength > 0) w.attributeBytes(RTA.dst, bytes)
    if (route.gateway !== undefined) w.attributeBytes(RTA.gateway, parseIpAddress(route.gateway).bytes)
    if (route.link !== undefined) w.attributeU32(RTA.oif, route.link)
    if (route.source !== undefined) w.attributeBytes(RTA.preferredSource, parseIpAddress(route.source).bytes)
    if (route.metric !== undefined) w.attributeU32(RTA.priority, route.metric)
    if (table > 255) w.attributeU32(RTA.table, table)
  })
  const via = route.gateway === undefined ? '' : ` via ${route.gateway}`
  const out = route.link === undefined ? '' : ` on link ${route.link}`
  return { type, flags, body, what: `${verb} route ${route.destination}${via}${out}` }
}

export interface Route {
  readonly family: 4 | 6
  /** With its length: `0.0.0.0/0` is the default route. */
  readonly destination: string
  readonly gateway: string | undefined
  readonly link: number | undefined
  readonly source: string | undefined
  readonly metric: number | undefined
  readonly table: number
  readonly type: RouteType | number
  readonly scope: RouteScope | number
  /** Who made it: 2 kernel, 3 boot, 4 static. */
  readonly protocol: number
  readonly isOnLink: boolean
}

/** The routes of one table of the socket's namespace, both families; all tables with `table` 0. */
export function getRoutes(socket: NetlinkSocket, { table = routeTables.main as number } = {}): Route[] {
  const body = writeBody((w) => w.zeros(12))
  const request: NetlinkRequest = { type: RTM_GETROUTE, flags: 0, body, what: 'list routes' }
  return socket.dump(request, decodeRoute).filter((route) => table === 0 || route.table === table)
}

export function decodeRoute(
  buffer: Buffer,
  start: number,
  end: number,
  type = RTM_NEWROUTE,
): Route | undefined {
  if (type !== RTM_NEWROUTE && type !== RTM_DELROUTE) return undefined
  const family = ipFamily(readU8(buffer, start, end))
  const flags = readU32(buffer, start + 8, end)
  if (!family || flags & RTM_F_CLONED) return undefined
  const prefixLength = readU8(buffer, start + 1, end)
  let network = family === 4 ? '0.0.0.0' : '::'
  let gateway: string | undefined
  let link: number | undefined
  let source: string | undefined
  let metric: number | undefined
  let table = readU8(buffer, start + 4, end)
  walkAttributes(buffer, start + 12, end, (attribute, from, to) => {
    switch (attribute) {
      case RTA.dst:
        network = readIpAddress(buffer, from, to)
        break
      case RTA.gateway:
        gateway = readIpAddress(buffer, from, to)
        break
      case RTA.oif:
        link = readU32(buffer, from, to)
        break
      case RTA.preferredSource:
        source = readIpAddress(buffer, from, to)
        break
      case RTA.priority:
        metric = readU32(buffer, from, to)
        break
      case RTA.table:
        table = readU32(buffer, from, to)
        break
    }
  })
  const routeType = readU8(buffer, start + 7, end)
  return {
    family,
    destination: `${network}/${prefixLength}`,
    gateway,
    link,
    source,
    metric,
    table,
    type: typeNames.get(routeType) ?? routeType,
    scope: scopeOf(readU8(buffer, start + 6, end)),
    protocol: readU8(buffer, start + 5, end),
    isOnLink: (flags & RTNH_F_ONLINK) !== 0,
  }
}
