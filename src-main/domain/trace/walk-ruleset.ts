import { type Hook, tablesAt } from '../iptables/check-jumps.ts'
import { type RuleSet, tableNamed } from '../iptables/rule-set.ts'
import { localKey, passesReversePath } from './match-node.ts'
import type { Question } from './match-outcome.ts'
import { isLoopback, parseAddress } from './walk-address.ts'
import { boundPacket, ChainWalker, type OpenQuestion } from './walk-chain.ts'
import { type Fraction, plus, toChance } from './walk-chance.ts'
import { NodeFacts, type WalkContext } from './walk-context.ts'
import {
  type Endpoint,
  headerOf,
  type LivePacket,
  startPacket,
  stateOf,
  type WalkPacket,
} from './walk-packet.ts'
import type { Choice, Outcome, Walk, WalkPath, WalkStep } from './walk-path.ts'
import { addStep, end, startState, toArray, type WalkState } from './walk-state.ts'
import { endText } from './walk-target.ts'

export interface WalkOptions {
  /** 256 unless said otherwise; what would be more is cut, with a note. */
  readonly maxPaths?: number
  /** Skipped rules told with each hop, 1000 unless said otherwise. */
  readonly maxSkips?: number
  /** Fixes answers, so that one path is followed. Undefined for a question: both ways. */
  readonly choose?: (question: OpenQuestion) => boolean | undefined
}

/**
 * The hops that a packet takes through one node, worked out from the rule set alone: hook by hook in the kernel's order,
 * with each alternative where chance, the past or something unknown decides. Nothing is sent.
 */
export function walkRuleset(
  ruleSet: RuleSet,
  packet: WalkPacket,
  context: WalkContext,
  options: WalkOptions = {},
): Walk {
  const facts = new NodeFacts(context)
  const walker = new ChainWalker(facts, {
    maxPaths: Math.max(1, options.maxPaths ?? 256),
    maxSkips: options.maxSkips ?? 1000,
    choose: options.choose,
  })
  const live = startPacket(packet)
  if (typeof live === 'string') throw new RangeError(live)
  const states = new NodeWalk(ruleSet, packet, walker).walk(live)
  return { paths: mergePaths(states), dependsOn: facts.noted(), notes: walker.notes }
}

/** The end of what one alternative did, or a step on its way. */
type Advance = (state: WalkState) => WalkState[]

class NodeWalk {
  readonly #ruleSet: RuleSet
  readonly #packet: WalkPacket
  readonly #walker: ChainWalker
  readonly #facts: NodeFacts

  constructor(ruleSet: RuleSet, packet: WalkPacket, walker: ChainWalker) {
    this.#ruleSet = ruleSet
    this.#packet = packet
    this.#walker = walker
    this.#facts = walker.facts
  }

