import type { Hook } from '../iptables/check-jumps.ts'
import { isBuiltinTarget } from '../iptables/check-jumps.ts'
import type { Table } from '../iptables/rule-set.ts'
import { chainEnd, type HopPacket, type Skip } from './journey.ts'
import type { MatchEffect, Question } from './match-outcome.ts'
import { matchRule, type ReadyRule, type RuleOutcome, readyRules } from './match-rule.ts'
import { fraction, times, toChance } from './walk-chance.ts'
import type { NodeFacts } from './walk-context.ts'
import { headerOf, type LivePacket } from './walk-packet.ts'
import type { Effect, RuleHop, RulePlace } from './walk-path.ts'
import { addStep, answered, append, type Chain, end, settle, toArray, type WalkState } from './walk-state.ts'
import { applyTarget, type NatBinding } from './walk-target.ts'

/** A question as a chooser of `walkRuleset` gets it. */
export interface OpenQuestion extends Question {
  /** Null rule: routing or the bridge asks. */
  readonly at: RulePlace | undefined
}

/** What keeps a walk small: see WalkOptions. */
export interface WalkLimits {
  readonly maxPaths: number
  readonly maxSkips: number
  readonly choose: ((question: OpenQuestion) => boolean | undefined) | undefined
}

/** How a chain ended for one alternative. */
interface ChainResult {
  readonly state: WalkState
  /** `over`: the state has its outcome. `return`: on to the caller, or the policy. */
  readonly verdict: 'accept' | 'return' | 'over'
  readonly skips: Chain<Skip> | undefined
}

/** Where a chain is being walked. */
interface TablePlace {
  readonly hook: Hook
  readonly table: Table
  /** 0 in the built-in chain. */
  readonly depth: number
  /** The chain that the packet goes back to at the end of this one. */
  readonly caller: string
}

/** nf_tables follows so many jumps into one another; iptables-restore refuses more. */
const DEEPEST = 16

/** Walks alternatives through the chains of a table, and keeps their number in bounds. */
export class ChainWalker {
  readonly facts: NodeFacts
  readonly #limits: WalkLimits
  readonly #node: string
  readonly #notes = new Set<string>()
  /** Alternatives that are on their way or at their end. */
  #paths = 1

  constructor(facts: NodeFacts, limits: WalkLimits) {
    this.facts = facts
    this.#limits = limits
    this.#node = facts.context.node ?? ''
  }

