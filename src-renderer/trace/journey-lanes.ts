import type { Hop, Journey } from '../../src-main/domain/trace/journey.ts'
import { hostWords, type LabHost, type LabHosts } from '../../src-main/domain/trace/lab-hosts.ts'
import { addressWords } from './hop-words.ts'

/** A network namespace that the packet was in, with the hops it met there. */
export interface Lane {
  readonly kind: LabHost['kind'] | 'switch'
  readonly name: string
  /** By which links the packet came and went, or the address of an end. */
  readonly detail: string
  /** Index of the first hop. */
  readonly from: number
  /** 0 for where no rule is asked: a pod, the switch, the client. */
  readonly hops: number
}

/** One line of the picture. */
export type LaneRow =
  | { readonly kind: 'lane'; readonly lane: Lane }
  | { readonly kind: 'place'; readonly hook: string; readonly table: string }
  | { readonly kind: 'hop'; readonly at: number; readonly hop: Hop }
  | { readonly kind: 'end'; readonly verdict: Journey['verdict']; readonly reason: string }

/** The namespaces in the order in which the packet was in them: pod → node → switch → node → pod. */
export function journeyLanes(
  { hops, verdict }: Pick<Journey, 'hops' | 'verdict'>,
  hosts: LabHosts,
): readonly Lane[] {
  const [first] = hops
  const last = hops.at(-1)
  if (!first || !last) return []
  const lanes: Lane[] = []
  const sender = hosts.get(first.packet.src)
  const quiet = (host: LabHost, detail: string, from: number): void => {
    lanes.push({ kind: host.kind, name: host.name, detail, from, hops: 0 })
  }
  const throughSwitch = (from: number): void => {
    lanes.push({ kind: 'switch', name: 'switch', detail: 'joins the nodes and the client', from, hops: 0 })
  }
  if (sender && !(sender.kind === 'node' && sender.name === first.node)) {
    quiet(sender, addressWords(first.packet, 'source'), 0)
    if (!isInside(sender, first.node)) throughSwitch(0)
  }
  for (let from = 0; from < hops.length; ) {
    const node = hops[from]?.node ?? ''
    let to = from
    while (hops[to]?.node === node) to += 1
    if (from > 0) throughSwitch(from)
    lanes.push({
      kind: 'node',
      name: node,
      detail: linkWords(hops.slice(from, to)),
      from,
      hops: to - from,
    })
    from = to
  }
  const end = last.becomes ?? last.packet
  const receiver = hosts.get(end.dst)
  const arrives = verdict === 'delivered' || verdict === 'refused'
  if (arrives && receiver && !(receiver.kind === 'node' && receiver.name === last.node)) {
    if (!isInside(receiver, last.node)) throughSwitch(hops.length)
    quiet(receiver, addressWords(end, 'destination'), hops.length)
  }
  return lanes
}

/** A pod hangs on its node's own bridge or link. */
const isInside = (host: LabHost, node: string): boolean => host.kind === 'pod' && host.node === node

function linkWords(hops: readonly Hop[]): string {
  const from = hops[0]?.packet.in
  const out = hops.findLast(({ packet }) => packet.out !== '')?.packet.out
  const words = [from ? `in by ${from}` : 'sent from here', out ? `out by ${out}` : '']
  return words.filter((word) => word !== '').join(', ')
}

/** Lanes as headings, each hop below its own and below its hook and table, and how it ended. */
export function laneRows(journey: Journey, lanes: readonly Lane[]): readonly LaneRow[] {
  const rows: LaneRow[] = []
  for (const lane of lanes) {
    rows.push({ kind: 'lane', lane })
    for (let at = lane.from; at < lane.from + lane.hops; at++) {
      const hop = journey.hops[at]
      const before = at > lane.from ? journey.hops[at - 1] : undefined
      if (!hop) continue
      const { hook, table } = hop
      if (before?.hook !== hook || before.table !== table) rows.push({ kind: 'place', hook, table })
      rows.push({ kind: 'hop', at, hop })
    }
  }
  rows.push({ kind: 'end', verdict: journey.verdict, reason: journey.reason })
  return rows
}

export function laneWords({ kind, name }: Lane): string {
  return kind === 'switch' ? 'the switch' : hostWords({ kind, name })
}

/** The lane that a hop is in. */
export function laneOfHop(lanes: readonly Lane[], at: number): Lane | undefined {
  return lanes.find(({ from, hops }) => at >= from && at < from + hops)
}
