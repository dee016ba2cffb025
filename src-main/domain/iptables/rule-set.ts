/**
 * A rule set as iptables-save writes it: tables in order, each with its chains and rules. Every rule keeps its
 * own text, so that rules of any tool come back as they stood.
 */

declare const chainNameBrand: unique symbol
export type ChainName = string & { readonly [chainNameBrand]: true }

export type TableName = 'raw' | 'mangle' | 'nat' | 'filter' | 'security'

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
  /** The rule's words after `-A CHAIN`, unquoted, in the order of the text. */
  readonly args: readonly string[]
  /** Those words exactly as written, quotes and blanks included. */
  readonly text: string
  /** Undefined when the text had none (iptables-save without -c). */
  readonly counters?: Counters
}

export interface Table {
  readonly name: TableName | (string & {})
  readonly chains: readonly Chain[]
  /** In the order of the text; rules of one chain are in evaluation order. */
  readonly rules: readonly Rule[]
}

export interface RuleSet {
  readonly tables: readonly Table[]
}