  get notes(): readonly string[] {
    return [...this.#notes]
  }

  get node(): string {
    return this.#node
  }

  note(text: string): void {
    this.#notes.add(text)
  }

  /** The alternatives that a question makes: one where its answer is settled or chosen. */
  ask(state: WalkState, question: Question, at?: RulePlace): { state: WalkState; holds: boolean }[] {
    const known = question.key === undefined ? undefined : state.answers.get(question.key)
    if (known !== undefined) return [{ state, holds: known }]
    const chosen = this.#limits.choose?.({ ...question, at })
    const answers = chosen === undefined ? [true, false] : [chosen]
    this.#paths += answers.length - 1
    return answers.map((holds) => ({ state: answered(state, question, holds), holds }))
  }

  /** One table at one hook; alternatives that end here carry their outcome. */
  walkTable(start: WalkState, hook: Hook, table: Table): WalkState[] {
    const base = table.chains.find(({ name }) => name === hook)
    if (!base) return [start]
    const place = { hook, table, depth: 0, caller: hook }
    return this.#walkChain(start, place, hook).map(({ state, verdict, skips }) => {
      if (verdict !== 'return') return state
      const policy = base.policy ?? 'ACCEPT'
      const hopped = addStep(state, {
        kind: 'policy',
        ...this.#at(place, hook, state),
        rule: null,
        text: `-P ${hook} ${policy}`,
        verdict: policy,
        ...this.#skipping(skips),
      })
      if (policy === 'DROP')
        return end(hopped, { kind: 'dropped', by: { table: table.name, chain: hook, rule: null } })
      if (policy === 'QUEUE')
        return end(hopped, { kind: 'queued', by: { table: table.name, chain: hook, rule: null } })
      return hopped
    })
  }

  #walkChain(start: WalkState, place: TablePlace, chain: string): ChainResult[] {
    const rules = readyRules(place.table, chain)
    if (!rules) return [unknown(start, `table ${place.table.name} has no chain ${chain}`)]
    if (place.depth > DEEPEST) return [unknown(start, `jumps lead more than ${DEEPEST} chains deep: a loop?`)]
    const results: ChainResult[] = []
    const work: Waiting[] = [{ state: start, from: 0, skips: undefined }]
    for (let waiting = work.pop(); waiting; waiting = work.pop()) {
      const { state, from } = waiting
      let { skips } = waiting
      let at = from
      let outcome: RuleOutcome | undefined
      for (; at < rules.length; at++) {
        outcome = matchRule(rules[at] as ReadyRule, state.packet, this.facts, {
          hook: place.hook,
          table: place.table.name,
        })
        if (outcome.kind === 'match') break
        skips = append(skips, skipOf(rules[at] as ReadyRule, outcome.why))
      }
      const rule = rules[at]
      if (!rule || outcome?.kind !== 'match') {
        results.push(this.#endOf(state, place, chain, skips))
        continue
      }
      const { questions, effects } = outcome
      for (const branch of this.#askAll(state, questions, {
        table: place.table.name,
        chain,
        rule: rule.number,
      })) {
        if (branch.isCut) {
          results.push(unknown(branch.state, this.#fullText()))
        } else if (branch.why !== undefined) {
          work.push({ state: branch.state, from: at + 1, skips: append(skips, skipOf(rule, branch.why)) })
        } else {
          const { finished, continuing } = this.#apply(branch.state, place, chain, rule, skips, effects)
          results.push(...finished)
          for (const next of continuing) work.push({ state: next, from: at + 1, skips: undefined })
        }
      }
    }
    return results
  }

  /** All questions must be answered as the rule wants; `why` says which was not. */
  #askAll(state: WalkState, questions: readonly Question[], at: RulePlace): Branch[] {
    const missed: Branch[] = []
    let open: WalkState[] = [state]
    for (const question of questions) {
      const next: WalkState[] = []
      for (const before of open) {
        const isFull = this.#paths >= this.#limits.maxPaths
        const branches = this.ask(before, question, at)
        if (isFull && branches.length > 1) {
          missed.push({ state: before, isCut: true })
          continue
        }
        for (const { state: after, holds } of branches) {
          if (holds !== question.negated) next.push(after)
          else missed.push({ state: after, isCut: false, why: holds ? question.fact : question.denial })
        }
      }
      open = next
    }
    return [...missed, ...open.map((matched) => ({ state: matched, isCut: false }))]
  }

  #apply(
    before: WalkState,
    place: TablePlace,
    chain: string,
    rule: ReadyRule,
    skips: Chain<Skip> | undefined,
    matchEffects: readonly MatchEffect[],
  ): { finished: ChainResult[]; continuing: WalkState[] } {
    const state = matchEffects.reduce(
      (settled, { settles }) => (settles === undefined ? settled : settle(settled, settles, true)),
      before,
    )
    const notes = matchEffects.map(({ text }): Effect => ({ kind: 'note', text }))
    const by = { table: place.table.name, chain, rule: rule.number }
    const { target } = rule
    const hop = (verdict: string, effects: readonly Effect[] = [], becomes?: HopPacket): RuleHop => ({
      kind: 'rule',
      ...this.#at(place, chain, state),
      rule: rule.number,
      text: rule.rule.text,
      verdict,
      ...(target ? { target: target.name } : {}),
      effects: [...notes, ...effects],
      ...(becomes ? { becomes } : {}),
      ...this.#skipping(skips),
    })
    const finish = (verdict: ChainResult['verdict'], next: WalkState) => ({
      finished: [{ state: next, verdict, skips: undefined }],
      continuing: [],
    })
    const isChain = target && place.table.chains.some(({ name }) => name === target.name)
    if (target && (isChain || !isBuiltinTarget(target.name))) {
      const entered = addStep(state, hop(target.goto ? 'GOTO' : 'JUMP'))
      // A chain entered by goto goes back past this one.
      const inner = { ...place, depth: place.depth + 1, caller: target.goto ? place.caller : chain }
      const ways = this.#walkChain(entered, inner, target.name)
      if (target.goto) return { finished: ways, continuing: [] }
      return {
        finished: ways.filter(({ verdict }) => verdict !== 'return'),
        continuing: ways.flatMap(({ verdict, state: next }) => (verdict === 'return' ? [next] : [])),
      }
    }
    const family = state.packet.dst.bits === 32 ? 'ipv4' : 'ipv6'
    const result = applyTarget(target, state.packet, this.facts, { hook: place.hook, family })
    switch (result.kind) {
      case 'continue': {
        const { packet, effects } = result
        const isChanged = packet.mark !== state.packet.mark
        const name = target && SHOWN_TARGETS.has(target.name) ? target.name : 'CONTINUE'
        const step = hop(name, effects, isChanged ? headerOf(packet) : undefined)
        return { finished: [], continuing: [addStep({ ...state, packet }, step)] }
      }
      case 'accept':
        return finish('accept', addStep(state, hop('ACCEPT')))
      case 'return':
        return finish('return', addStep(state, hop('RETURN')))
      case 'drop':
        return finish('over', end(addStep(state, hop('DROP')), { kind: 'dropped', by }))
      case 'queue':
        return finish('over', end(addStep(state, hop('QUEUE')), { kind: 'queued', by }))
      case 'reject':
        return finish(
          'over',
          end(addStep(state, hop('REJECT')), { kind: 'rejected', by, answer: result.answer }),
        )
      case 'nat':
        return { finished: this.#bind(state, result.bindings, result.effects, hop, by), continuing: [] }
      case 'unknown':
        return finish('over', end(addStep(state, hop('CONTINUE')), { kind: 'unknown', why: result.why }))
      default:
        return result satisfies never
    }
  }

  #bind(
    state: WalkState,
    bindings: readonly NatBinding[],
    effects: readonly Effect[],
    hop: (verdict: string, effects: readonly Effect[], becomes: HopPacket) => RuleHop,
    at: RulePlace,
  ): ChainResult[] {
    this.#paths += bindings.length - 1
    if (this.#paths > this.#limits.maxPaths && bindings.length > 1) return [unknown(state, this.#fullText())]
    const chance = fraction(1n, BigInt(bindings.length))
    return bindings.map((binding, i): ChainResult => {
      const effect = effects[i]
      const packet = boundPacket(state.packet, binding)
      const chosen: WalkState =
        bindings.length === 1
          ? state
          : {
              ...state,
              chance: times(state.chance, chance),
              choices: append(state.choices, {
                question: `which address ${at.table} ${at.chain} rule ${at.rule ?? ''} takes`,
                answer: binding.address?.text ?? '',
                chance: toChance(chance),
              }),
            }
      const verdict = SHOWN_NAT[binding.side]
      const step = hop(verdict, effect ? [effect] : [], headerOf(packet))
      const named = { ...step, verdict: step.target ?? verdict }
      return { state: { ...addStep(chosen, named), binding }, verdict: 'accept', skips: undefined }
    })
  }

  #endOf(state: WalkState, place: TablePlace, chain: string, skips: Chain<Skip> | undefined): ChainResult {
    // The policy's hop tells what a built-in chain skipped.
    if (place.depth === 0) return { state, verdict: 'return', skips }
    const step = {
      kind: 'end',
      ...this.#at(place, chain, state),
      ...chainEnd(chain, place.caller),
      ...this.#skipping(skips),
    } as const
    return { state: addStep(state, step), verdict: 'return', skips: undefined }
  }

  #fullText(): string {
    const text = `not followed: the walk has ${this.#limits.maxPaths} alternatives already`
    this.note(`more than ${this.#limits.maxPaths} alternatives: the rest is not followed`)
    return text
  }

  #at(place: TablePlace, chain: string, state: WalkState) {
    return {
      node: this.node,
      hook: place.hook,
      table: place.table.name,
      chain,
      packet: headerOf(state.packet),
    }
  }

  #skipping(skips: Chain<Skip> | undefined): { skipped: readonly Skip[]; skippedCount: number } {
    return { skipped: toArray(skips, this.#limits.maxSkips), skippedCount: skips?.length ?? 0 }
  }
}

