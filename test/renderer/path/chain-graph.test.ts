import { describe, expect, test } from 'vitest'
import { targetOf } from '../../../src-main/domain/iptables/rule-spec.ts'
import {
  buildChainGraph,
  type ChainGraph,
  type GraphWish,
  MOST_ENDPOINTS,
  MOST_ENDPOINTS_EXPANDED,
  MOST_SERVICES,
} from '../../../src-renderer/path/chain-graph.ts'
import type { PictureRules } from '../../../src-renderer/path/chain-index.ts'
import { goldenNames, goldenText, indexOf, manyServices, readSave, ruleAt } from './golden-index.ts'

const ALL: GraphWish = { text: '', expanded: new Set() }

function graphOf(text: string, wish: Partial<GraphWish> = {}, rules: Partial<PictureRules> = {}): ChainGraph {
  return buildChainGraph(indexOf(readSave(text), rules), { ...ALL, ...wish })
}

function cardOf(graph: ChainGraph, chain: string, table = 'nat') {
  const card = graph.cards.find((each) => each.table === table && each.chain === chain)
  if (!card) throw new Error(`${chain} is not drawn`)
  return card
}

describe.each(goldenNames)('%s', (name) => {
  const ruleSet = readSave(goldenText(name))
  const graph = buildChainGraph(indexOf(ruleSet), ALL)

  test('each row is a rule of the text', () => {
    for (const row of graph.cards.flatMap(({ rows }) => rows)) expect(ruleAt(ruleSet, row)).toBe(row.text)
  })

  test('each edge is a row whose rule leads to what the edge leads to', () => {
    for (const { id, from, row: at, to } of graph.edges) {
      const card = graph.cards.find((each) => each.id === from)
      const row = card?.rows[at]
      expect(row?.id).toBe(id)
      if (!row) continue
      expect(ruleAt(ruleSet, row)).toBe(row.text)
      const target = targetOf(row)?.name
      if (target === 'DNAT') {
        const { address } = graph.targets.find((each) => each.id === to) ?? { address: 'none' }
        expect(row.text).toContain(`--to-destination ${address}`)
      } else expect(to).toBe(`${row.table} ${target}`)
    }
  })

  test('every node is there once, and every edge has both ends', () => {
    const ids = [...graph.cards, ...graph.targets].map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const edges = graph.edges.map(({ id }) => id)
    expect(new Set(edges).size).toBe(edges.length)
    for (const { from, to } of graph.edges) expect(ids).toEqual(expect.arrayContaining([from, to]))
  })
})

test('a node port leads through its EXT chain to the endpoints', () => {
  const graph = graphOf(goldenText('001-seed-http-svc'))
  const ways = graph.edges.map(({ from, to }) => `${from} → ${to}`)
  expect(ways).toContain('nat KUBE-SERVICES → nat KUBE-NODEPORTS')
  expect(ways).toContain('nat KUBE-NODEPORTS → nat KUBE-EXT-C3VEVZBK3X2BH5IZ')
  expect(ways).toContain('nat KUBE-EXT-C3VEVZBK3X2BH5IZ → nat KUBE-SVC-C3VEVZBK3X2BH5IZ')
  expect(graph.targets.map(({ address }) => address)).toContain('10.244.1.7:80')
})

test('nodes are called by what they mean', () => {
  const graph = graphOf(goldenText('001-seed-http-svc'))
  expect(cardOf(graph, 'KUBE-SVC-GM62ZXCOIF6ZCRWU').title).toBe('http-svc cluster IP')
  expect(cardOf(graph, 'KUBE-EXT-C3VEVZBK3X2BH5IZ').title).toBe('http-svc-node-port from outside')
  expect(cardOf(graph, 'KUBE-SEP-C6IB5RPVIEGEDGUL').title).toBe('endpoint 10.244.1.7:80')
  expect(cardOf(graph, 'KUBE-SERVICES').entries).toEqual(['PREROUTING', 'OUTPUT'])
})

