/** Counters travel as decimal strings: they are 64-bit, which JSON numbers are not. */
export interface WireCounters {
  readonly packets: string
  readonly bytes: string
}

export interface ChainListing {
  readonly table: string
  readonly chain: string
  /** Of a built-in chain. */
  readonly policy?: string
  /** Policy counters of a built-in chain. */
  readonly counters?: WireCounters
  /** How many rules jump here; for the heading of a user-defined chain. */
  readonly references: number
  /** In evaluation order; `text` is the rule as iptables-save writes it after `-A CHAIN`. */
  readonly rules: readonly { readonly text: string; readonly counters: WireCounters }[]
}

export interface CounterSample {
  readonly subscription: number
  readonly target: string
  readonly table: string
  /** Milliseconds of the lab's monotonic clock. */
  readonly atMs: number
  readonly chains: readonly ChainListing[]
}
