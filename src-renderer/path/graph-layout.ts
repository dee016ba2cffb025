import { Graph, layout } from '@dagrejs/dagre'
import type { CardRole, ChainGraph, GraphCard, GraphNode, GraphRow } from './chain-graph.ts'
import type { Box, Point } from './netfilter-map.ts'
import { shortened } from './wrap-text.ts'

/** Drawing units; at scale 1 a unit is a pixel. */
export const CARD_HEAD = 38
export const ROW_HEIGHT = 17
export const CARD_FOOT = 4
export const TARGET_WIDTH = 168
export const TARGET_HEIGHT = 36
/** Where edges come in, from a node's top. */
export const PORT = 18

/** So many characters of a rule's match are drawn; the whole rule is told on hover. */
export const MATCH_LENGTH = 24
export const TITLE_LENGTH = 30

const COLUMN_GAP = 46
const ROW_GAP = 12
const STACK_GAP = 16
/** Widths of one character: mono at 10.5 and 9.5 units, the window's type at 12. */
const MATCH_CHARACTER = 6.35
const TAG_CHARACTER = 5.75
const TITLE_CHARACTER = 7.1
const COUNT_WIDTH = 40
const NUMBER_WIDTH = 24

export interface PlacedEdge {
  readonly path: string
  readonly end: Point
}

export interface GraphLayout {
  readonly boxes: ReadonlyMap<string, Box>
  readonly edges: ReadonlyMap<string, PlacedEdge>
  readonly width: number
  readonly height: number
}

/** Columns from left to right; those that nothing stands in take no room. */
const COLUMN: Readonly<Record<CardRole | 'target', number | undefined>> = {
  shared: 0,
  firewall: 1,
  external: 2,
  service: 3,
  endpoint: 4,
  target: 5,
  other: undefined,
}

/** A verdict that no edge shows, as it stands in its row. */
export function tagOf(row: GraphRow, hasEdge: boolean): string {
  return hasEdge && !row.verdict.startsWith('DNAT') ? '' : row.verdict.replace(/^KUBE-/, '').split(' ')[0] ?? ''
}

/** Places every node and edge. The same structure gives the same picture. */
export function layoutGraph(graph: ChainGraph): GraphLayout {
  const boxes = new Map<string, Box>()
  const hasEdge = new Set(graph.edges.map(({ id }) => id))
  const widths = columnWidths(graph, hasEdge)
  const shared = graph.cards.filter(({ role }) => role === 'shared')
  const stackWidth = widths.get('shared') ?? 0
  let top = 0
  for (const card of shared) {
    const height = cardHeight(card)
    boxes.set(card.id, { x: 0, y: top, width: stackWidth, height })
    top += height + STACK_GAP
  }
  const others = [...graph.cards.filter(({ role }) => role !== 'shared'), ...graph.targets]
  const bends = placeOthers(graph, others, widths, boxes)
  const edges = new Map(
    graph.edges.flatMap(({ id, from, row, to }) => {
      const start = boxes.get(from)
      const end = boxes.get(to)
      return start && end ? [[id, placeEdge(start, row, end, bends.get(id) ?? [], boxes)] as const] : []
    }),
  )
  let width = stackWidth
  let height = Math.max(0, top - STACK_GAP)
  for (const box of boxes.values()) {
    width = Math.max(width, box.x + box.width)
    height = Math.max(height, box.y + box.height)
  }
  return { boxes, edges, width, height }
}

export function cardHeight({ rows, moreRows }: GraphCard): number {
  return CARD_HEAD + (rows.length + (moreRows > 0 ? 1 : 0)) * ROW_HEIGHT + CARD_FOOT
}

/** Cards of one kind are equally wide, so that they stand in a column. */
function columnWidths(graph: ChainGraph, hasEdge: ReadonlySet<string>): Map<CardRole, number> {
  const widths = new Map<CardRole, number>()
  for (const card of graph.cards) {
    const rows = card.rows.map(
      (row) =>
        NUMBER_WIDTH +
        shortened(row.match, MATCH_LENGTH).length * MATCH_CHARACTER +
        tagOf(row, hasEdge.has(row.id)).length * TAG_CHARACTER +
        8 +
        COUNT_WIDTH,
    )
    const title = Math.min(card.title.length, TITLE_LENGTH) * TITLE_CHARACTER + 22
    const width = Math.ceil(Math.max(title, card.chain.length * MATCH_CHARACTER + 40, ...rows))
    widths.set(card.role, Math.max(widths.get(card.role) ?? 0, width))
  }
  return widths
}