test('rows say their match and verdict', () => {
  const rows = cardOf(graphOf(goldenText('001-seed-http-svc')), 'KUBE-SVC-GM62ZXCOIF6ZCRWU').rows
  expect(rows.map(({ match }) => match.slice(0, 19))).toEqual(['! src 10.244.0.0/16', '33 %', '50 %', ''])
  expect(rows[0]?.verdict).toBe('KUBE-MARK-MASQ')
})

test('origins name what the rules do not say, and win over comments', () => {
  const origin = { role: 'cluster endpoints', namespace: 'prod', service: 'shop', portName: 'web' }
  const graph = graphOf(
    goldenText('001-seed-http-svc'),
    {},
    { origins: { 'KUBE-SVC-GM62ZXCOIF6ZCRWU': origin } },
  )
  expect(cardOf(graph, 'KUBE-SVC-GM62ZXCOIF6ZCRWU').title).toBe('prod/shop:web cluster IP')
})

test('a Service without endpoints shows its REJECT of the filter table', () => {
  const graph = graphOf(goldenText('133-mixed-cluster'), { service: 'prod/empty' })
  const rows = cardOf(graph, 'KUBE-SERVICES', 'filter').rows
  expect(rows.map(({ verdict }) => verdict)).toEqual(['REJECT', 'REJECT'])
  expect(graph.targets).toEqual([])
})

test('source ranges go FW, EXT, SVC, and their DROP is drawn', () => {
  const graph = graphOf(goldenText('133-mixed-cluster'), { service: 'default/lb' })
  const ways = graph.edges.map(({ from, to }) => `${from} → ${to}`)
  expect(ways).toContain('nat KUBE-FW-JSLCNGWSGB5JPS5Q → nat KUBE-EXT-JSLCNGWSGB5JPS5Q')
  expect(cardOf(graph, 'KUBE-PROXY-FIREWALL', 'filter').rows[0]?.verdict).toBe('DROP')
})

test.each([
  ['a name', 'DNS', ['kube-system/kube-dns']],
  ['a namespace', 'kube-system/', ['kube-system/kube-dns']],
  ['a cluster IP', '10.96.0.1/', ['default/kubernetes']],
  ['an endpoint', '192.168.0.2:6443', ['default/kubernetes']],
  ['a chain', 'kube-ext-jslcn', ['default/lb']],
  ['nothing', 'no such thing', []],
])('the filter finds %s', (_, text, services) => {
  const index = indexOf(readSave(goldenText('133-mixed-cluster')))
  const found = index.services.filter((service) => index.mentions(service, text.toLowerCase()))
  expect(found.map(({ key }) => key)).toEqual(services)
  expect(buildChainGraph(index, { ...ALL, text }).foundServices).toBe(services.length)
})

test('one Service of a mixed cluster brings only its own chains', () => {
  const graph = graphOf(goldenText('133-mixed-cluster'), { service: 'default/http-svc' })
  const own = graph.cards.filter(({ role }) => role === 'service')
  expect(own.map(({ chain }) => chain)).toEqual(['KUBE-SVC-GM62ZXCOIF6ZCRWU'])
  expect(cardOf(graph, 'KUBE-SERVICES').moreRows).toBe(10)
})

test('10,000 Services are not drawn whole', () => {
  const index = indexOf(readSave(manyServices(10_000)))
  const graph = buildChainGraph(index, ALL)
  expect(graph).toMatchObject({ shownServices: MOST_SERVICES, foundServices: 10_000, allServices: 10_000 })
  expect(graph.cards.length).toBeLessThan(100)
  expect(buildChainGraph(index, { ...ALL, text: 'web-9999' }).shownServices).toBe(1)
})

test('many endpoints are drawn on demand only', () => {
  const text = goldenText('100-endpoints-120')
  const graph = graphOf(text)
  const card = graph.cards.find(({ canExpand }) => canExpand)
  expect(graph.targets).toHaveLength(MOST_ENDPOINTS)
  expect(card?.moreRows).toBe(120 - MOST_ENDPOINTS)
  const more = graphOf(text, { expanded: new Set([card?.id ?? '']) })
  expect(more.targets).toHaveLength(MOST_ENDPOINTS_EXPANDED)
  expect(more.cards.some(({ canExpand }) => canExpand)).toBe(false)
})