  walk(live: LivePacket): WalkState[] {
    const { connection, ctState } = this.#packet
    const isKnown = connection !== undefined || ctState === 'established'
    const start = startState(live, isKnown)
    if (isKnown && !connection) {
      this.#facts.note('conntrack', 'how conntrack translates the packets of this connection')
      this.#walker.note('the connection is taken not to be translated, as nothing says how')
    }
    if (ctState === undefined && !connection)
      this.#facts.note('conntrack', 'conntrack has no entry yet for this flow')
    if (live.in === undefined) return this.#send(start)
    if (this.#packet.isBridged) return this.#switch(start)
    return this.#receive(start)
  }

  #hook(states: readonly WalkState[], hook: Hook): WalkState[] {
    let current = [...states]
    for (const name of tablesAt(hook)) {
      if (name === 'mangle' && (hook === 'PREROUTING' || hook === 'OUTPUT'))
        current = each(current, (state) => [this.#track(state)])
      const table = tableNamed(this.#ruleSet, name)
      if (name === 'nat') current = each(current, (state) => this.#nat(state, hook))
      else if (table)
        current = each(current, (state) => {
          const after = this.#walker.walkTable(state, hook, table)
          return hook === 'OUTPUT' && name === 'mangle'
            ? each(after, (it) => this.#reroute(state, it))
            : after
        })
    }
    return current
  }

  /** conntrack looks behind raw. What came back over lo keeps what it has. */
  #track(state: WalkState): WalkState {
    const { packet } = state
    if (packet.ctState !== undefined) return state
    return { ...state, packet: { ...packet, ctState: stateOf(this.#packet) } }
  }

  #nat(state: WalkState, hook: Hook): WalkState[] {
    const side = hook === 'PREROUTING' || hook === 'OUTPUT' ? 'destination' : 'source'
    const { packet } = state
    if (packet.ctState === 'untracked' || packet.ctState === 'invalid') return [state]
    const isSettled = side === 'destination' ? state.isDestinationSettled : state.isSourceSettled
    const isIcmpError = packet.ctState === 'related' && /^(ipv6-)?icmp/.test(packet.protocol)
    if (isSettled || isIcmpError) return this.#translateKnown(state, hook, side)
    const table = tableNamed(this.#ruleSet, 'nat')
    const settled: WalkState =
      side === 'destination' ? { ...state, isDestinationSettled: true } : { ...state, isSourceSettled: true }
    if (!table) return [settled]
    return each(this.#walker.walkTable(settled, hook, table), (after) => {
      const bound = after.binding
        ? { ...after, binding: undefined, packet: boundPacket(after.packet, after.binding) }
        : after
      return hook === 'OUTPUT' ? this.#reroute(after, bound) : [bound]
    })
  }

  /** A later packet is translated as the first was. */
  #translateKnown(state: WalkState, hook: Hook, side: 'source' | 'destination'): WalkState[] {
    const wanted = this.#packet.connection?.[side]
    const { packet } = state
    if (!wanted) return [state]
    const translated = withEndpoint(packet, side, wanted)
    if (!translated) return [state]
    const text = `conntrack does what was decided when the connection began: the ${side} becomes ${endText(
      side === 'source' ? translated.src : translated.dst,
      side === 'source' ? translated.sport : translated.dport,
    )}`
    const step: WalkStep = {
      kind: 'translation',
      node: this.#walker.node,
      hook,
      table: 'conntrack',
      chain: hook,
      rule: null,
      text,
      verdict: side === 'destination' ? 'DNAT' : 'SNAT',
      packet: headerOf(packet),
      becomes: headerOf(translated),
    }
    const moved = addStep({ ...state, packet: translated }, step)
    return hook === 'OUTPUT' ? this.#reroute(state, moved) : [moved]
  }

  #receive(start: WalkState): WalkState[] {
    return each(this.#hook([start], 'PREROUTING'), (state) => this.#routeIn(state))
  }

  /** A bridge hands frames between its ports to iptables only with br_netfilter. */
  #switch(start: WalkState): WalkState[] {
    const isCalled = this.#sysctl('bridgeNfCallIptables', {
      key: 'sysctl bridge-nf-call-iptables',
      fact: 'net.bridge.bridge-nf-call-iptables is 1',
      denial: 'net.bridge.bridge-nf-call-iptables is 0',
    })
    return each(isCalled(start), (state) => {
      if (!holdsIn(state, 'sysctl bridge-nf-call-iptables')) return [end(state, { kind: 'switched' })]
      const before = state.packet.dst.value
      return each(this.#hook([state], 'PREROUTING'), (after) => {
        if (after.packet.dst.value !== before) return this.#routeIn(after)
        const packet = { ...after.packet, out: after.packet.in, isRouted: true }
        const switched = this.#routed(
          { ...after, packet },
          `to another port of the bridge ${packet.in ?? ''}`,
        )
        return this.#forwardTo(switched, packet.in, undefined)
      })
    })
  }

