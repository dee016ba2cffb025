import { describe, expect, it } from 'vitest'
import { formatExplanation } from '../../../src-main/domain/iptables/explain-parts.ts'
import { chainEnd, hopPlace } from '../../../src-main/domain/trace/journey.ts'
import { dnatStep, endWords, explainHop, hopVerdict } from '../../../src-renderer/trace/hop-words.ts'
import { NODE_PORT_HOPS } from './seed-journey.ts'

const at = (step: number) => {
  const hop = NODE_PORT_HOPS[step]
  if (!hop) throw new Error(`no step ${step}`)
  return hop
}

describe('a hop in words', () => {
  it('is a rule by its place, and what it did', () => {
    expect(hopPlace(at(2))).toBe('KUBE-NODEPORTS 1')
    expect(hopVerdict(at(2))).toBe('→ KUBE-EXT-C3VEVZBK3X2BH5IZ')
    expect(hopVerdict(at(7))).toBe('DNAT')
    expect(formatExplanation(explainHop(at(7)).parts)).toContain('10.244.2.8')
  })

  it('is a policy where no rule decided', () => {
    expect(hopPlace(at(14))).toBe('FORWARD policy')
    expect(formatExplanation(explainHop(at(14)).parts)).toBe(
      'No rule of FORWARD decided: its policy is ACCEPT.',
    )
  })

  it('is the end of a chain where no rule of it decided', () => {
    const hop = { ...at(14), ...chainEnd('KUBE-FORWARD', 'FORWARD') }
    expect(hopPlace(hop)).toBe('KUBE-FORWARD end')
    expect(hopVerdict(hop)).toBe('back to FORWARD')
    expect(formatExplanation(explainHop(hop).parts)).toBe(
      'No rule of KUBE-FORWARD decided: at its end the packet goes back to the chain that it came from.',
    )
    const rule = { ...at(2), chain: 'KUBE-FORWARD', rule: 1, text: '-j RETURN', verdict: 'RETURN' }
    expect([hopPlace(rule), hopVerdict(rule)]).toEqual(['KUBE-FORWARD 1', 'RETURN'])
  })

  it('is conntrack where the nat table is not asked', () => {
    const hop = { ...at(13), table: 'conntrack', verdict: 'NAT', text: 'conntrack does it again' }
    expect(hopPlace(hop)).toBe('conntrack')
    expect(formatExplanation(explainHop(hop).parts)).toBe(
      'Conntrack does it again. No rule of the nat table is asked.',
    )
  })

  it('tells a rule that went away from a policy', () => {
    expect(hopPlace({ ...at(2), rule: null, text: 'a rule that has gone meanwhile' })).toBe(
      'KUBE-NODEPORTS rule gone',
    )
  })

  it('finds the DNAT and the end', () => {
    expect(dnatStep(NODE_PORT_HOPS)).toBe(7)
    expect(dnatStep(NODE_PORT_HOPS.slice(8))).toBeUndefined()
    expect(endWords({ hops: NODE_PORT_HOPS })).toBe('to 10.244.2.8:80')
  })
})
