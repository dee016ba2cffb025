import { type ExplanationPart, joined, series, words } from './explain-parts.ts'

type Words = readonly ExplanationPart[]

/** What the matches of a rule say, sorted by the place in the sentence where it can stand. */
export class Phrases {
  /** `TCP packets`; undefined where the rule takes every packet. */
  subject: Words | undefined
  readonly #ends: Record<'from' | 'to', { address?: Words; port?: Words }> = { from: {}, to: {} }
  readonly #clauses: Words[] = []
  readonly #leads: Words[] = []
  readonly #effects: Words[] = []

  /** `from 10.0.0.0/8 port 5`: the first address and port of a side stand together, a second port is a clause. */
  addEnd(side: 'from' | 'to', kind: 'address' | 'port', value: Words): void {
    const end = this.#ends[side]
    if (end[kind]) this.addClause(words`that also ${side === 'from' ? 'come from' : 'go to'} ${value}`)
    else end[kind] = value
  }

  /** `that come in by eth0`, `whose mark is 0x1`. */
  addClause(clause: Words): void {
    this.#clauses.push(clause)
  }

  /** `with a chance of 1 in 3`: stands before the packets. */
  addLead(lead: Words): void {
    this.#leads.push(lead)
  }

  /** `remember the source address …`: what a match does besides matching. */
  addEffect(effect: Words): void {
    this.#effects.push(effect)
  }

  get effects(): readonly Words[] {
    return this.#effects
  }

  /** False where the sentence names no packets and begins with what is done. */
  get namesPackets(): boolean {
    return this.subject !== undefined || this.#endWords().length > 0 || this.#clauses.length > 0
  }

  /** All conditions, not capitalised; empty without any. */
  condition(): ExplanationPart[] {
    const packets = this.namesPackets
      ? [joined([this.subject ?? 'packets', this.#endWords(), this.#clauseWords()])]
      : []
    const leads = this.#leads.length > 0 ? [series(this.#leads, 'and')] : []
    const both = [...leads, ...packets]
    return joined(both.flatMap((piece, at) => (at === 0 ? [piece] : [', ', piece])))
  }

  #endWords(): ExplanationPart[] {
    return joined(
      (['from', 'to'] as const).flatMap((side) => {
        const { address, port } = this.#ends[side]
        const pieces = [address, port].filter((piece) => piece !== undefined)
        return pieces.length === 0 ? [] : [` ${side}`, ...pieces.flatMap((piece) => [' ', piece])]
      }),
    )
  }

  #clauseWords(): ExplanationPart[] {
    return this.#clauses.length === 0 ? [] : words` ${series(this.#clauses, 'and')}`
  }
}
