/** A packet that an NFLOG rule reported. */
export interface LoggedPacket {
  /** As the rule has it. */
  readonly prefix: string
  /** Link names; empty where the hook has none. */
  readonly in: string
  readonly out: string
  /** The ports of the bridge that the packet came in and goes out by. */
  readonly physIn: string
  readonly physOut: string
  readonly mark: number
  /** Of the link layer: addresses and type. Empty for packets that the host sends itself. */
  readonly linkHeader: Uint8Array
  /** From the IPv4 header on. */
  readonly packet: Uint8Array
}

/**
 * The line that the LOG target writes to a machine's kernel log for an IPv4 packet, after the time (nf_log_syslog.c,
 * none of LOG's options given; a blank behind the prefix where the rule has none): `new: IN=eth0 OUT= MAC=… SRC=172.18.0.254 DST=172.18.0.3 LEN=60 … PROTO=TCP SPT=… SYN URGP=0`.
 */
export function formatLogLine(logged: LoggedPacket): string {
  const { prefix, physIn, physOut, linkHeader, packet, mark } = logged
  return [
    `${prefix}${/\S$/.test(prefix) ? ' ' : ''}IN=${logged.in}`,
    `OUT=${logged.out}`,
    ...(physIn === '' ? [] : [`PHYSIN=${physIn}`]),
    ...(physOut === '' ? [] : [`PHYSOUT=${physOut}`]),
    ...(logged.in === '' ? [] : [`MAC=${[...linkHeader].map((byte) => hex(byte, 2)).join(':')}`]),
    ...formatPacket(new DataView(packet.buffer, packet.byteOffset, packet.byteLength)),
    ...(mark === 0 ? [] : [`MARK=0x${mark.toString(16)}`]),
  ].join(' ')
}

const TCP = 6
const UDP = 17
const ICMP = 1
const SHORTEST_HEADER_BYTES = 20
/** By what is to be read of the header behind IP's. */
const TRANSPORT_BYTES: Readonly<Record<number, number>> = { [TCP]: 20, [UDP]: 8, [ICMP]: 4 }

function formatPacket(view: DataView): string[] {
  if (view.byteLength < SHORTEST_HEADER_BYTES) return ['TRUNCATED']
  const service = view.getUint8(1)
  const fragment = view.getUint16(6)
  const protocol = view.getUint8(9)
  const offset = fragment & 0x1fff
  const words = [
    `SRC=${addressAt(view, 12)}`,
    `DST=${addressAt(view, 16)}`,
    `LEN=${view.getUint16(2)}`,
    `TOS=0x${hex(service & 0x1e, 2).toUpperCase()}`,
    `PREC=0x${hex(service & 0xe0, 2).toUpperCase()}`,
    `TTL=${view.getUint8(8)}`,
    `ID=${view.getUint16(4)}`,
    ...(fragment & 0x8000 ? ['CE'] : []),
    ...(fragment & 0x4000 ? ['DF'] : []),
    ...(fragment & 0x2000 ? ['MF'] : []),
    ...(offset ? [`FRAG:${offset}`] : []),
    `PROTO=${{ [TCP]: 'TCP', [UDP]: 'UDP', [ICMP]: 'ICMP' }[protocol] ?? protocol}`,
  ]
  if (offset || !(protocol in TRANSPORT_BYTES)) return words
  const start = (view.getUint8(0) & 15) * 4
  const rest = view.byteLength - start
  if (rest < (TRANSPORT_BYTES[protocol] ?? 0)) return [...words, `INCOMPLETE [${Math.max(rest, 0)} bytes]`]
  const transport = new DataView(view.buffer, view.byteOffset + start, rest)
  switch (protocol) {
    case TCP:
      return [...words, ...formatTcp(transport)]
    case UDP:
      return [...words, ...formatPorts(transport), `LEN=${transport.getUint16(4)}`]
    default:
      return [...words, ...formatIcmp(transport)]
  }
}

const formatPorts = (view: DataView): string[] => [`SPT=${view.getUint16(0)}`, `DPT=${view.getUint16(2)}`]

/** In the kernel's order, from the highest bit down. */
const TCP_FLAGS = ['CWR', 'ECE', 'URG', 'ACK', 'PSH', 'RST', 'SYN', 'FIN'] as const

function formatTcp(view: DataView): string[] {
  const flags = view.getUint8(13)
  return [
    ...formatPorts(view),
    `WINDOW=${view.getUint16(14)}`,
    `RES=0x${hex((view.getUint8(12) & 0x0f) << 2, 2)}`,
    ...TCP_FLAGS.filter((_, i) => flags & (0x80 >> i)),
    `URGP=${view.getUint16(18)}`,
  ]
}

const icmpTypes = {
  echoReply: 0,
  unreachable: 3,
  sourceQuench: 4,
  redirect: 5,
  echo: 8,
  timeExceeded: 11,
  parameterProblem: 12,
} as const
const ICMP_FRAGMENTATION_NEEDED = 4

function formatIcmp(view: DataView): string[] {
  const type = view.getUint8(0)
  const code = view.getUint8(1)
  const words = [`TYPE=${type}`, `CODE=${code}`]
  if (view.byteLength < 8) return words
  /** The packet that the message is about. */
  const about = () => {
    const inner = formatPacket(new DataView(view.buffer, view.byteOffset + 8, view.byteLength - 8))
    return [`[${inner.join(' ')}`, ']']
  }
  switch (type) {
    case icmpTypes.echo:
    case icmpTypes.echoReply:
      return [...words, `ID=${view.getUint16(4)}`, `SEQ=${view.getUint16(6)}`]
    case icmpTypes.parameterProblem:
      return [...words, `PARAMETER=${view.getUint8(4)}`]
    case icmpTypes.redirect:
      return [...words, `GATEWAY=${addressAt(view, 4)}`, ...about()]
    case icmpTypes.unreachable:
      return [
        ...words,
        ...about(),
        ...(code === ICMP_FRAGMENTATION_NEEDED ? [`MTU=${view.getUint16(6)}`] : []),
      ]
    case icmpTypes.sourceQuench:
    case icmpTypes.timeExceeded:
      return [...words, ...about()]
    default:
      return words
  }
}

function addressAt(view: DataView, at: number): string {
  return [0, 1, 2, 3].map((i) => view.getUint8(at + i)).join('.')
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}