/** All right of the shared chains is dagre's; gives back where long edges pass. */
function placeOthers(
  graph: ChainGraph,
  nodes: readonly GraphNode[],
  widths: ReadonlyMap<CardRole, number>,
  boxes: Map<string, Box>,
): Map<string, Point[]> {
  const bends = new Map<string, Point[]>()
  if (nodes.length === 0) return bends
  const used = [...new Set(nodes.flatMap((node) => columnOf(node) ?? []))].toSorted((a, b) => a - b)
  const rankOf = (node: GraphNode | undefined): number | undefined => {
    const column = node && columnOf(node)
    return column === undefined ? undefined : used.indexOf(column) + 1
  }
  const byId = new Map<string, GraphNode>(nodes.map((node) => [node.id, node]))
  const dagre = new Graph({ multigraph: true })
  dagre.setGraph({ rankdir: 'LR', ranksep: COLUMN_GAP, nodesep: ROW_GAP, edgesep: ROW_GAP })
  dagre.setDefaultEdgeLabel(() => ({}))
  dagre.setNode(ROOT, { width: widths.get('shared') ?? 0, height: 1 })
  for (const node of nodes)
    dagre.setNode(
      node.id,
      node.kind === 'target'
        ? { width: TARGET_WIDTH, height: TARGET_HEIGHT }
        : { width: widths.get(node.role) ?? 0, height: cardHeight(node) },
    )
  for (const { id, from, to } of graph.edges) {
    const target = byId.get(to)
    if (!target) continue
    const source = byId.get(from)
    const start = source ? rankOf(source) : 0
    const end = rankOf(target)
    const minlen = start === undefined || end === undefined ? 1 : Math.max(1, end - start)
    dagre.setEdge(source ? from : ROOT, to, { minlen, weight: 1 }, id)
  }
  layout(dagre)
  const placed = nodes.map((node) => ({ id: node.id, ...(dagre.node(node.id) as Required<Box>) }))
  const offset = Math.min(...placed.map(({ y, height }) => y - height / 2))
  for (const { id, x, y, width, height } of placed)
    boxes.set(id, { x: x - width / 2, y: y - height / 2 - offset, width, height })
  for (const edge of dagre.edges()) {
    const { points } = dagre.edge(edge) as { points: readonly Point[] }
    const inner = points.slice(1, -1).map(({ x, y }) => ({ x, y: y - offset }))
    if (edge.name !== undefined) bends.set(edge.name, inner)
  }
  return bends
}

const ROOT = 'shared chains'

function columnOf(node: GraphNode): number | undefined {
  return COLUMN[node.kind === 'target' ? 'target' : node.role]
}

/** From the row's right end to the target's port, past the columns in between. */
function placeEdge(
  start: Box,
  row: number,
  end: Box,
  bends: readonly Point[],
  boxes: ReadonlyMap<string, Box>,
): PlacedEdge {
  if (start.x === end.x && end.y > start.y) {
    const x = start.x + 22
    const tip = { x, y: end.y }
    return { path: `M ${x} ${start.y + start.height} L ${x} ${end.y}`, end: tip }
  }
  const from = { x: start.x + start.width, y: start.y + CARD_HEAD + (row + 0.5) * ROW_HEIGHT }
  const tip = { x: end.x, y: end.y + PORT }
  const columns = columnsBetween(boxes, from.x, tip.x)
  const stations: Point[] = [from]
  for (const { left, right } of columns) {
    const bend = bends.find(({ x }) => x >= left && x <= right)
    if (bend) stations.push({ x: left - 6, y: bend.y }, { x: right + 6, y: bend.y })
  }
  stations.push(tip)
  return { path: smooth(stations), end: tip }
}

function columnsBetween(
  boxes: ReadonlyMap<string, Box>,
  from: number,
  to: number,
): { left: number; right: number }[] {
  const columns = new Map<number, { left: number; right: number }>()
  for (const { x, width } of boxes.values())
    if (x > from && x + width < to) columns.set(Math.round(x), { left: x, right: x + width })
  return [...columns.values()].toSorted((a, b) => a.left - b.left)
}

function smooth(points: readonly Point[]): string {
  const [first, ...rest] = points
  if (!first) return ''
  const parts = [`M ${round(first.x)} ${round(first.y)}`]
  let at = first
  for (const next of rest) {
    const half = (next.x - at.x) / 2
    parts.push(
      at.y === next.y
        ? `L ${round(next.x)} ${round(next.y)}`
        : `C ${round(at.x + half)} ${round(at.y)} ${round(next.x - half)} ${round(next.y)} ${round(next.x)} ${round(next.y)}`,
    )
    at = next
  }
  return parts.join(' ')
}

function round(length: number): number {
  return Math.round(length * 10) / 10
}
