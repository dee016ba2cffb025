import { describe, expect, test } from 'vitest'
import { explainChain } from '../../../src-main/domain/iptables/explain-chain.ts'
import { formatExplanation } from '../../../src-main/domain/iptables/explain-parts.ts'
import { explainHook, explainTable } from '../../../src-main/domain/iptables/explain-table.ts'
import { parseSave } from '../../../src-main/domain/iptables/parse-save.ts'
import { rulesByChain } from '../../../src-main/domain/iptables/rule-set.ts'
import { goldenSaves } from './corpus.ts'

function said(table: string, name: string, texts: readonly string[] = [], title?: string): string {
  return formatExplanation(
    explainChain(
      name,
      texts.map((text) => ({ text })),
      { table, title },
    ),
  )
}

describe("a Service's own chains", () => {
  test('choice among endpoints', () => {
    const texts = [
      '! -s 10.244.0.0/16 -d 10.96.0.1/32 -p tcp -m tcp --dport 80 -j KUBE-MARK-MASQ',
      '-m statistic --mode random --probability 0.5 -j KUBE-SEP-A',
      '-j KUBE-SEP-B',
    ]
    expect(said('nat', 'KUBE-SVC-X', texts, 'http-svc')).toBe(
      'Chooses one of 2 endpoints of a Service (http-svc) at random.',
    )
    expect(said('nat', 'KUBE-SVL-X', texts.slice(2))).toBe(
      'Leads to the only endpoint of a Service on this node.',
    )
    const sticky = '-m recent --rcheck --seconds 10800 --reap --name KUBE-SEP-A -j KUBE-SEP-A'
    expect(said('nat', 'KUBE-SVC-X', [sticky, ...texts])).toBe(
      'Chooses one of 2 endpoints of a Service at random; a sender who was here before keeps the endpoint.',
    )
  })

  test('traffic from outside', () => {
    expect(said('nat', 'KUBE-EXT-X', ['-j KUBE-MARK-MASQ', '-j KUBE-SVC-X'])).toBe(
      'Takes what comes for a Service by a node port, an external IP or a load balancer IP, marks it for masquerade and goes on to KUBE-SVC-X.',
    )
    const local = [
      '-s 10.244.0.0/16 -j KUBE-SVC-X',
      '-m addrtype --src-type LOCAL -j KUBE-MARK-MASQ',
      '-m addrtype --src-type LOCAL -j KUBE-SVC-X',
    ]
    const head =
      'Takes what comes for a Service by a node port, an external IP or a load balancer IP: what pods and this node send goes on to KUBE-SVC-X'
    expect(said('nat', 'KUBE-EXT-X', [...local, '-j KUBE-SVL-X'])).toBe(
      `${head}, what others send goes on to KUBE-SVL-X and keeps its source.`,
    )
    expect(said('nat', 'KUBE-EXT-X', local)).toBe(
      `${head}, what others send is left for the filter table to discard, as this node has no endpoint.`,
    )
  })

  test('source ranges', () => {
    expect(said('nat', 'KUBE-FW-X', ['-s 10.0.0.0/8 -j KUBE-EXT-X', '-s 192.0.2.1/32 -j KUBE-EXT-X'])).toBe(
      'Lets packets from 10.0.0.0/8 and 192.0.2.1 on to the load balancer IP of a Service; the others are discarded in KUBE-PROXY-FIREWALL of the filter table.',
    )
  })

  test('an endpoint', () => {
    const texts = [
      '-s 10.244.1.7/32 -j KUBE-MARK-MASQ',
      '-p tcp -m tcp -j DNAT --to-destination 10.244.1.7:8080',
    ]
    expect(said('nat', 'KUBE-SEP-X', texts)).toBe(
      'Stands for one endpoint of a Service: marks what the endpoint sends to itself and changes the destination to 10.244.1.7 port 8080.',
    )
    expect(said('nat', 'KUBE-SEP-X', ['-p tcp -j DNAT --to-destination [fd00::7]:80'])).toContain(
      'to fd00::7 port 80.',
    )
  })
})

test('the same name means something else in another table', () => {
  expect(said('nat', 'KUBE-NODEPORTS')).toBe(
    'Finds the Service by its node port, for packets to an address of this node.',
  )
  expect(said('filter', 'KUBE-NODEPORTS')).toBe(
    'Admits what load balancers send to health check node ports to ask whether this node has endpoints.',
  )
  expect(said('nat', 'PREROUTING')).not.toBe(said('mangle', 'PREROUTING'))
})

test('a chain that somebody added', () => {
  expect(said('filter', 'logdrop', ['-j LOG', '-j DROP'])).toBe(
    'A chain with 2 rules that somebody added: packets come here only by a jump, and go back after the last rule.',
  )
  expect(said('filter', 'KUBE-SVC-X')).toContain('somebody added')
})

test('every chain of the goldens is known, in one sentence', () => {
  for (const { text } of goldenSaves)
    for (const table of parseSave(text).ruleSet?.tables ?? [])
      for (const [name, rules] of rulesByChain(table)) {
        const sentence = formatExplanation(explainChain(name, rules, { table: table.name }))
        expect({ name, sentence }).toEqual({ name, sentence: expect.stringMatching(/^[A-Z][^!`]*\.$/) })
        expect(sentence).not.toContain('somebody added')
      }
})

test('tables and hooks', () => {
  for (const table of ['raw', 'mangle', 'nat', 'filter', 'security'])
    expect(explainTable(table)).toMatch(new RegExp(`^The ${table} table .*[^.]\\.$`))
  for (const hook of ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'])
    expect(explainHook(hook)).toMatch(new RegExp(`^${hook} meets .*[^.]\\.$`))
  expect(explainTable('mine')).toBeUndefined()
  expect(explainHook('KUBE-SERVICES')).toBeUndefined()
})
