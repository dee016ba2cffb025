import { NO_COUNTERS } from '../../src-main/domain/iptables/counters.ts'
import { type LadderStep, readLadders } from '../../src-main/domain/iptables/explain-chance.ts'
import type { Counters } from '../../src-main/domain/iptables/rule-set.ts'
import { parseLine } from '../../src-main/domain/iptables/save-lines.ts'
import type { TableIndex } from './rule-index.ts'

export interface ReadRule {
  /** After `-A CHAIN`. */
  readonly text: string
  readonly counters: Counters
}

/** One table of an indexed text; a line is read when somebody asks for it. */
export class RuleTable {
  readonly name: string
  readonly chains: readonly string[]
  readonly index: TableIndex
  readonly #text: string
  readonly #chainAt: ReadonlyMap<string, number>
  readonly #nth = new Map<number, Int32Array>()
  readonly #ladders = new Map<number, readonly (LadderStep | undefined)[]>()

  constructor(text: string, index: TableIndex) {
    this.name = index.name
    this.index = index
    this.#text = text
    this.chains = index.chainNames === '' ? [] : index.chainNames.split('\n')
    this.#chainAt = new Map(this.chains.map((name, at) => [name, at]))
  }

  get ruleCount(): number {
    return this.index.line.length
  }

  chainAt(name: string): number | undefined {
    return this.#chainAt.get(name)
  }

  sizeOf(chain: number): number {
    return (this.index.firstRule[chain + 1] ?? 0) - (this.index.firstRule[chain] ?? 0)
  }

  /** The rule `at` (from 0) of a chain, as counted in the index. */
  ruleOf(chain: number, at: number): number {
    return (this.index.firstRule[chain] ?? 0) + at
  }

  /** From 1, within its chain. */
  numberOf(rule: number): number {
    return rule - (this.index.firstRule[this.chainOf(rule)] ?? 0) + 1
  }

  chainOf(rule: number): number {
    return this.index.chainOf[rule] ?? 0
  }

  read(rule: number): ReadRule {
    const line = parseLine(this.#text.slice(this.index.line[rule], this.index.end[rule]))
    if (line.kind !== 'command') return { text: '', counters: NO_COUNTERS }
    return { text: line.text, counters: line.counters ?? NO_COUNTERS }
  }

  /** Alone, for those who ask for thousands. */
  textOf(rule: number): string {
    const chain = this.chains[this.chainOf(rule)] ?? ''
    return this.#text.slice((this.index.body[rule] ?? 0) + chain.length + 4, this.index.end[rule])
  }

  textsOf(chain: number): string[] {
    return Array.from({ length: this.sizeOf(chain) }, (_, at) => this.textOf(this.ruleOf(chain, at)))
  }

  /** The policy of a built-in chain; undefined for the others. */
  headOf(chain: number): { policy: string | undefined; counters: Counters } {
    const from = this.index.chainLine[chain] ?? 0
    const end = this.#text.indexOf('\n', from)
    const line = parseLine(this.#text.slice(from, end === -1 ? undefined : end))
    if (line.kind !== 'chain') return { policy: undefined, counters: NO_COUNTERS }
    return { policy: line.policy, counters: line.counters ?? NO_COUNTERS }
  }

  /** The chain that a rule leads to; undefined for a verdict, an extension or nothing. */
  jumpOf(rule: number): string | undefined {
    return this.chains[this.index.jump[rule] ?? -1]
  }

  referencesTo(chain: number): number {
    return (this.index.firstReferrer[chain + 1] ?? 0) - (this.index.firstReferrer[chain] ?? 0)
  }

  /** The rules that lead to a chain. */
  referrersOf(chain: number): Int32Array {
    return this.index.referrers.subarray(this.index.firstReferrer[chain], this.index.firstReferrer[chain + 1])
  }

  /** How many equal rules stand before this one in its chain. */
  nthOf(rule: number): number {
    const chain = this.chainOf(rule)
    let nth = this.#nth.get(chain)
    if (!nth) {
      const seen = new Map<string, number>()
      nth = Int32Array.from(this.textsOf(chain), (text) => {
        const count = seen.get(text) ?? 0
        seen.set(text, count + 1)
        return count
      })
      this.#nth.set(chain, nth)
    }
    return nth[rule - this.ruleOf(chain, 0)] ?? 0
  }

  /** Whether a rule stands on a ladder of random rules, for the sentence about it. */
  ladderOf(rule: number): LadderStep | undefined {
    const chain = this.chainOf(rule)
    let steps = this.#ladders.get(chain)
    if (!steps) {
      steps = readLadders(this.textsOf(chain).map((text) => ({ text })))
      this.#ladders.set(chain, steps)
    }
    return steps[rule - this.ruleOf(chain, 0)]
  }
}
