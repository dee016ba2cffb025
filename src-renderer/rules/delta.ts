import type { ChainListing, WireCounters } from '../../src-main/contract/counter-messages.ts'
import type { Counters } from '../../src-main/domain/iptables/rule-set.ts'
import type { RulesModel } from './rules-model.ts'

/** What a rule or policy has counted from one sample to the next. */
export interface Hit extends Counters {
  readonly atMs: number
}

/** A hit stays to be seen for so long. */
export const HIT_MS = 2000

interface TrackedChain {
  listing: ChainListing
  /** By rule from 0; the policy's under -1. */
  readonly hits: Map<number, Hit>
}

/** The last samples of one table's chains, and what was hit between them. */
export class CounterTrack {
  readonly #chains = new Map<string, TrackedChain>()
  #lastHitMs = Number.NEGATIVE_INFINITY

  take(listings: readonly ChainListing[], nowMs: number): void {
    for (const listing of listings) {
      const tracked = this.#chains.get(listing.chain)
      if (!tracked) {
        this.#chains.set(listing.chain, { listing, hits: new Map() })
        continue
      }
      const hits = hitsBetween(tracked.listing, listing, nowMs)
      // Rules that came or went move the others: what was hit before is no longer where it was.
      if (!isSameChain(tracked.listing, listing)) tracked.hits.clear()
      for (const [at, hit] of tracked.hits) if (nowMs - hit.atMs > HIT_MS) tracked.hits.delete(at)
      for (const [at, hit] of hits) tracked.hits.set(at, hit)
      if (hits.size > 0) this.#lastHitMs = nowMs
      tracked.listing = listing
    }
  }

  /** Chains that are no longer sampled: their last numbers are old, and a hit since would be one of long ago. */
  keepOnly(chains: ReadonlySet<string>): void {
    for (const chain of this.#chains.keys()) if (!chains.has(chain)) this.#chains.delete(chain)
  }

  clear(): void {
    this.#chains.clear()
  }

  /** True while a hit is still to be seen. */
  isLively(nowMs: number): boolean {
    return nowMs - this.#lastHitMs <= HIT_MS
  }

  /** Undefined where the last sample has another rule at that place, or none. */
  countersOf(chain: string, at: number, text: string): Counters | undefined {
    const rule = this.#chains.get(chain)?.listing.rules[at]
    return rule?.text === text ? fromWire(rule.counters) : undefined
  }

  policyOf(chain: string): Counters | undefined {
    const counters = this.#chains.get(chain)?.listing.counters
    return counters && fromWire(counters)
  }

  hitOf(chain: string, at: number, nowMs: number): Hit | undefined {
    const hit = this.#chains.get(chain)?.hits.get(at)
    return hit && nowMs - hit.atMs <= HIT_MS ? hit : undefined
  }

  /** Of all rules and the policy of a chain: hits that are still to be seen. */
  hitsIn(chain: string, nowMs: number): bigint {
    let packets = 0n
    for (const hit of this.#chains.get(chain)?.hits.values() ?? [])
      if (nowMs - hit.atMs <= HIT_MS) packets += hit.packets
    return packets
  }
}

/** The place of a chain's policy among its hits. */
export const POLICY = -1

function isSameChain(before: ChainListing, after: ChainListing): boolean {
  return (
    before.rules.length === after.rules.length &&
    before.rules.every(({ text }, at) => text === after.rules[at]?.text)
  )
}

/** A rule is found again by its text, the n-th of equal ones as the n-th. One that was not there has no hit. */
export function hitsBetween(before: ChainListing, after: ChainListing, atMs: number): Map<number, Hit> {
  const hits = new Map<number, Hit>()
  const note = (at: number, old: WireCounters | undefined, now: WireCounters | undefined): void => {
    if (!old || !now || old.packets === now.packets) return
    const hit = since(fromWire(old), fromWire(now))
    if (hit.packets > 0n) hits.set(at, { ...hit, atMs })
  }
  note(POLICY, before.counters, after.counters)
  const earlier = isSameChain(before, after) ? undefined : occurrences(before.rules)
  const seen = new Map<string, number>()
  after.rules.forEach((rule, at) => {
    if (!earlier) {
      note(at, before.rules[at]?.counters, rule.counters)
      return
    }
    const nth = seen.get(rule.text) ?? 0
    seen.set(rule.text, nth + 1)
    note(at, earlier.get(rule.text)?.[nth], rule.counters)
  })
  return hits
}

function occurrences(rules: ChainListing['rules']): Map<string, WireCounters[]> {
  const byText = new Map<string, WireCounters[]>()
  for (const { text, counters } of rules) {
    const list = byText.get(text)
    if (list) list.push(counters)
    else byText.set(text, [counters])
  }
  return byText
}

/** A counter that went back was zeroed or made again: it counts from nothing. */
export function since(before: Counters, now: Counters): Counters {
  if (now.packets < before.packets || now.bytes < before.bytes) return now
  return { packets: now.packets - before.packets, bytes: now.bytes - before.bytes }
}

/** A moment that a person marked; what rules have counted since is their count less this. */
export class Baseline {
  readonly #model: RulesModel
  readonly #chains = new Map<string, Map<string, Counters[]>>()

  constructor(model: RulesModel) {
    this.#model = model
  }

  /** `nth` is how many equal rules stand before this one in its chain. A rule made after the mark counts whole. */
  since(table: string, chain: string, text: string, nth: number, now: Counters): Counters {
    const before = this.#rules(table, chain).get(text)?.[nth]
    return before ? since(before, now) : now
  }

  policySince(table: string, chain: string, now: Counters): Counters {
    const marked = this.#model.table(table)
    const at = marked?.chainAt(chain)
    return marked && at !== undefined ? since(marked.headOf(at).counters, now) : now
  }

  #rules(table: string, chain: string): Map<string, Counters[]> {
    const key = `${table} ${chain}`
    const known = this.#chains.get(key)
    if (known) return known
    const rules = new Map<string, Counters[]>()
    const marked = this.#model.table(table)
    const at = marked?.chainAt(chain)
    if (marked && at !== undefined)
      for (let rule = 0; rule < marked.sizeOf(at); rule += 1) {
        const { text, counters } = marked.read(marked.ruleOf(at, rule))
        const list = rules.get(text)
        if (list) list.push(counters)
        else rules.set(text, [counters])
      }
    this.#chains.set(key, rules)
    return rules
  }
}

export function fromWire({ packets, bytes }: WireCounters): Counters {
  return { packets: BigInt(packets), bytes: BigInt(bytes) }
}
