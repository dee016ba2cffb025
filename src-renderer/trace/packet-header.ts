import { hexText } from '../../src-main/domain/iptables/explain-values.ts'
import { readRule } from '../../src-main/domain/iptables/rule-spec.ts'
import type { Hop, HopPacket } from '../../src-main/domain/trace/journey.ts'
import { changedMark } from '../../src-main/domain/trace/walk-target.ts'
import { addressWords } from './hop-words.ts'

/** The packet as it comes to a hop, and as it leaves it. */
export interface HopHeader {
  readonly before: HopPacket
  readonly after: HopPacket
}

/** One field of the header at a step. */
export interface HeaderField {
  readonly name: 'source' | 'destination' | 'in by' | 'out by' | 'mark'
  readonly value: string
  /** What this hop makes of it. */
  readonly becomes?: string
  /** What it was a step ago, where routing or another node made it another one. */
  readonly was?: string
}

/**
 * The kernel tells the header once for each table, so that a mark set by a rule shows only behind it. Here each MARK rule
 * has its effect at its own step, worked out as the kernel does.
 */
export function hopHeaders(hops: readonly Hop[]): readonly HopHeader[] {
  let marked: { readonly place: string; readonly mark: number } | undefined
  return hops.map((hop) => {
    const { node, hook, table, packet, verdict } = hop
    const place = `${node} ${hook} ${table}`
    const before = marked?.place === place ? { ...packet, mark: marked.mark } : packet
    const mark = verdict === 'MARK' ? markAfter(hop, before.mark) : undefined
    if (mark !== undefined) marked = { place, mark }
    // Which link it leaves by is routing's doing, and shows at the next step.
    const after = hop.becomes ? { ...hop.becomes, in: before.in, out: before.out } : before
    return { before, after: mark === undefined ? after : { ...after, mark } }
  })
}

function markAfter({ text }: Hop, mark: number): number | undefined {
  const option = readRule({ text }).target?.options[0]
  return option && changedMark(mark, option.name, option.values[0] ?? '')
}

function fieldValues(packet: HopPacket): readonly (readonly [HeaderField['name'], string])[] {
  return [
    ['source', addressWords(packet, 'source')],
    ['destination', addressWords(packet, 'destination')],
    ['in by', packet.in],
    ['out by', packet.out],
    ['mark', hexText(packet.mark)],
  ]
}

/** What stands in the header at a step, with what has just changed. */
export function headerFields(headers: readonly HopHeader[], at: number): readonly HeaderField[] {
  const header = headers[at]
  if (!header) return []
  const behind = fieldValues(header.after)
  const earlier = headers[at - 1]
  const past = earlier && fieldValues(earlier.after)
  return fieldValues(header.before).map(([name, value], field) => {
    const becomes = behind[field]?.[1]
    const was = past?.[field]?.[1]
    return {
      name,
      value,
      ...(becomes === undefined || becomes === value ? {} : { becomes }),
      ...(was === undefined || was === value ? {} : { was }),
    }
  })
}

/** What a hop changes, short: `dst → 10.244.2.8:80, mark → 0x4000`; empty where it changes nothing. */
export function changeWords(headers: readonly HopHeader[], at: number): string {
  return headerFields(headers, at)
    .flatMap(({ name, becomes }) => (becomes === undefined ? [] : [`${SHORT[name]} → ${becomes}`]))
    .join(', ')
}

const SHORT: Readonly<Record<HeaderField['name'], string>> = {
  source: 'src',
  destination: 'dst',
  'in by': 'in',
  'out by': 'out',
  mark: 'mark',
}
