import type { Hop, HopPacket } from './journey.ts'
import type { Chance } from './walk-chance.ts'

/** What a walk comes to: every way that the packet may take, the likeliest first. */
export interface Walk {
  /** At least one. Their chances add up to 1 within each set of answers to what is not known. */
  readonly paths: readonly WalkPath[]
  /** What the answer rests on besides the rule set. */
  readonly dependsOn: readonly Fact[]
  /** What was left out or cannot be trusted, each in a sentence. */
  readonly notes: readonly string[]
}

export interface WalkPath {
  readonly steps: readonly WalkStep[]
  readonly outcome: Outcome
  /** The packet as it leaves the walk. */
  readonly packet: HopPacket
  /** The product of the known chances on the way. */
  readonly chance: Chance
  /** True where a choice on the way has no known chance: then `chance` holds only if `choices` come out so. */
  readonly isConditional: boolean
  /** In the order in which they were met. */
  readonly choices: readonly Choice[]
}

export type WalkStep = RuleHop | PolicyHop | TranslationHop | ChainEnd | RoutingStep

type Skipping = Required<Pick<Hop, 'skipped' | 'skippedCount'>>
type HopWithSkips = Omit<Hop, keyof Skipping> & Skipping

/** A rule that matched. Its hop has the shape of a journey's; `node` is empty where the context names none. */
export interface RuleHop extends HopWithSkips {
  readonly kind: 'rule'
  /** From 1 within its chain. */
  readonly rule: number
  /** The target's or chain's name; absent for a rule that only counts. */
  readonly target?: string
  readonly effects: readonly Effect[]
}

/** The end of a built-in chain. */
export interface PolicyHop extends HopWithSkips {
  readonly kind: 'policy'
  readonly rule: null
}

/** Conntrack rewrites the header as was decided when the connection began; the nat table is not asked. */
export interface TranslationHop extends Hop {
  readonly kind: 'translation'
  readonly table: 'conntrack'
  readonly rule: null
}

/** The end of a chain without a verdict: back to the caller. */
export interface ChainEnd extends HopWithSkips {
  readonly kind: 'end'
  readonly rule: null
}

/** Between the hooks. */
export interface RoutingStep {
  readonly kind: 'routing'
  readonly node: string
  readonly text: string
  readonly packet: HopPacket
}

export type Effect =
  | { readonly kind: 'mark' | 'connmark'; readonly from: number; readonly to: number }
  | { readonly kind: 'source' | 'destination'; readonly from: string; readonly to: string }
  | { readonly kind: 'note'; readonly text: string }

/** One answer that the path takes to what rule set and packet leave open. */
export interface Choice {
  /** `the draw of 1/3 in nat KUBE-SVC-… rule 2` */
  readonly question: string
  readonly answer: string
  readonly chance?: Chance
}

export interface RulePlace {
  readonly table: string
  readonly chain: string
  /** Null for the policy. */
  readonly rule: number | null
}

export type Outcome =
  /** To the node itself: a socket of the node, if one listens. */
  | { readonly kind: 'delivered' }
  | { readonly kind: 'forwarded'; readonly dev?: string; readonly via?: string }
  | { readonly kind: 'dropped'; readonly by: RulePlace }
  | { readonly kind: 'rejected'; readonly by: RulePlace; readonly answer: string }
  | { readonly kind: 'queued'; readonly by: RulePlace }
  /** Ended by the kernel outside of any rule. */
  | { readonly kind: 'unroutable'; readonly why: string }
  /** No rule sees it: switched by a bridge without br_netfilter. */
  | { readonly kind: 'switched' }
  | { readonly kind: 'unknown'; readonly why: string }

/** Something outside the rule set that a walk rests on. */
export interface Fact {
  readonly kind:
    | 'local-addresses'
    | 'interface-addresses'
    | 'routing'
    | 'sysctl'
    | 'conntrack'
    | 'ipset'
    | 'recent-list'
    | 'bridge'
    | 'rate'
    | 'packet'
    | 'other'
  readonly text: string
}

/** The steps that a journey of this path has as hops. */
export function hopsOf(path: Pick<WalkPath, 'steps'>): Exclude<WalkStep, RoutingStep>[] {
  return path.steps.filter((step) => step.kind !== 'routing')
}