/** One way of answering a rule's questions; with `why`, the rule does not match. */
interface Branch {
  readonly state: WalkState
  readonly isCut: boolean
  readonly why?: string
}

interface Waiting {
  readonly state: WalkState
  /** Place in the chain, from 0. */
  readonly from: number
  readonly skips: Chain<Skip> | undefined
}

const SHOWN_NAT = { source: 'SNAT', destination: 'DNAT' } as const

/** The targets that journeys name instead of CONTINUE. */
const SHOWN_TARGETS = new Set([
  'MARK',
  'CONNMARK',
  'LOG',
  'NFLOG',
  'NOTRACK',
  'CT',
  'TPROXY',
  'TCPMSS',
  'TRACE',
])

function skipOf({ number, rule }: ReadyRule, why: string): Skip {
  return { rule: number, text: rule.text, why }
}

function unknown(state: WalkState, why: string): ChainResult {
  return { state: end(state, { kind: 'unknown', why }), verdict: 'over', skips: undefined }
}

/** The packet as conntrack rewrites it behind the nat table. */
export function boundPacket(packet: LivePacket, { side, address, port }: NatBinding): LivePacket {
  if (side === 'source') {
    const isChanged = address?.value !== packet.src?.value || port !== packet.sport
    return { ...packet, src: address, sport: port, snat: isChanged || packet.snat }
  }
  if (!address) return packet
  const isChanged = address.value !== packet.dst.value || port !== packet.dport
  return { ...packet, dst: address, dport: port, dnat: isChanged || packet.dnat }
}
