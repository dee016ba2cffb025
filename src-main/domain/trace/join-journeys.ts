import { joinPaths, joinSegments, type Path, type Segment } from './join-segments.ts'
import { joinWalks, type SeenEvent, traceChains } from './join-walks.ts'
import type { Journey, PacketKind, TraceResult } from './journey.ts'
import { answersTo, judgeEnd, mayRefuse } from './journey-end.ts'
import { type JourneyFacts, walkHops } from './journey-hops.ts'
import { formatTcpFlags, type PacketHeader, protocolName, tcpFlags } from './trace-event.ts'

/**
 * The journeys of a command's packets, in the order in which they passed the sender's node. Events of other traffic
 * are left out: a connection is the command's when one of its packets went through the chain `sent`.
 */
export function joinJourneys(
  events: ReadonlyMap<string, readonly SeenEvent[]>,
  facts: JourneyFacts,
): TraceResult {
  let orphans = 0
  const segments: Segment[] = []
  for (const [host, seen] of events) {
    const joined = joinWalks(host, seen)
    orphans += joined.orphans
    segments.push(...joinSegments(joined.walks))
  }
  const paths = joinPaths(segments)
  const ours = selectPaths(paths)
  const nodes = firstNodes(ours)
  const order = ({ path, connection }: OwnPath): number => orderAt(path, nodes.get(connection))
  const ordered = ours.toSorted((a, b) => order(a) - order(b))
  const kinds = new PacketKinds()
  const known = ordered.map(({ path, connection }) => {
    const direction = directionOf(path)
    return { path, connection, direction, kind: kinds.next(path, connection, direction) }
  })
  const answers = matchRefusals(known)
  const journeys = known.map(({ path, connection, direction, kind }, at): Journey => {
    const { header } = startOf(path)
    return {
      id: at + 1,
      connection,
      protocol: protocolName(header.protocol),
      direction,
      kind,
      summary: summarize(header),
      ...judgeEnd(path, answers.get(path) ?? [], facts),
      hops: walkHops(path, facts),
    }
  })
  return {
    journeys,
    gaps: orphans > 0 ? [`${orphans} trace events came without their beginning and are left out`] : [],
  }
}

interface OwnPath {
  readonly path: Path
  readonly connection: number
}

const startOf = (path: Path): { header: PacketHeader } => {
  const [first] = path[0].walks
  if (!first) throw new Error('a segment has no walks')
  return first.packet
}

const wasSent = (path: Path): boolean =>
  path[0].walks.some((walk) => walk.isOwn && walk.chain === traceChains.sent)

/** conntrack's entries on the path, each named with its host: ids are only good there. */
function entriesOf(path: Path): string[] {
  return path.flatMap(({ host, connection }) =>
    connection && connection.id !== 0 ? [`${host} ${connection.id}`] : [],
  )
}

/** Paths of connections that the command began, with the number of the connection. */
function selectPaths(paths: readonly Path[]): OwnPath[] {
  const groups = new Map<string, number>()
  let last = 0
  const own = new Map<Path, number>()
  for (const path of paths.filter(wasSent)) {
    // A packet that was dropped leaves no entry behind: sent again, it gets another one.
    const names = [...entriesOf(path), flowOf(path)]
    const known = names.map((name) => groups.get(name)).find((group) => group !== undefined)
    if (known === undefined) last += 1
    const group = known ?? last
    for (const name of names) groups.set(name, group)
    own.set(path, group)
  }
  for (const path of paths) {
    if (own.has(path)) continue
    const group = entriesOf(path)
      .map((entry) => groups.get(entry))
      .find((known) => known !== undefined)
    if (group !== undefined) own.set(path, group)
  }
  return [...own].map(([path, connection]) => ({ path, connection }))
}

/** Names a flow by its sender's own words. */
function flowOf(path: Path): string {
  const { protocol, source, sourcePort, destination, destinationPort } = startOf(path).header
  return `${protocol} ${source} ${sourcePort} ${destination} ${destinationPort}`
}

/** By connection, the node that all its packets pass: the first that its requests meet. */
function firstNodes(paths: readonly OwnPath[]): Map<number, string> {
  const nodes = new Map<number, string>()
  for (const { path, connection } of paths) {
    const node = path.find(({ host }) => host.startsWith('node/'))?.host
    if (node !== undefined && wasSent(path) && !nodes.has(connection)) nodes.set(connection, node)
  }
  return nodes
}

/** When the packet passed the node: events of one namespace are in true order, those of several are not. */
function orderAt(path: Path, node: string | undefined): number {
  const there = path.find(({ host }) => host === node) ?? path[0]
  return there.walks[0]?.order ?? 0
}

function directionOf(path: Path): Journey['direction'] {
  if (wasSent(path)) return 'request'
  return path.some(({ connection }) => connection?.direction === 'reply') ? 'reply' : 'request'
}

/** RSTs and ICMP errors by the packet that each one answers: the last one before it that fits. */
function matchRefusals(paths: readonly OwnPath[]): Map<Path, Path[]> {
  const answers = new Map<Path, Path[]>()
  paths.forEach(({ path, connection }, at) => {
    const { header } = startOf(path)
    if (!mayRefuse(header)) return
    for (let before = at - 1; before >= 0; before -= 1) {
      const earlier = paths[before]
      if (earlier?.connection !== connection || !answersTo(header, earlier.path)) continue
      answers.set(earlier.path, [...(answers.get(earlier.path) ?? []), path])
      return
    }
  })
  return answers
}

class PacketKinds {
  readonly #begun = new Set<number>()
  readonly #sent = new Set<string>()

  /** Asked for packets in their order. */
  next(path: Path, connection: number, direction: Journey['direction']): PacketKind {
    const { header } = startOf(path)
    const { tcp, payloadLength } = header
    if (tcp && (payloadLength > 0 || tcp.flags & (tcpFlags.syn | tcpFlags.fin))) {
      const once = `${connection} ${direction} ${tcp.sequence} ${payloadLength} ${tcp.flags & (tcpFlags.syn | tcpFlags.fin)}`
      if (this.#sent.has(once)) return 'retransmission'
      this.#sent.add(once)
    }
    if (direction === 'reply' || this.#begun.has(connection)) return 'later'
    this.#begun.add(connection)
    return 'first'
  }
}

const ICMP_TYPES: Readonly<Record<number, string>> = {
  0: 'echo reply',
  3: 'destination unreachable',
  8: 'echo request',
  11: 'time exceeded',
}

function summarize({ tcp, icmp, payloadLength }: PacketHeader): string {
  const bytes = payloadLength > 0 ? `${payloadLength} bytes` : ''
  if (tcp) return [formatTcpFlags(tcp.flags), bytes].filter(Boolean).join(', ')
  if (icmp) return ICMP_TYPES[icmp.type] ?? `type ${icmp.type}`
  return bytes || 'no content'
}