describe('what people did by hand', () => {
  const seed = goldenText('001-seed-http-svc')
  const endpoint = 'KUBE-SEP-NVFETS636V4CPTUN'

  test('a hand-made rule is set apart', () => {
    const place = { table: 'nat', chain: endpoint, number: 1, text: '-j LOG' }
    const text = seed.replace(`-A ${endpoint} `, `-A ${endpoint} -j LOG\n-A ${endpoint} `)
    const rows = cardOf(graphOf(text, {}, { handMade: [place] }), endpoint).rows
    expect(rows.map(({ state }) => state)).toEqual(['hand-made', 'generated', 'generated'])
  })

  test('a missing rule stands where it belongs, with its own id and a ghost of its edge', () => {
    const lost = `-s 10.244.2.8/32 -m comment --comment "default/http-svc" -j KUBE-MARK-MASQ`
    const missing = [{ table: 'nat', chain: endpoint, number: 1, text: lost }]
    const rows = cardOf(graphOf(seed.replace(`-A ${endpoint} ${lost}\n`, ''), {}, { missing }), endpoint).rows
    expect(rows.map(({ id, state }) => [id, state])).toEqual([
      [`nat ${endpoint} missing 1`, 'missing'],
      [`nat ${endpoint} 1`, 'generated'],
    ])
  })

  test('hand-made rules before it do not move a missing rule', () => {
    const chain = 'KUBE-SVC-GM62ZXCOIF6ZCRWU'
    const lines = seed.split('\n').filter((line) => line.startsWith(`-A ${chain} `))
    const second = lines[1] ?? ''
    const text = seed.replace(second, `-A ${chain} -s 172.18.0.254/32 -j LOG`)
    const rules = {
      handMade: [{ table: 'nat', chain, number: 2, text: '-s 172.18.0.254/32 -j LOG' }],
      missing: [{ table: 'nat', chain, number: 2, text: second.replace(`-A ${chain} `, '') }],
    }
    const rows = cardOf(graphOf(text, {}, rules), chain).rows
    expect(rows.map(({ state }) => state)).toEqual([
      'generated',
      'hand-made',
      'missing',
      'generated',
      'generated',
    ])
  })

  test('a Service whose only way in is missing is still there', () => {
    const line = seed.split('\n').find((each) => each.startsWith('-A KUBE-SERVICES -d 10.107.38.142')) ?? ''
    const missing = [
      { table: 'nat', chain: 'KUBE-SERVICES', number: 1, text: line.replace('-A KUBE-SERVICES ', '') },
    ]
    const graph = graphOf(seed.replace(`${line}\n`, ''), { service: 'default/http-svc' }, { missing })
    expect(graph.edges.find(({ to }) => to === 'nat KUBE-SVC-GM62ZXCOIF6ZCRWU')?.state).toBe('missing')
  })

  test("a person's own chain is drawn where a rule leads to it", () => {
    const text = seed
      .replace(':KUBE-MARK-MASQ', ':MY-CHAIN - [0:0]\n:KUBE-MARK-MASQ')
      .replace('-A KUBE-SERVICES ', '-A KUBE-SERVICES -j MY-CHAIN\n-A MY-CHAIN -j RETURN\n-A KUBE-SERVICES ')
    const graph = graphOf(text, {}, { origins: { 'KUBE-SERVICES': { role: 'node' } } })
    expect(cardOf(graph, 'MY-CHAIN')).toMatchObject({ role: 'other', state: 'hand-made' })
  })

  test('chains that lead round in a loop are drawn once', () => {
    const text = seed
      .replace(':KUBE-MARK-MASQ', ':A - [0:0]\n:B - [0:0]\n:KUBE-MARK-MASQ')
      .replace('-A KUBE-SERVICES ', '-A A -j B\n-A B -j A\n-A KUBE-SERVICES -j A\n-A KUBE-SERVICES ')
    const graph = graphOf(text)
    expect(graph.edges.filter(({ to }) => to === 'nat A' || to === 'nat B')).toHaveLength(3)
  })
})
