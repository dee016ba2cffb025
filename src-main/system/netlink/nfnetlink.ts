/** struct nfgenmsg: family, version, resource id; the message type is subsystem and message in one. */

export const nfnetlinkHeaderLength = 4

export const nfnetlinkFamilies = {
  unspecified: 0,
  inet: 1,
  ip: 2,
  arp: 3,
  netdev: 5,
  bridge: 7,
  ip6: 10,
} as const
export type NfnetlinkFamily = keyof typeof nfnetlinkFamilies

export const subsystem = { conntrack: 1 << 8, log: 4 << 8, nfTables: 10 << 8 } as const

/** Multicast groups, for `NetlinkSocket.join`. */
export const nfnetlinkGroups = {
  conntrackNew: 1,
  conntrackUpdate: 2,
  conntrackDestroy: 3,
  nfTables: 7,
  trace: 9,
} as const