  /** Where the way goes on behind PREROUTING: to the node, or through it. */
  #routeIn(state: WalkState): WalkState[] {
    const { packet } = state
    const martian = this.#refuseMartians(state)
    return each(martian, (sane) =>
      each(this.#isLocal(sane, packet.dst.text), (known) => {
        const type = this.#facts.typeOf(packet.dst)
        if (type === 'LOCAL' || type === 'BROADCAST' || holdsIn(known, localKey(packet.dst.text)))
          return this.#deliver(this.#routed(known, 'to this node'))
        if (type === 'MULTICAST')
          return [
            end(known, { kind: 'unknown', why: 'the way of multicast packets is not known to this walk' }),
          ]
        return this.#forward(known)
      }),
    )
  }

  #refuseMartians(state: WalkState): WalkState[] {
    const { packet } = state
    const checks: Advance[] = []
    const loopback = isLoopback(packet.dst)
      ? packet.dst
      : packet.src && isLoopback(packet.src)
        ? packet.src
        : undefined
    if (loopback && packet.dst.bits === 32) {
      const key = 'sysctl route_localnet'
      const ask = this.#sysctl('routeLocalnet', {
        key,
        fact: `route_localnet is on for ${packet.in ?? ''}`,
        denial: `route_localnet is off for ${packet.in ?? ''}`,
      })
      checks.push((before) =>
        each(ask(before), (after) =>
          holdsIn(after, key)
            ? [after]
            : [
                end(after, {
                  kind: 'unroutable',
                  why: `${loopback.text} may not come from outside: route_localnet is off`,
                }),
              ],
        ),
      )
    }
    if (packet.src && !isLoopback(packet.src) && packet.dst.bits === 32)
      checks.push((before) => this.#checkSource(before))
    return checks.reduce((states, check) => each(states, check), [state])
  }

  /** The kernel refuses senders that bear the node's own address, and with rp_filter those whose reply goes elsewhere. */
  #checkSource(state: WalkState): WalkState[] {
    const { packet } = state
    const { sysctls } = this.#facts.context
    const source = packet.src
    if (!source) return [state]
    if (this.#facts.typeOf(source) === 'LOCAL' && !sysctls?.acceptLocal)
      return [
        end(state, {
          kind: 'unroutable',
          why: `the source ${source.text} is the node's own, but comes from outside`,
        }),
      ]
    if (!sysctls?.rpFilter) {
      if (sysctls?.rpFilter === undefined)
        this.#facts.note('sysctl', 'rp_filter lets the source pass (taken so)')
      return [state]
    }
    const passes = passesReversePath(packet, this.#facts, {
      isLoose: sysctls.rpFilter === 2,
      acceptsLocal: sysctls.acceptLocal ?? false,
    })
    if (passes !== false) return [state]
    this.#facts.note('sysctl', `rp_filter is ${sysctls.rpFilter}`)
    return [
      end(state, {
        kind: 'unroutable',
        why: `rp_filter: a reply to ${source.text} would not leave by ${packet.in ?? ''}`,
      }),
    ]
  }

  #deliver(state: WalkState): WalkState[] {
    return each(this.#hook([state], 'INPUT'), (after) => [end(after, { kind: 'delivered' })])
  }

  #forward(state: WalkState): WalkState[] {
    const { packet } = state
    const { sysctls } = this.#facts.context
    if (sysctls?.ipForward === false)
      return [end(state, { kind: 'unroutable', why: 'the node does not forward: ip_forward is 0' })]
    if (sysctls?.ipForward === undefined) this.#facts.note('sysctl', 'ip_forward is 1 (taken so)')
    const route = this.#facts.route({ dst: packet.dst, src: packet.src, in: packet.in, mark: packet.mark })
    if (route.kind === 'local') return this.#deliver(this.#routed(state, 'to this node'))
    if (route.kind === 'unreachable')
      return [end(state, { kind: 'unroutable', why: route.why ?? `no route leads to ${packet.dst.text}` })]
    if (packet.ttl !== undefined && packet.ttl <= 1)
      return [
        end(state, {
          kind: 'unroutable',
          why: 'the TTL is used up: the node answers with ICMP time exceeded',
        }),
      ]
    const dev = route.kind === 'forward' ? route.dev : undefined
    const via = route.kind === 'forward' ? route.via : undefined
    const ttl = packet.ttl === undefined ? undefined : packet.ttl - 1
    const out: LivePacket = { ...packet, ttl, out: dev, isRouted: true }
    if (dev !== undefined && dev === packet.in && out.original?.src?.value === packet.dst.value)
      this.#facts.note(
        'bridge',
        `the packet goes back to its sender by ${dev}: a bridge port must have hairpin mode on`,
      )
    const by =
      dev === undefined
        ? 'by an interface that is not known'
        : `by ${dev}${via === undefined ? '' : ` via ${via}`}`
    return this.#forwardTo(this.#routed({ ...state, packet: out }, `to ${packet.dst.text} ${by}`), dev, via)
  }

  #forwardTo(state: WalkState, dev: string | undefined, via: string | undefined): WalkState[] {
    return each(this.#hook([state], 'FORWARD'), (after) =>
      each(this.#postroute(after), (left) => [end(left, forwarded(dev, via))]),
    )
  }

  #postroute(state: WalkState): WalkState[] {
    return this.#hook([state], 'POSTROUTING')
  }

  #send(start: WalkState): WalkState[] {
    return each(this.#routeOut(start), (routed) =>
      each(this.#hook([routed], 'OUTPUT'), (state) =>
        each(this.#postroute(withNewWay(state)), (left) => {
          const { out } = left.packet
          if (out !== 'lo') return [end(left, this.#sentTo(left.packet))]
          const packet = { ...left.packet, in: 'lo', out: undefined, isRouted: false }
          const looped = addStep(
            { ...left, packet },
            {
              kind: 'routing',
              node: this.#walker.node,
              text: 'over lo back to this node',
              packet: headerOf(packet),
            },
          )
          return each(this.#hook([looped], 'PREROUTING'), (back) => this.#deliver(back))
        }),
      ),
    )
  }

  #sentTo(packet: LivePacket): Outcome {
    const route = this.#facts.route({ dst: packet.dst, mark: packet.mark })
    return forwarded(packet.out, route.kind === 'forward' ? route.via : undefined)
  }

  /** The way out of a packet that the node sends itself. */
  #routeOut(state: WalkState): WalkState[] {
    const { packet } = state
    return each(this.#isLocal(state, packet.dst.text), (known) => {
      if (this.#facts.typeOf(packet.dst) === 'LOCAL' || holdsIn(known, localKey(packet.dst.text)))
        return [
          this.#routed(
            { ...known, packet: { ...packet, out: 'lo', isRouted: true } },
            'to this node, over lo',
          ),
        ]
      const route = this.#facts.route({ dst: packet.dst, src: packet.src, mark: packet.mark })
      if (route.kind === 'unreachable')
        return [end(known, { kind: 'unroutable', why: route.why ?? `no route leads to ${packet.dst.text}` })]
      const dev = route.kind === 'local' ? 'lo' : route.kind === 'forward' ? route.dev : undefined
      const out = { ...packet, out: dev, isRouted: true }
      const by = dev === undefined ? 'by an interface that is not known' : `by ${dev}`
      const moved = this.#routed({ ...known, packet: out }, `to ${packet.dst.text} ${by}`)
      if (!packet.src || !isLoopback(packet.src) || dev === 'lo' || packet.dst.bits !== 32) return [moved]
      const key = 'sysctl route_localnet'
      const ask = this.#sysctl('routeLocalnet', {
        key,
        fact: `route_localnet is on for ${dev ?? 'the outgoing interface'}`,
        denial: `route_localnet is off for ${dev ?? 'the outgoing interface'}`,
      })
      const why = `${packet.src.text} may not leave the node: route_localnet is off`
      return each(ask(moved), (after) =>
        holdsIn(after, key) ? [after] : [end(after, { kind: 'unroutable', why })],
      )
    })
  }

  /** mangle and nat may change what the route of the node's own packets hangs on. */
  #reroute(before: WalkState, after: WalkState): WalkState[] {
    const [from, to] = [before.packet, after.packet]
    const isSame =
      from.dst.value === to.dst.value && from.src?.value === to.src?.value && from.mark === to.mark
    if (isSame) return [after]
    return each(this.#routeOut(after), (routed) => {
      const packet = { ...routed.packet, out: from.out }
      return [{ ...routed, packet, rerouted: { out: routed.packet.out } }]
    })
  }

  #routed(state: WalkState, text: string): WalkState {
    const step: WalkStep = {
      kind: 'routing',
      node: this.#walker.node,
      text,
      packet: headerOf(state.packet),
    }
    return addStep(state, step)
  }

  /** Splits where nobody knows the node's addresses; `holdsIn` reads the answer. */
  #isLocal(state: WalkState, address: string): WalkState[] {
    const parsed = parseAddress(address)
    if (!parsed || this.#facts.typeOf(parsed) !== undefined) return [state]
    const question: Question = {
      key: localKey(address),
      fact: `${address} is one of the node's own addresses`,
      denial: `${address} is not one of the node's own addresses`,
      negated: false,
    }
    return this.#walker.ask(state, question).map((branch) => branch.state)
  }

  #sysctl(
    name: 'routeLocalnet' | 'bridgeNfCallIptables',
    question: { readonly key: string; readonly fact: string; readonly denial: string },
  ): Advance {
    return (state) => {
      const value = this.#facts.context.sysctls?.[name]
      if (value === undefined) {
        this.#facts.note('sysctl', `whether ${question.fact}`)
        return this.#walker.ask(state, { ...question, negated: false }).map((branch) => branch.state)
      }
      this.#facts.note('sysctl', value ? question.fact : question.denial)
      return [{ ...state, answers: new Map(state.answers).set(question.key, value) }]
    }
  }
}

