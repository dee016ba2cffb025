/** Names as iptables-save writes them (its own first, then /etc/protocols) with their numbers. */
const NUMBERS: Readonly<Record<string, number>> = {
  all: 0,
  icmp: 1,
  igmp: 2,
  ipencap: 4,
  tcp: 6,
  egp: 8,
  igp: 9,
  udp: 17,
  dccp: 33,
  ipv6: 41,
  'ipv6-route': 43,
  'ipv6-frag': 44,
  rsvp: 46,
  gre: 47,
  esp: 50,
  ah: 51,
  'ipv6-icmp': 58,
  icmpv6: 58,
  'ipv6-nonxt': 59,
  'ipv6-opts': 60,
  eigrp: 88,
  ospf: 89,
  etherip: 97,
  encap: 98,
  pim: 103,
  ipcomp: 108,
  vrrp: 112,
  l2tp: 115,
  isis: 124,
  sctp: 132,
  fc: 133,
  'mobility-header': 135,
  mh: 135,
  udplite: 136,
  'mpls-in-ip': 137,
}

const NAMES = new Map(
  Object.entries(NUMBERS)
    .toReversed()
    .map(([name, number]) => [String(number), name]),
)

/** `6` for `tcp`; a number, or a name not known here, comes back as it is. */
export function protocolNumber(protocol: string): string {
  const number = NUMBERS[protocol.toLowerCase()]
  return number === undefined ? protocol : String(number)
}

/** `tcp` for `6`; a name, or a number without one, comes back as it is. */
export function protocolName(protocol: string): string {
  return NAMES.get(protocol) ?? protocol
}
