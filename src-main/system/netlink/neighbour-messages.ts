import { parseIpAddress } from '../kernel/ip-address.ts'
import {
  messageFlags,
  type NetlinkRequest,
  readIpAddress,
  readU8,
  readU16,
  readU32,
  walkAttributes,
  writeBody,
} from './codec.ts'
import { familyNumber, formatMacAddress, ipFamily, parseMacAddress } from './rtnetlink.ts'
import type { NetlinkSocket } from './socket.ts'

// Numbers of include/uapi/linux: rtnetlink.h, neighbour.h.
const RTM_NEWNEIGH = 28
const RTM_DELNEIGH = 29
const RTM_GETNEIGH = 30
const NDA_DST = 1
const NDA_LLADDR = 2
const NUD_PERMANENT = 0x80

export interface NeighbourOptions {
  readonly link: number
  readonly address: string
  readonly macAddress: string
}

/** A permanent entry: no ARP for this address. An entry that exists is replaced. */
export function setNeighbour(neighbour: NeighbourOptions): NetlinkRequest {
  return {
    type: RTM_NEWNEIGH,
    flags: messageFlags.create | messageFlags.replace,
    body: writeNeighbour(neighbour.link, neighbour.address, neighbour.macAddress),
    what: `set neighbour ${neighbour.address} on link ${neighbour.link}`,
  }
}

export function deleteNeighbour(link: number, address: string): NetlinkRequest {
  return {
    type: RTM_DELNEIGH,
    flags: 0,
    body: writeNeighbour(link, address, undefined),
    what: `delete neighbour ${address} on link ${link}`,
  }
}

function writeNeighbour(link: number, address: string, macAddress: string | undefined): Uint8Array {
  const { family, bytes } = parseIpAddress(address)
  return writeBody((w) => {
    // struct ndmsg: family, padding, link index, state, flags, type
    w.u8(familyNumber(family)).zeros(3).u32(link)
    w.u16(macAddress === undefined ? 0 : NUD_PERMANENT)
      .u8(0)
      .u8(0)
    w.attributeBytes(NDA_DST, bytes)
    if (macAddress !== undefined) w.attributeBytes(NDA_LLADDR, parseMacAddress(macAddress))
  })
}

export interface Neighbour {
  readonly link: number
  readonly address: string
  readonly macAddress: string | undefined
  /** NUD_* bits: 0x02 reachable, 0x04 stale, 0x20 failed, 0x80 permanent. */
  readonly state: number
}

export function getNeighbours(socket: NetlinkSocket): Neighbour[] {
  const body = writeBody((w) => w.zeros(12))
  return socket.dump({ type: RTM_GETNEIGH, flags: 0, body, what: 'list neighbours' }, decodeNeighbour)
}

export function decodeNeighbour(
  buffer: Buffer,
  start: number,
  end: number,
  type = RTM_NEWNEIGH,
): Neighbour | undefined {
  if (type !== RTM_NEWNEIGH && type !== RTM_DELNEIGH) return undefined
  if (!ipFamily(readU8(buffer, start, end))) return undefined
  let address = ''
  let macAddress: string | undefined
  walkAttributes(buffer, start + 12, end, (attribute, from, to) => {
    if (attribute === NDA_DST) address = readIpAddress(buffer, from, to)
    else if (attribute === NDA_LLADDR && to > from) macAddress = formatMacAddress(buffer, from, to)
  })
  return {
    link: readU32(buffer, start + 4, end),
    address,
    macAddress,
    state: readU16(buffer, start + 8, end),
  }
}
