import { type ExplanationPart, part, words } from '../../src-main/domain/iptables/explain-parts.ts'
import { explainRule } from '../../src-main/domain/iptables/explain-rule.ts'
import { targetOf } from '../../src-main/domain/iptables/rule-spec.ts'
import { type Hop, type HopPacket, isPolicy, type Journey } from '../../src-main/domain/trace/journey.ts'

/** What a hop is, in words, and the rule's comments. */
export interface HopWords {
  readonly parts: readonly ExplanationPart[]
  readonly comments: readonly string[]
}

export function explainHop(hop: Hop): HopWords {
  if (hop.table === 'conntrack')
    return { parts: words`${capitalised(hop.text)}. No rule of the nat table is asked.`, comments: [] }
  if (hop.isChainEnd)
    return {
      parts: words`No rule of ${part('chain', hop.chain)} decided: at its end the packet goes back to the chain that it came from.`,
      comments: [],
    }
  if (isPolicy(hop))
    return {
      parts: words`No rule of ${part('chain', hop.chain)} decided: its policy is ${hop.verdict}.`,
      comments: [],
    }
  const family = hop.packet.dst.includes(':') ? 'ipv6' : 'ipv4'
  return explainRule({ chain: hop.chain, text: hop.text }, { table: hop.table, family })
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** What it did, short: `→ KUBE-SVC-…`, `ACCEPT`, `MARK`. */
export function hopVerdict(hop: Hop): string {
  if (hop.isChainEnd) return hop.text.slice(hop.text.indexOf('back to'))
  if (hop.verdict !== 'JUMP' && hop.verdict !== 'GOTO') return hop.verdict
  return `→ ${targetOf(hop)?.name ?? hop.verdict.toLowerCase()}`
}

/** How good an end is, for icon and colour. */
export type Mood = 'good' | 'bad' | 'open'

const VERDICTS: Readonly<Record<Journey['verdict'], { readonly words: string; readonly mood: Mood }>> = {
  delivered: { words: 'delivered', mood: 'good' },
  dropped: { words: 'dropped', mood: 'bad' },
  rejected: { words: 'rejected', mood: 'bad' },
  refused: { words: 'refused', mood: 'bad' },
  'no-route': { words: 'no route', mood: 'bad' },
  lost: { words: 'lost', mood: 'open' },
}

export const verdictWords = (verdict: Journey['verdict']): string => VERDICTS[verdict].words
export const verdictMood = (verdict: Journey['verdict']): Mood => VERDICTS[verdict].mood

const KINDS: Readonly<Record<Journey['kind'], string>> = {
  first: 'first',
  later: 'later',
  retransmission: 'repeated',
}

/** `request, first`: the first packet of its connection alone asks the nat table. */
export const journeyWords = ({ direction, kind }: Journey): string => `${direction}, ${KINDS[kind]}`

/** `to 10.244.1.7:80`: where the packet was going in the end. */
export function endWords({ hops }: Pick<Journey, 'hops'>): string {
  const last = hops.at(-1)
  return last ? `to ${addressWords(last.becomes ?? last.packet, 'destination')}` : ''
}

/** `10.244.1.7:80`; without a port where there is none. */
export function addressWords(packet: HopPacket, side: 'source' | 'destination'): string {
  const [address, port] = side === 'source' ? [packet.src, packet.sport] : [packet.dst, packet.dport]
  if (port === 0) return address
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

/** The step that DNAT happens at, by a rule or by conntrack; undefined where the destination stays. */
export function dnatStep(hops: readonly Hop[]): number | undefined {
  const at = hops.findIndex(
    ({ packet, becomes }) =>
      becomes !== undefined && (becomes.dst !== packet.dst || becomes.dport !== packet.dport),
  )
  return at < 0 ? undefined : at
}
