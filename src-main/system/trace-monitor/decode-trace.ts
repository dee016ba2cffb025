import type {
  PacketHeader,
  TracedConnection,
  TracedPacket,
  TraceEvent,
  TraceVerdict,
} from '../../domain/trace/trace-event.ts'
import { formatIpAddress } from '../kernel/ip-address.ts'
import {
  NetlinkDecodeError,
  readS32,
  readString,
  readU8,
  readU16be,
  readU32be,
  walkAttributes,
} from '../netlink/codec.ts'
import { nfnetlinkHeaderLength, subsystem } from '../netlink/nfnetlink.ts'

// Numbers of include/uapi/linux/netfilter/nf_tables.h.
/** Type of a trace event's message: NFT_MSG_TRACE. */
export const TRACE_MESSAGE = subsystem.nfTables | 17
const NFTA_TRACE = {
  table: 1,
  chain: 2,
  ruleHandle: 3,
  type: 4,
  verdict: 5,
  id: 6,
  networkHeader: 8,
  transportHeader: 9,
  inLink: 10,
  outLink: 12,
  mark: 14,
  policy: 16,
  connectionId: 18,
  connectionDirection: 19,
  connectionState: 21,
} as const
const NFTA_VERDICT_CODE = 1
const NFTA_VERDICT_CHAIN = 2
const types = new Map([
  [1, 'policy'],
  [2, 'return'],
  [3, 'rule'],
] as const)
const verdicts = new Map<number, TraceVerdict>([
  [0, 'DROP'],
  [1, 'ACCEPT'],
  [2, 'STOLEN'],
  [3, 'QUEUE'],
  [-1, 'CONTINUE'],
  [-2, 'BREAK'],
  [-5, 'RETURN'],
])
const NFT_JUMP = -3
const NFT_GOTO = -4

/** NF_CT_STATE_BIT of each state. */
const states = new Map<number, TracedConnection['state']>([
  [1, 'invalid'],
  [2, 'established'],
  [4, 'related'],
  [8, 'new'],
  [64, 'untracked'],
])

/** A message of the group `trace`; undefined for any other. */
export function decodeTraceEvent(
  buffer: Buffer,
  start: number,
  end: number,
  messageType: number,
): TraceEvent | undefined {
  if (messageType !== TRACE_MESSAGE) return undefined
  const family = readU8(buffer, start, end)
  let table = ''
  let chain = ''
  let handle = 0
  let traceId = 0
  let type: TraceEvent['type'] | undefined
  let verdict: TraceVerdict | undefined
  let policy: TraceVerdict | undefined
  let header: PacketHeader | undefined
  let transport: { readonly start: number; readonly end: number } | undefined
  let network: { readonly start: number; readonly end: number } | undefined
  const packet = { inLink: 0, outLink: 0, mark: 0 }
  const connection = { id: 0, direction: 0, state: 0 }
  let hasConnection = false
  walkAttributes(buffer, start + nfnetlinkHeaderLength, end, (attribute, from, to) => {
    switch (attribute) {
      case NFTA_TRACE.table:
        table = readString(buffer, from, to)
        break
      case NFTA_TRACE.chain:
        chain = readString(buffer, from, to)
        break
      case NFTA_TRACE.ruleHandle:
        handle = readU32be(buffer, from, to) * 2 ** 32 + readU32be(buffer, from + 4, to)
        break
      case NFTA_TRACE.type:
        type = types.get(readU32be(buffer, from, to) as 1 | 2 | 3)
        break
      case NFTA_TRACE.verdict:
        verdict = decodeVerdict(buffer, from, to)
        break
      case NFTA_TRACE.policy:
        policy = verdicts.get(readU32be(buffer, from, to))
        break
      case NFTA_TRACE.id:
        traceId = readU32be(buffer, from, to)
        break
      case NFTA_TRACE.networkHeader:
        network = { start: from, end: to }
        break
      case NFTA_TRACE.transportHeader:
        transport = { start: from, end: to }
        break
      case NFTA_TRACE.inLink:
        packet.inLink = readU32be(buffer, from, to)
        break
      case NFTA_TRACE.outLink:
        packet.outLink = readU32be(buffer, from, to)
        break
      case NFTA_TRACE.mark:
        packet.mark = readU32be(buffer, from, to)
        break
      case NFTA_TRACE.connectionId:
        connection.id = readU32be(buffer, from, to)
        hasConnection = true
        break
      case NFTA_TRACE.connectionDirection:
        connection.direction = readU8(buffer, from, to)
        break
      case NFTA_TRACE.connectionState:
        connection.state = readU32be(buffer, from, to)
        hasConnection = true
        break
    }
  })
  // Some kernels say `rule` of a chain's end, too, others `return` of a rule that says RETURN; only a rule has a handle.
  if (type === 'rule' || type === 'return') type = handle === 0 ? 'return' : 'rule'
  if (type === undefined || table === '' || chain === '')
    throw new NetlinkDecodeError('a trace event names no table, chain or type')
  if (network) header = decodeHeader(buffer, network, transport)
  const shown: TracedPacket | undefined = header && {
    ...packet,
    header,
    ...(hasConnection
      ? {
          connection: {
            id: connection.id,
            direction: connection.direction === 0 ? 'original' : 'reply',
            state: states.get(connection.state) ?? 'untracked',
          },
        }
      : {}),
  }
  return {
    traceId,
    family,
    table,
    chain,
    type,
    handle,
    verdict: (type === 'policy' ? policy : verdict) ?? 'CONTINUE',
    ...(shown ? { packet: shown } : {}),
  }
}