function withNewWay(state: WalkState): WalkState {
  if (!state.rerouted) return state
  return { ...state, rerouted: undefined, packet: { ...state.packet, out: state.rerouted.out } }
}

function holdsIn(state: WalkState, key: string): boolean {
  return state.answers.get(key) === true
}

/** Alternatives whose way has ended stay as they are. */
function each(states: readonly WalkState[], advance: Advance): WalkState[] {
  return states.flatMap((state) => (state.outcome ? [state] : advance(state)))
}

function forwarded(dev: string | undefined, via: string | undefined): Outcome {
  return {
    kind: 'forwarded',
    ...(dev === undefined ? {} : { dev }),
    ...(via === undefined ? {} : { via }),
  }
}

function withEndpoint(
  packet: LivePacket,
  side: 'source' | 'destination',
  { address, port }: Endpoint,
): LivePacket | undefined {
  const parsed = parseAddress(address)
  if (!parsed) return undefined
  return side === 'source'
    ? { ...packet, src: parsed, sport: port ?? packet.sport, snat: true }
    : { ...packet, dst: parsed, dport: port ?? packet.dport, dnat: true }
}

/**
 * One path for alternatives with the same steps and end; their chances add up. Alternatives that answer something unknown
 * in different ways stay apart: nobody can say how much of each there is.
 */
