import { chainEnd } from './journey.ts'
import type { TraceEvent } from './trace-event.ts'

type ChainEnd = ReturnType<typeof chainEnd>

/** The chains that a packet is in: the built-in one first, then whoever was jumped to. */
export class OpenChains {
  readonly #base: string
  #chains: readonly string[]

  constructor(base: string) {
    this.#base = base
    this.#chains = [base]
  }

  /** The chains that the packet has left at their end when this event comes, the innermost first. */
  follow({ type, chain, verdict }: Pick<TraceEvent, 'type' | 'chain' | 'verdict'>): ChainEnd[] {
    const open = this.#chains
    // Behind a goto the built-in chain is not come back to; its policy decides all the same.
    const kept = type === 'policy' ? Number(open[0] === chain) : open.lastIndexOf(chain) + 1
    // Where events were lost nobody knows how the packet came into this chain.
    const isKnown = type === 'policy' || kept > 0
    this.#chains = entered(isKnown ? open.slice(0, kept) : [chain], verdict)
    if (!isKnown) return []
    return open
      .slice(kept)
      .map((name, i) => chainEnd(name, open[kept + i - 1] ?? this.#base))
      .reverse()
  }
}

/** The chains behind a rule of the last one. */
function entered(chains: readonly string[], verdict: TraceEvent['verdict']): readonly string[] {
  if (verdict === 'RETURN') return chains.slice(0, -1)
  if (typeof verdict === 'string') return chains
  return 'jump' in verdict ? [...chains, verdict.jump] : [...chains.slice(0, -1), verdict.goto]
}