function decodeVerdict(buffer: Buffer, start: number, end: number): TraceVerdict {
  let code = 0
  let chain = ''
  walkAttributes(buffer, start, end, (attribute, from, to) => {
    // Network order, but signed.
    if (attribute === NFTA_VERDICT_CODE)
      code = readS32(Buffer.from(buffer.subarray(from, to)).swap32(), 0, to - from)
    else if (attribute === NFTA_VERDICT_CHAIN) chain = readString(buffer, from, to)
  })
  if (code === NFT_JUMP) return { jump: chain }
  if (code === NFT_GOTO) return { goto: chain }
  // A queue's number stands in the upper half.
  return verdicts.get(code) ?? ((code & 0xffff) === 3 ? 'QUEUE' : 'CONTINUE')
}

interface Place {
  readonly start: number
  readonly end: number
}

function decodeHeader(
  buffer: Buffer,
  network: Place,
  transport: Place | undefined,
): PacketHeader | undefined {
  const { start, end } = network
  const version = readU8(buffer, start, end) >> 4
  if (version === 4 && end - start >= 20) {
    return {
      source: formatIpAddress(buffer, start + 12, 4),
      destination: formatIpAddress(buffer, start + 16, 4),
      ipId: readU16be(buffer, start + 4, end),
      ttl: readU8(buffer, start + 8, end),
      length: readU16be(buffer, start + 2, end),
      ...decodeTransport(
        buffer,
        readU8(buffer, start + 9, end),
        readU16be(buffer, start + 2, end) - 4 * (readU8(buffer, start, end) & 15),
        transport,
      ),
    }
  }
  if (version === 6 && end - start >= 40) {
    return {
      source: formatIpAddress(buffer, start + 8, 16),
      destination: formatIpAddress(buffer, start + 24, 16),
      ipId: 0,
      ttl: readU8(buffer, start + 7, end),
      length: readU16be(buffer, start + 4, end) + 40,
      ...decodeTransport(
        buffer,
        readU8(buffer, start + 6, end),
        readU16be(buffer, start + 4, end),
        transport,
      ),
    }
  }
  return undefined
}

const TCP = 6
const UDP = 17
const SCTP = 132
const ICMP = 1
const ICMP6 = 58

type Transport = Omit<PacketHeader, 'source' | 'destination' | 'ipId' | 'ttl' | 'length'>

/** `length`: of the transport header and what follows it. */
function decodeTransport(
  buffer: Buffer,
  protocol: number,
  length: number,
  place: Place | undefined,
): Transport {
  const bare = { protocol, sourcePort: 0, destinationPort: 0, payloadLength: 0, content: '' }
  if (!place || place.end - place.start < 8) return bare
  const { start, end } = place
  const ports = {
    sourcePort: readU16be(buffer, start, end),
    destinationPort: readU16be(buffer, start + 2, end),
  }
  const content = buffer.toString('hex', start + 8, end)
  switch (protocol) {
    case TCP:
      if (end - start < 14) return { ...bare, ...ports }
      return {
        ...bare,
        ...ports,
        payloadLength: Math.max(0, length - 4 * (readU8(buffer, start + 12, end) >> 4)),
        tcp: {
          sequence: readU32be(buffer, start + 4, end),
          acknowledgement: readU32be(buffer, start + 8, end),
          flags: readU8(buffer, start + 13, end) & 0x3f,
        },
      }
    case UDP:
      return { ...bare, ...ports, content, payloadLength: Math.max(0, length - 8) }
    case SCTP:
      return { ...bare, ...ports }
    case ICMP:
    case ICMP6:
      return {
        ...bare,
        content,
        payloadLength: Math.max(0, length - 8),
        icmp: {
          type: readU8(buffer, start, end),
          code: readU8(buffer, start + 1, end),
          id: readU16be(buffer, start + 4, end),
          sequence: readU16be(buffer, start + 6, end),
        },
      }
    default:
      return bare
  }
}
