import { connectionOf, traceChains, type Walk } from './join-walks.ts'
import type { PacketHeader, TracedConnection } from './trace-event.ts'

/** One packet's way through one host. */
export interface Segment {
  readonly host: string
  /** By stage. */
  readonly walks: readonly Walk[]
  readonly connection: TracedConnection | undefined
}

/**
 * What no NAT and no router changes of a packet. Two packets may have the same (UDP without identification, say):
 * addresses and order tell those apart.
 */
export function packetKey({ protocol, ipId, length, tcp, icmp, content }: PacketHeader): string {
  if (tcp) return `${protocol}|${ipId}|${length}|${tcp.sequence}|${tcp.acknowledgement}|${tcp.flags}`
  if (!icmp) return `${protocol}|${ipId}|${length}|${content}`
  const { type, code, sequence } = icmp
  const isEcho = type === 0 || type === 8
  // An error quotes the packet that it answers, whose addresses NAT changes back: 8 bytes come before its checksum.
  return `${protocol}|${ipId}|${length}|${type}|${code}|${isEcho ? `${sequence}|${content}` : content.slice(0, 16)}`
}

const source = ({ source: address, sourcePort }: PacketHeader): string => `${address} ${sourcePort}`
const destination = ({ destination: address, destinationPort }: PacketHeader): string =>
  `${address} ${destinationPort}`

/** Joins one host's walks, given in order, into segments; their order is that of their first walks. */
export function joinSegments(walks: readonly Walk[]): Segment[] {
  interface OpenSegment {
    readonly walks: [Walk, ...Walk[]]
    last: Walk
  }
  const open = new Map<string, OpenSegment[]>()
  const segments: OpenSegment[] = []
  for (const walk of walks) {
    const key = packetKey(walk.packet.header)
    const candidates = open.get(key) ?? []
    const known = candidates.find(({ last }) => continues(last, walk))
    if (known) {
      known.walks.push(walk)
      known.last = walk
      if (isEnd(walk))
        open.set(
          key,
          candidates.filter((candidate) => candidate !== known),
        )
      continue
    }
    const segment: OpenSegment = { walks: [walk], last: walk }
    segments.push(segment)
    if (!isEnd(walk)) open.set(key, [...candidates, segment])
  }
  return segments.map((segment) => ({
    host: segment.walks[0].host,
    walks: segment.walks,
    connection: connectionOf(segment.walks),
  }))
}

const isEnd = (walk: Walk): boolean => walk.isOwn && walk.chain === traceChains.left

/**
 * On one host the destination changes first (DNAT, and SNAT taken back), the source behind everything else (SNAT, and
 * DNAT taken back), where `left` looks.
 */
function continues(last: Walk, next: Walk): boolean {
  if (next.stage <= last.stage) return false
  const [before, after] = [last.packet.header, next.packet.header]
  return isEnd(next) ? destination(before) === destination(after) : source(before) === source(after)
}

/** A packet's way through all hosts: segments in order. */
export type Path = readonly [Segment, ...Segment[]]

/** Links segments of all hosts: a packet leaves one host as it comes to the next. */
export function joinPaths(segments: readonly Segment[]): Path[] {
  const leaving = new Map<string, Segment[]>()
  for (const segment of segments) {
    const key = leavingKey(segment)
    if (key !== undefined) leaving.set(key, [...(leaving.get(key) ?? []), segment])
  }
  const next = new Map<Segment, Segment>()
  const isContinuation = new Set<Segment>()
  for (const segment of segments) {
    const [first] = segment.walks
    if (first?.hook !== 'PREROUTING') continue
    const waiting = leaving.get(headerKey(first.packet.header))
    const at = waiting?.findIndex((candidate) => candidate !== segment) ?? -1
    const [before] = at < 0 ? [] : (waiting?.splice(at, 1) ?? [])
    if (!before) continue
    next.set(before, segment)
    isContinuation.add(segment)
  }
  return segments
    .filter((segment) => !isContinuation.has(segment))
    .map((head) => {
      const path: [Segment, ...Segment[]] = [head]
      for (let at = next.get(head); at && !path.includes(at); at = next.get(at)) path.push(at)
      return path
    })
}

const headerKey = (header: PacketHeader): string =>
  `${packetKey(header)}|${source(header)}|${destination(header)}|${header.ttl}`

/** Of a packet that went on to another host, or to this one once more. */
function leavingKey({ walks }: Segment): string | undefined {
  const last = walks.at(-1)
  if (!last?.isOwn || last.hook === 'INPUT') return undefined
  if (last.chain !== traceChains.left && last.chain !== traceChains.sent) return undefined
  return headerKey(last.packet.header)
}