function mergePaths(states: readonly WalkState[]): WalkPath[] {
  interface Merged {
    readonly state: WalkState
    readonly steps: readonly WalkStep[]
    readonly choices: readonly Choice[]
    readonly chance: Fraction
  }
  const merged = new Map<string, Merged>()
  for (const state of states) {
    const steps = toArray(state.steps)
    const choices = toArray(state.choices)
    const given = choices.filter(({ chance }) => chance === undefined)
    const key = JSON.stringify([steps.map(stepKey), state.outcome, headerOf(state.packet), given])
    const known = merged.get(key)
    merged.set(
      key,
      known
        ? { ...known, choices: given, chance: plus(known.chance, state.chance) }
        : { state, steps, choices, chance: state.chance },
    )
  }
  return [...merged.values()]
    .map(({ state, steps, choices, chance }) => ({
      steps,
      outcome: state.outcome ?? ({ kind: 'unknown', why: 'the walk came to no end' } as const),
      packet: headerOf(state.packet),
      chance: toChance(chance),
      isConditional: state.isConditional,
      choices,
    }))
    .sort((a, b) => b.chance.value - a.chance.value)
}

function stepKey(step: WalkStep): string {
  const place = step.kind === 'routing' ? step.text : `${step.hook} ${step.table} ${step.chain}`
  return `${step.kind} ${place} ${'rule' in step ? (step.rule ?? '') : ''} ${step.packet.src} ${step.packet.dst}`
}
