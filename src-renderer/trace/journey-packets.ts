import type { PacketPattern } from '../../src-main/domain/conntrack/connection-entry.ts'
import type { Journey } from '../../src-main/domain/trace/journey.ts'

/** The headers that a journey's packet had on a node: they find the entries that it left in the node's conntrack table. */
export function journeyPackets(
  { protocol, hops }: Pick<Journey, 'protocol' | 'hops'>,
  node: string,
): readonly PacketPattern[] {
  const patterns = new Map<string, PacketPattern>()
  for (const hop of hops) {
    if (hop.node !== node) continue
    for (const packet of hop.becomes ? [hop.packet, hop.becomes] : [hop.packet]) {
      const pattern = {
        protocol,
        source: packet.src,
        destination: packet.dst,
        sourcePort: packet.sport,
        destinationPort: packet.dport,
      }
      patterns.set(JSON.stringify(pattern), pattern)
    }
  }
  return [...patterns.values()]
}
