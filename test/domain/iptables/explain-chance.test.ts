import { describe, expect, test } from 'vitest'
import {
  chanceOf,
  chanceWords,
  overallWords,
  readLadders,
} from '../../../src-main/domain/iptables/explain-chance.ts'
import { formatExplanation } from '../../../src-main/domain/iptables/explain-parts.ts'
import { parseSave } from '../../../src-main/domain/iptables/parse-save.ts'
import { rulesByChain } from '../../../src-main/domain/iptables/rule-set.ts'
import { readRule } from '../../../src-main/domain/iptables/rule-spec.ts'
import { goldenSaves } from './corpus.ts'

describe('a chance in words', () => {
  const chances: [chance: number, said: string][] = [
    [0.33333333349, '1 in 3 (33 %)'],
    [0.5, '1 in 2 (50 %)'],
    [0.66666666651, '2 in 3 (67 %)'],
    [0.75, '3 in 4 (75 %)'],
    [0.14285714272, '1 in 7 (14 %)'],
    [0.06666666688, '1 in 15 (6.7 %)'],
    [0.0083333333, '1 in 120 (0.83 %)'],
    [0.001, '1 in 1000 (0.1 %)'],
    [0.9916666667, '119 in 120 (99.17 %)'],
    [0.333, 'about 1 in 3 (33.3 %)'],
    [0.37, '37 %'],
    [0.1234, '12.34 %'],
    [0, '0 %'],
    [1, '100 %'],
  ]
  test.each(chances)('%s is %s', (chance, said) => {
    expect(formatExplanation(chanceWords(chance))).toBe(said)
  })
})

function shares(texts: readonly string[]): (number | undefined)[] {
  return readLadders(texts.map((text) => ({ text }))).map((step) => step && Number(step.leftover.toFixed(3)))
}

const half = '-m statistic --mode random --probability 0.5'

describe('ladders', () => {
  test('end with the rule that takes the rest', () => {
    expect(shares([`${half} -j DROP`, `${half} -j ACCEPT`, '-j REJECT', '-j DROP'])).toEqual([
      undefined,
      0.5,
      0.25,
      undefined,
    ])
  })

  test('stop where a rule has other conditions', () => {
    expect(shares([`-p tcp ${half} -j DROP`, `-p udp ${half} -j DROP`, '-p udp -j ACCEPT'])).toEqual([
      undefined,
      undefined,
      0.5,
    ])
    expect(shares([`${half} -j DROP`, '-p tcp -j ACCEPT', '-j REJECT'])).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  test('are not begun by a rule whose packets may come back', () => {
    expect(shares([`${half} -j user`, '-j ACCEPT'])).toEqual([undefined, undefined])
    expect(shares([`${half} -j LOG`, '-j ACCEPT'])).toEqual([undefined, undefined])
    expect(shares([`${half} -g user`, '-j ACCEPT'])).toEqual([undefined, 0.5])
  })

  test('do not count every nth packet', () => {
    expect(shares([`${half} -j DROP`, '-m statistic --mode nth --every 2 --packet 0 -j DROP'])).toEqual([
      undefined,
      undefined,
    ])
  })

  test('give all endpoints of a Service the same share, 1000 of them too', () => {
    for (const { title, text } of goldenSaves)
      for (const table of parseSave(text).ruleSet?.tables ?? [])
        for (const [chain, rules] of rulesByChain(table)) {
          if (!/^KUBE-SV[CL]-/.test(chain)) continue
          const steps = readLadders(rules)
          const choices = rules.flatMap((rule, at) => {
            const isChoice = rule.text.includes('-j KUBE-SEP-') && !rule.text.includes('--rcheck')
            return isChoice ? [(chanceOf(readRule(rule)) ?? 1) * (steps[at]?.leftover ?? 1)] : []
          })
          if (choices.length < 2) continue
          const said = new Set(choices.map((share) => formatExplanation(overallWords(share))))
          expect({ title, chain, said: [...said] }).toEqual({
            title,
            chain,
            said: [`overall 1 in ${choices.length}`],
          })
        }
  })
})
