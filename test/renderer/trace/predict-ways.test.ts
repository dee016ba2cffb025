import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { LinkInfo } from '../../../src-main/contract/lab-contract.ts'
import { parseSave } from '../../../src-main/domain/iptables/parse-save.ts'
import { planNode } from '../../../src-main/domain/topology/plan-network.ts'
import { type LabPicture, predictWays } from '../../../src-main/domain/trace/predict-ways.ts'
import { compareWays } from '../../../src-renderer/trace/compare-ways.ts'
import { sampleLab } from '../sample-lab.ts'

const lab = sampleLab('http-server.yaml')
/** What kube-proxy writes for the NodePort alone, short enough to be followed by hand. */
const RULES = readFileSync(new URL('./node-port-rules.txt', import.meta.url), 'utf8')
const [client, node] = ['client', 'node/worker1']

function picture(rules = RULES): LabPicture {
  const { ruleSet } = parseSave(rules)
  if (!ruleSet) throw new Error('the rules cannot be read')
  const links = lab.status.nodes.flatMap((place, at): LinkInfo[] => {
    const { cable, bridge } = planNode(place, lab.status.nodes, at, 'bridge')
    const link = { host: `node/${place.name}`, up: true } as const
    return [
      { ...link, id: `${link.host} lo`, name: 'lo', kind: 'loopback', addresses: ['127.0.0.1/8'] },
      { ...link, id: `${link.host} eth0`, name: 'eth0', kind: 'veth', addresses: cable.inner.addresses },
      { ...link, id: `${link.host} cni0`, name: 'cni0', kind: 'bridge', addresses: bridge?.addresses ?? [] },
    ]
  })
  return {
    ...lab,
    links,
    ruleSets: new Map(lab.status.nodes.map(({ name }) => [name, ruleSet])),
  }
}
const NODE_PORT = { protocol: 'tcp', address: '172.18.0.3', port: 32054 } as const

describe('the ways of a packet that has not been sent', () => {
  it('lead through both nodes to each endpoint, with the chance of the draw', () => {
    const { ways, notes } = predictWays(picture(), client, NODE_PORT)
    expect(notes).toEqual([])
    expect(ways.map(({ chanceText }) => chanceText)).toEqual(['1/2', '1/2'])
    const ends = ways.map(({ journey }) => journey.hops.map(({ node: on }) => on))
    expect(new Set(ends.flat())).toEqual(new Set(['worker1', 'worker2']))
    const near = ways.find(({ journey }) => journey.hops.every(({ node: on }) => on === 'worker1'))
    expect(near?.journey.hops.map(({ chain, rule, verdict }) => `${chain} ${rule} ${verdict}`)).toEqual([
      'PREROUTING 1 JUMP',
      'KUBE-NODEPORTS 1 JUMP',
      'KUBE-SVC-A 1 JUMP',
      'KUBE-SEP-A 1 DNAT',
      'FORWARD 1 ACCEPT',
    ])
    expect(near?.journey).toMatchObject({ verdict: 'delivered' })
    expect(near?.journey.reason).toContain('it reaches pod http-server')
  })

  it('end where a rule drops', () => {
    const dropping = RULES.replace('-A FORWARD -j ACCEPT', '-A FORWARD -j DROP')
    const { ways } = predictWays(picture(dropping), client, NODE_PORT)
    for (const { journey } of ways) {
      expect(journey.verdict).toBe('dropped')
      expect(journey.reason).toBe('by FORWARD 1 on worker1')
    }
  })

  it('are certain where nothing is drawn', () => {
    const { ways } = predictWays(picture(), node, { protocol: 'icmp', address: '172.18.0.4', port: 0 })
    expect(ways.map(({ chanceText, journey }) => [chanceText, journey.verdict, journey.reason])).toEqual([
      ['certain', 'delivered', 'it is for worker2 itself'],
    ])
  })

  it('are none from the client to an address that no node answers for', () => {
    const { ways, notes } = predictWays(picture(), client, { ...NODE_PORT, address: '10.107.38.142' })
    expect(ways).toEqual([])
    expect(notes).toEqual([
      'The client has no way to 10.107.38.142: no node answers for it outside the cluster.',
    ])
  })
})

describe('a prediction beside what came', () => {
  const prediction = predictWays(picture(), client, NODE_PORT)
  const [way] = prediction.ways
  if (!way) throw new Error('nothing was predicted')

  it('is the same where every step is, whatever empty chains the kernel tells of', () => {
    const { hops } = way.journey
    const last = hops.at(-1)
    if (!last) throw new Error('no hops')
    const empty = {
      ...last,
      table: 'nat',
      hook: 'INPUT',
      chain: 'INPUT',
      rule: null,
      text: '-P INPUT ACCEPT',
    }
    const came = { ...way.journey, hops: [...hops.slice(0, 4), empty, ...hops.slice(4)] }
    expect(compareWays(prediction, came)).toMatchObject({ isSame: true, partsAt: undefined })
  })

  it('parts at the first step that is another one', () => {
    const hops = way.journey.hops.map((hop, at) => (at === 2 ? { ...hop, rule: 9, verdict: 'DROP' } : hop))
    expect(compareWays(prediction, { ...way.journey, hops })).toMatchObject({ isSame: false, partsAt: 2 })
    expect(compareWays(prediction, { ...way.journey, hops: hops.slice(0, 2) })?.sentence).toContain(
      'nothing more came',
    )
  })

  it('is made for first packets only', () => {
    expect(compareWays(prediction, { ...way.journey, kind: 'later' })).toBeUndefined()
    expect(compareWays(prediction, { ...way.journey, direction: 'reply' })).toBeUndefined()
  })
})
