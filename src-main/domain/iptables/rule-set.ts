/**
 * A rule set as iptables-save writes it: tables in order, each with its chains and rules. Every rule keeps its
 * own text, so that rules of any tool come back as they stood; `ruleArgs` (rule-words.ts) reads the words.
 */

declare const chainNameBrand: unique symbol
export type ChainName = string & { readonly [chainNameBrand]: true }

export type TableName = 'raw' | 'mangle' | 'nat' | 'filter' | 'security'

export type Family = 'ipv4' | 'ipv6'

/** Both are unsigned 64-bit numbers of the kernel. */
export interface Counters {
  readonly packets: bigint
  readonly bytes: bigint
}

export interface Chain {
  readonly name: ChainName
  /** ACCEPT, DROP or QUEUE of a built-in chain; undefined for a user-defined one ("-" in the text). */
  readonly policy?: string
  /** Policy counters of a built-in chain; [0:0] for the others. Undefined when the text had none. */
  readonly counters?: Counters
}

export interface Rule {
  readonly chain: ChainName
  /** The words after `-A CHAIN` exactly as written, quotes and blanks included; empty for a rule without any. */
  readonly text: string
  /** Undefined when the text had none (iptables-save without -c). */
  readonly counters?: Counters
}

/** A comment or empty line between the lines of a table. */
export interface Remark {
  readonly text: string
  /** How many chain and rule lines of its table stand before it. */
  readonly at: number
}

export interface Table {
  readonly name: TableName | (string & {})
  readonly chains: readonly Chain[]
  /** In the order of the text; rules of one chain are in evaluation order. */
  readonly rules: readonly Rule[]
  /** Comment and empty lines between the table before (or the start) and the `*table` line. Absent if none. */
  readonly head?: readonly string[]
  /** Absent if there are none. */
  readonly remarks?: readonly Remark[]
}

export interface RuleSet {
  readonly tables: readonly Table[]
  /** Comment and empty lines after the last COMMIT. Absent if none. */
  readonly tail?: readonly string[]
  /** True when the text's last line had no line end. */
  readonly noFinalNewline?: true
}

/** Undefined where the rule set has no such table; the first one where a text holds it twice. */
export function tableNamed(ruleSet: RuleSet, name: string): Table | undefined {
  return ruleSet.tables.find((table) => table.name === name)
}

/** The rules of one table by chain, in evaluation order; a chain without rules has an empty list. */
export function rulesByChain(table: Table): Map<ChainName, Rule[]> {
  const byChain = new Map<ChainName, Rule[]>(table.chains.map((chain) => [chain.name, []]))
  for (const rule of table.rules) {
    const rules = byChain.get(rule.chain)
    if (rules) rules.push(rule)
    else byChain.set(rule.chain, [rule])
  }
  return byChain
}
