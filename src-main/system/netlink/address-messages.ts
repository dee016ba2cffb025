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

// Numbers of include/uapi/linux: rtnetlink.h, if_addr.h.
const RTM_NEWADDR = 20
const RTM_DELADDR = 21
const RTM_GETADDR = 22
const IFA = { address: 1, local: 2, label: 3, broadcast: 4, flags: 8 } as const
const IFA_F_NODAD = 0x02
const IFA_F_NOPREFIXROUTE = 0x200

export interface LinkAddress {
  /** Index of the link. */
  readonly link: number
  readonly address: string
  readonly prefixLength: number
  readonly broadcast?: string
  /** False: no route to the prefix is made. */
  readonly hasPrefixRoute?: boolean
}

/** IPv6 addresses are usable at once (no duplicate address detection). */
export function addAddress(address: LinkAddress): NetlinkRequest {
  return {
    type: RTM_NEWADDR,
    flags: messageFlags.create | messageFlags.exclusive,
    body: writeAddress(address),
    what: `add address ${address.address}/${address.prefixLength} to link ${address.link}`,
  }
}

export function deleteAddress(address: LinkAddress): NetlinkRequest {
  return {
    type: RTM_DELADDR,
    flags: 0,
    body: writeAddress(address),
    what: `delete address ${address.address}/${address.prefixLength} from link ${address.link}`,
  }
}

function writeAddress(address: LinkAddress): Uint8Array {
  const { family, bytes } = parseIpAddress(address.address)
  return writeBody((w) => {
    // struct ifaddrmsg: family, prefix length, flags, scope, link index
    w.u8(familyNumber(family))
      .u8(address.prefixLength)
      .u8(0)
      .u8(isHostScope(family, bytes) ? routeScopes.host : routeScopes.universe)
    w.u32(address.link)
    w.attributeBytes(IFA.local, bytes).attributeBytes(IFA.address, bytes)
    if (address.broadcast !== undefined) {
      w.attributeBytes(IFA.broadcast, parseIpAddress(address.broadcast).bytes)
    }
    const flags =
      (family === 6 ? IFA_F_NODAD : 0) | (address.hasPrefixRoute === false ? IFA_F_NOPREFIXROUTE : 0)
    if (flags !== 0) w.attributeU32(IFA.flags, flags)
  })
}

function isHostScope(family: 4 | 6, bytes: Uint8Array): boolean {
  return family === 4 && bytes[0] === 127
}

export interface Address {
  readonly link: number
  readonly family: 4 | 6
  readonly address: string
  readonly prefixLength: number
  readonly broadcast: string | undefined
  readonly scope: RouteScope | number
}

export function getAddresses(socket: NetlinkSocket): Address[] {
  const body = writeBody((w) => w.zeros(8))
  return socket.dump({ type: RTM_GETADDR, flags: 0, body, what: 'list addresses' }, decodeAddress)
}

export function decodeAddress(
  buffer: Buffer,
  start: number,
  end: number,
  type = RTM_NEWADDR,
): Address | undefined {
  if (type !== RTM_NEWADDR && type !== RTM_DELADDR) return undefined
  const family = ipFamily(readU8(buffer, start, end))
  if (!family) return undefined
  let address = ''
  let local: string | undefined
  let broadcast: string | undefined
  walkAttributes(buffer, start + 8, end, (attribute, from, to) => {
    if (attribute === IFA.address) address = readIpAddress(buffer, from, to)
    else if (attribute === IFA.local) local = readIpAddress(buffer, from, to)
    else if (attribute === IFA.broadcast) broadcast = readIpAddress(buffer, from, to)
  })
  return {
    link: readU32(buffer, start + 4, end),
    family,
    // On point-to-point links IFA_ADDRESS is the other side.
    address: local ?? address,
    prefixLength: readU8(buffer, start + 1, end),
    broadcast,
    scope: scopeOf(readU8(buffer, start + 3, end)),
  }
}
