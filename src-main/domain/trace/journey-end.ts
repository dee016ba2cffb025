import { optionOf, readRule } from '../iptables/rule-spec.ts'
import type { Path } from './join-segments.ts'
import { traceChains, type Walk } from './join-walks.ts'
import type { JourneyVerdict } from './journey.ts'
import { type JourneyFacts, rejectionOf, shortHost } from './journey-hops.ts'
import { type PacketHeader, tcpFlags } from './trace-event.ts'

interface End {
  readonly verdict: JourneyVerdict
  readonly reason: string
}

/** Whether a packet can be the answer that says that another one was not wanted: RST, or an ICMP error. */
export const mayRefuse = ({ tcp, icmp }: PacketHeader): boolean =>
  tcp ? (tcp.flags & tcpFlags.rst) !== 0 : icmp?.type === 3

/** How a packet's way ended; `others` are the RSTs and ICMP errors that answered it. */
export function judgeEnd(path: Path, others: readonly Path[], facts: JourneyFacts): End {
  const segment = path.at(-1) ?? path[0]
  const last = segment.walks.at(-1)
  if (!last) return { verdict: 'lost', reason: 'nothing of it was seen' }
  const where = shortHost(segment.host)
  const stopped = judgeStop(last, where, facts)
  if (stopped) return stopped
  const { header } = last.packet
  if (last.isOwn && last.chain === traceChains.sent && last.hook === 'POSTROUTING')
    return { verdict: 'lost', reason: `it left ${where} and was not seen on any node` }
  if (last.isOwn && last.chain === traceChains.left) {
    if (last.hook === 'INPUT') return judgeArrival(`${where} itself`, header, others, facts)
    const place = facts.hostAt(header.destination)
    if (place === undefined)
      return {
        verdict: 'lost',
        reason: `it left ${where} for ${header.destination}, an address that nobody in the lab has`,
      }
    const node = facts.nodeOf(place) ?? place
    if (place === segment.host || place === 'client' || node === segment.host)
      return judgeArrival(placeText(place), header, others, facts)
    return { verdict: 'lost', reason: `it left ${where} for ${placeText(place)} and was not seen there` }
  }
  if (last.hook === 'PREROUTING' || last.hook === 'OUTPUT') {
    const isUnroutable = others.some((other) => isUnreachable(other, [0, 1, 6, 7]))
    return {
      verdict: isUnroutable || last.hook === 'PREROUTING' ? 'no-route' : 'lost',
      reason: `${where} has no way for it: after ${last.hook} the kernel found no route to ${destinationBehind(last, facts) ?? header.destination}, or refused the sender ${header.source} (rp_filter)`,
    }
  }
  return { verdict: 'lost', reason: `it was seen for the last time on ${where} in ${last.hook}` }
}

/** Where DNAT sends what is not seen any more behind it. */
function destinationBehind(last: Walk, facts: JourneyFacts): string | undefined {
  const event = last.events.at(-1)
  const rule = event && facts.ruleOf(last.host, last.table, event.chain, event.handle)
  const target = rule && readRule(rule).target
  return target?.name === 'DNAT' ? optionOf(target, '--to-destination')?.values[0]?.split(':')[0] : undefined
}

/** Where a rule or policy ended the way. */
function judgeStop(last: Walk, where: string, facts: JourneyFacts): End | undefined {
  const event = last.events.at(-1)
  if (event?.verdict !== 'DROP') return undefined
  const place = `in ${last.table} ${event.chain} on ${where}`
  if (event.type === 'policy')
    return {
      verdict: 'dropped',
      reason: `the policy DROP of ${last.table} ${event.chain} on ${where} dropped it`,
    }
  const rule = facts.ruleOf(last.host, last.table, event.chain, event.handle)
  if (!rule) return { verdict: 'dropped', reason: `a rule ${place} dropped it` }
  const rejection = rejectionOf(rule)
  if (rejection !== undefined)
    return { verdict: 'rejected', reason: `rule ${rule.number} ${place} rejected it with ${rejection}` }
  return { verdict: 'dropped', reason: `rule ${rule.number} ${place} dropped it` }
}

function judgeArrival(
  place: string,
  header: PacketHeader,
  others: readonly Path[],
  facts: JourneyFacts,
): End {
  if (others.some((other) => refuses(other, header, facts)))
    return {
      verdict: 'refused',
      reason: `it reached ${place}, where nothing listens on port ${header.destinationPort}`,
    }
  return { verdict: 'delivered', reason: `it reached ${place}` }
}

/** Whether an RST or ICMP error answers the packet that went this way. */
export function answersTo(refusal: PacketHeader, path: Path): boolean {
  const first = path[0].walks[0]?.packet.header
  if (!first) return false
  if (refusal.tcp) {
    const { tcp } = first
    if (!tcp || !(tcp.flags & tcpFlags.syn) || tcp.flags & tcpFlags.ack) return false
    return refusal.tcp.acknowledgement === (tcp.sequence + 1) >>> 0
  }
  // An error quotes the packet's IP header: length and identification are its second and third 16 bits.
  const quoted = [refusal.content.slice(4, 8), refusal.content.slice(8, 12)].map((hex) =>
    Number.parseInt(hex, 16),
  )
  return !first.icmp && quoted[0] === first.length && quoted[1] === first.ipId
}

/** Whether this packet says that nobody listens where the other one went. */
function refuses(path: Path, { tcp, destination }: PacketHeader, facts: JourneyFacts): boolean {
  if (tcp) return path[0].walks[0]?.packet.header.tcp !== undefined
  const source = path[0].walks[0]?.packet.header.source ?? ''
  return isUnreachable(path, [3]) && facts.hostAt(source) === facts.hostAt(destination)
}

function isUnreachable(path: Path, codes: readonly number[]): boolean {
  const icmp = path[0].walks[0]?.packet.header.icmp
  return icmp?.type === 3 && codes.includes(icmp.code)
}

function placeText(host: string): string {
  const [kind, ...rest] = host.split('/')
  return kind === 'pod' ? `pod ${rest.at(-1)}` : kind === 'node' ? `node ${rest[0]}` : 'the client'
}
