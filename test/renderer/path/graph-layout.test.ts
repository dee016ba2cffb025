import { describe, expect, test } from 'vitest'
import { buildChainGraph, type ChainGraph } from '../../../src-renderer/path/chain-graph.ts'
import { layoutGraph } from '../../../src-renderer/path/graph-layout.ts'
import type { Box } from '../../../src-renderer/path/netfilter-map.ts'
import { goldenText, indexOf, manyServices, readSave } from './golden-index.ts'

function graphOf(text: string): ChainGraph {
  return buildChainGraph(indexOf(readSave(text)), { text: '', expanded: new Set() })
}

function overlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

describe.each([
  '001-seed-http-svc',
  '009-udp-unnamed',
  '031-itp-etp-local-with-local',
  '052-lb-all-features',
  '058-affinity-three-endpoints',
  '100-endpoints-120',
  '133-mixed-cluster',
])('%s', (name) => {
  const graph = graphOf(goldenText(name))
  const layout = layoutGraph(graph)

  test('places everything, and nothing on something else', () => {
    expect(layout.boxes.size).toBe(graph.cards.length + graph.targets.length)
    const boxes = [...layout.boxes.values()]
    boxes.forEach((box, at) => {
      for (const other of boxes.slice(at + 1)) expect(overlap(box, other)).toBe(false)
    })
  })

  test('keeps all in its size, from 0', () => {
    for (const { x, y, width, height } of layout.boxes.values()) {
      expect(Math.min(x, y)).toBeGreaterThanOrEqual(0)
      expect(x + width).toBeLessThanOrEqual(layout.width)
      expect(y + height).toBeLessThanOrEqual(layout.height)
    }
  })

  test('draws every edge, from left to right or within its stack', () => {
    for (const { id, from, to } of graph.edges) {
      expect(layout.edges.get(id)?.path).toMatch(/^M [\d.]+ [\d.]+ [CL]/)
      expect(layout.boxes.get(from)?.x).toBeLessThanOrEqual(layout.boxes.get(to)?.x ?? -1)
    }
  })

  test('gives the same picture for the same structure', () => {
    expect(layoutGraph(graphOf(goldenText(name)))).toEqual(layout)
  })
})

test('endpoints stand in the order of their rules', () => {
  const graph = graphOf(goldenText('001-seed-http-svc'))
  const { boxes } = layoutGraph(graph)
  const tops = graph.edges
    .filter(({ from, to }) => from === 'nat KUBE-SVC-GM62ZXCOIF6ZCRWU' && to.startsWith('nat KUBE-SEP-'))
    .map(({ to }) => boxes.get(to)?.y ?? Number.NaN)
  expect(tops).toHaveLength(3)
  expect(tops).toEqual(tops.toSorted((a, b) => a - b))
})

test('Services stand in the order of KUBE-SERVICES', () => {
  const graph = graphOf(manyServices(8))
  const { boxes } = layoutGraph(graph)
  const tops = graph.edges
    .filter(({ from }) => from === 'nat KUBE-SERVICES')
    .map(({ to }) => boxes.get(to)?.y ?? Number.NaN)
  expect(tops).toEqual(tops.toSorted((a, b) => a - b))
})

test('a node port’s EXT chain stands on the chain it leads to', () => {
  const { boxes } = layoutGraph(graphOf(goldenText('001-seed-http-svc')))
  const external = boxes.get('nat KUBE-EXT-C3VEVZBK3X2BH5IZ')
  const service = boxes.get('nat KUBE-SVC-C3VEVZBK3X2BH5IZ')
  expect(external?.x).toBe(service?.x)
  expect(external?.y).toBeLessThan(service?.y ?? 0)
})
