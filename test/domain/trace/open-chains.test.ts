import { describe, expect, test } from 'vitest'
import { joinJourneys } from '../../../src-main/domain/trace/join-journeys.ts'
import { OpenChains } from '../../../src-main/domain/trace/open-chains.ts'
import type { TraceEvent } from '../../../src-main/domain/trace/trace-event.ts'
import { asReturn, eventsOf, facts, loadEvents, loadMessages } from './load-capture.ts'

type Step = Pick<TraceEvent, 'type' | 'chain' | 'verdict'>

const rule = (chain: string, verdict: TraceEvent['verdict'] = 'CONTINUE'): Step => ({
  type: 'rule',
  chain,
  verdict,
})
const policy: Step = { type: 'policy', chain: 'FORWARD', verdict: 'ACCEPT' }

/** What ended before each step. */
function endsOf(...steps: readonly Step[]): string[][] {
  const open = new OpenChains('FORWARD')
  return steps.map((step) => open.follow(step).map(({ text }) => text.replace('end of ', '')))
}

describe('a chain that somebody jumped to has ended', () => {
  test('when its caller goes on, the innermost first', () => {
    expect(
      endsOf(
        rule('FORWARD', { jump: 'A' }),
        rule('A', { jump: 'B' }),
        rule('FORWARD', { jump: 'C' }),
        policy,
      ),
    ).toEqual([[], [], ['B, back to A', 'A, back to FORWARD'], ['C, back to FORWARD']])
  })

  test('not while its own rules go on, nor when one of them decides', () => {
    expect(endsOf(rule('FORWARD', { jump: 'A' }), rule('A'), rule('A', 'DROP'))).toEqual([[], [], []])
  })

  test('not where a rule of its own said RETURN', () => {
    expect(endsOf(rule('FORWARD', { jump: 'A' }), rule('A', 'RETURN'), policy)).toEqual([[], [], []])
    expect(endsOf(rule('FORWARD', 'RETURN'), policy)).toEqual([[], []])
  })

  test('past the chain that it was reached from by goto', () => {
    expect(endsOf(rule('FORWARD', { jump: 'A' }), rule('A', { goto: 'B' }), rule('FORWARD'))).toEqual([
      [],
      [],
      ['B, back to FORWARD'],
    ])
    expect(endsOf(rule('FORWARD', { goto: 'A' }), policy)).toEqual([[], ['A, back to FORWARD']])
  })

  test('when it is entered a second time', () => {
    expect(endsOf(rule('FORWARD', { jump: 'A' }), rule('FORWARD', { jump: 'A' }), policy)).toEqual([
      [],
      ['A, back to FORWARD'],
      ['A, back to FORWARD'],
    ])
  })

  test('nothing is said where events were lost', () => {
    expect(endsOf(rule('FORWARD', { jump: 'A' }), rule('X'), rule('X'), policy)).toEqual([
      [],
      [],
      [],
      ['X, back to FORWARD'],
    ])
  })
})

test('in a recorded trace these are the ends that the kernel told of', () => {
  const events = loadEvents('trace-cluster-ip')
  const { journeys } = joinJourneys(events, facts)
  const shown = journeys.flatMap(({ hops }) => hops.flatMap((hop) => (hop.isChainEnd ? [hop.chain] : [])))
  const told = [...events.values()]
    .flat()
    .flatMap(({ event }) => (event.type === 'return' && event.chain.startsWith('KUBE-') ? [event.chain] : []))
  expect(told.length).toBeGreaterThan(5)
  expect(shown.sort()).toEqual(told.sort())
})

test('a rule that says RETURN stays a rule on kernels that call it a return', () => {
  const recorded = loadMessages('trace-cluster-ip')
  const told = new Map([...recorded].map(([host, messages]) => [host, messages.map(asReturn)]))
  expect(told).not.toEqual(recorded)
  const { journeys } = joinJourneys(eventsOf(told), facts)
  const returns = journeys.flatMap(({ hops }) =>
    hops.filter(({ chain, verdict }) => chain === 'KUBE-POSTROUTING' && verdict === 'RETURN'),
  )
  expect(returns.map(({ rule, isChainEnd }) => [rule !== null, isChainEnd])).toEqual([
    [true, undefined],
    [true, undefined],
  ])
  expect(journeys).toEqual(joinJourneys(eventsOf(recorded), facts).journeys)
})
