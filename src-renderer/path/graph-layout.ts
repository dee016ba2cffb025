import { Graph, layout } from '@dagrejs/dagre'
import type { CardRole, ChainGraph, GraphCard, GraphNode, GraphRow } from './chain-graph.ts'
import type { Box, Point } from './netfilter-map.ts'
import { shortened } from './wrap-text.ts'

/** Drawing units; at scale 1 a unit is a pixel. */
export const CARD_HEAD = 38
export const ROW_HEIGHT = 17
export const CARD_FOOT = 4
export const TARGET_WIDTH = 150
export const TARGET_HEIGHT = 36
/** Where edges come in, from a node's top. */
export const PORT = 18

/** So many characters of a rule's match are drawn; the whole rule is told on hover. */
export const MATCH_LENGTH = 24
/** Longer titles do not make a column wider. */
const TITLE_LENGTH = 32

const COLUMN_GAP = 34
const ROW_GAP = 12
const STACK_GAP = 14
/** How far an edge within a stack goes round. */
const LOOP = 24
/** Widths of one character: mono at 10.5 and 9.5 units, the window's type at 12. */
const MATCH_CHARACTER = 6.35
const TAG_CHARACTER = 5.75
const TITLE_CHARACTER = 7.1
const COUNT_WIDTH = 42
const NUMBER_WIDTH = 24

export interface PlacedEdge {
  readonly path: string
  readonly end: Point
  /** Where the arrow points to. */
  readonly heads: 'left' | 'right'
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
  external: 1,
  service: 1,
  endpoint: 2,
  target: 3,
  other: undefined,
}

/** One Service port's chains stand on each other in the order in which packets go through them. */
const STACKED = ['KUBE-FW-', 'KUBE-EXT-', 'KUBE-SVL-', 'KUBE-SVC-']

/** A verdict that no edge shows, as it stands in its row. */
export function tagOf(row: GraphRow, hasEdge: boolean): string {
  if (hasEdge) return row.verdict.startsWith('DNAT ') ? 'DNAT' : ''
  return row.verdict.replace(/^KUBE-/, '')
}

/** Places every node and edge. The same structure gives the same picture. */
export function layoutGraph(graph: ChainGraph): GraphLayout {
  const widths = columnWidths(graph)
  const shared = graph.cards.filter(({ role }) => role === 'shared')
  const boxes = new Map<string, Box>()
  placeStack({ id: ROOT, nodes: shared }, { x: 0, y: 0 }, widths, boxes)
  const bends = placeBlocks(graph, buildBlocks(graph), widths, boxes)
  const edges = new Map(
    graph.edges.flatMap(({ id, from, row, to }) => {
      const start = boxes.get(from)
      const end = boxes.get(to)
      return start && end ? [[id, placeEdge(start, row, end, bends.get(id) ?? [], boxes)] as const] : []
    }),
  )
  let width = 0
  let height = 0
  for (const box of boxes.values()) {
    width = Math.max(width, box.x + box.width)
    height = Math.max(height, box.y + box.height)
  }
  return { boxes, edges, width, height }
}

/** The text, cut where the card ends. */
export function fittingTitle(title: string, width: number): string {
  const room = Math.floor((width - 16) / TITLE_CHARACTER)
  return title.length > room ? `${title.slice(0, room - 1)}…` : title
}

/** Where packets for a shared chain come from, beside its name; empty where that has no room. */
export function originText({ table, chain, entries }: GraphCard, width: number): string {
  const room = (width - 16 - chain.length * MATCH_CHARACTER - 8) / TAG_CHARACTER
  const from = entries.length > 0 ? `← ${entries.join(' ')}` : ''
  const whole = table === 'nat' ? from : [table, from].join(' ').trim()
  if (whole.length <= room) return whole
  return table !== 'nat' && table.length <= room ? table : ''
}

/** What dagre places as one: a stack of cards, a single card or a target. */
interface Block {
  readonly id: string
  readonly nodes: readonly GraphNode[]
}

function buildBlocks(graph: ChainGraph): Block[] {
  const stacks = new Map<string, GraphNode[]>()
  for (const card of graph.cards) {
    if (card.role === 'shared') continue
    const key = stackOf(card)
    const stack = stacks.get(key)
    if (stack) stack.push(card)
    else stacks.set(key, [card])
  }
  const floor = (node: GraphNode): number =>
    node.kind === 'target' ? 0 : STACKED.findIndex((prefix) => node.chain.startsWith(prefix))
  return [
    ...Array.from(stacks, ([id, nodes]) => ({ id, nodes: nodes.toSorted((a, b) => floor(a) - floor(b)) })),
    ...graph.targets.map((target) => ({ id: target.id, nodes: [target] })),
  ]
}

/** The chains of one Service port share the hash at the end of their names. */
function stackOf(card: GraphCard): string {
  return COLUMN[card.role] === COLUMN.service
    ? `${card.table} ${card.chain.replace(/^KUBE-\w+-/, '')}`
    : card.id
}

function placeStack(
  { nodes }: Block,
  corner: Point,
  widths: ReadonlyMap<string, number>,
  boxes: Map<string, Box>,
): void {
  let top = corner.y
  for (const node of nodes) {
    const { width, height } = sizeOf(node, widths)
    boxes.set(node.id, { x: corner.x, y: top, width, height })
    top += height + STACK_GAP
  }
}

function sizeOf(node: GraphNode, widths: ReadonlyMap<string, number>): { width: number; height: number } {
  if (node.kind === 'target') return { width: TARGET_WIDTH, height: TARGET_HEIGHT }
  return { width: widths.get(columnName(node)) ?? 0, height: cardHeight(node) }
}

function columnName(card: GraphCard): string {
  return String(COLUMN[card.role] ?? card.role)
}

export function cardHeight({ rows, moreRows }: GraphCard): number {
  return CARD_HEAD + (rows.length + (moreRows > 0 ? 1 : 0)) * ROW_HEIGHT + CARD_FOOT
}

/** Cards of one column are equally wide. */
function columnWidths(graph: ChainGraph): Map<string, number> {
  const hasEdge = new Set(graph.edges.map(({ id }) => id))
  const widths = new Map<string, number>()
  for (const card of graph.cards) {
    const rows = card.rows.map(
      (row) =>
        NUMBER_WIDTH +
        shortened(row.match, MATCH_LENGTH).length * MATCH_CHARACTER +
        tagOf(row, hasEdge.has(row.id)).length * TAG_CHARACTER +
        8 +
        COUNT_WIDTH,
    )
    const title = Math.min(card.title.length, TITLE_LENGTH) * TITLE_CHARACTER + 16
    const width = Math.ceil(Math.max(title, card.chain.length * MATCH_CHARACTER + 34, ...rows))
    const column = columnName(card)
    widths.set(column, Math.max(widths.get(column) ?? 0, width))
  }
  return widths
}

/** All right of the shared chains is dagre's; gives back where long edges pass. */
function placeBlocks(
  graph: ChainGraph,
  blocks: readonly Block[],
  widths: ReadonlyMap<string, number>,
  boxes: Map<string, Box>,
): Map<string, Point[]> {
  const bends = new Map<string, Point[]>()
  if (blocks.length === 0) return bends
  const blockOf = new Map(blocks.flatMap((block) => block.nodes.map(({ id }) => [id, block] as const)))
  const rankOf = (block: Block | undefined): number | undefined => {
    const node = block?.nodes[0]
    if (!node) return 0
    return COLUMN[node.kind === 'target' ? 'target' : node.role]
  }
  const dagre = new Graph({ multigraph: true })
  dagre.setGraph({ rankdir: 'LR', ranksep: COLUMN_GAP, nodesep: ROW_GAP, edgesep: ROW_GAP })
  dagre.setDefaultEdgeLabel(() => ({}))
  dagre.setNode(ROOT, { width: widths.get('0') ?? 0, height: 1 })
  for (const block of blocks) {
    const sizes = block.nodes.map((node) => sizeOf(node, widths))
    dagre.setNode(block.id, {
      width: Math.max(...sizes.map(({ width }) => width)),
      height: sizes.reduce((sum, { height }) => sum + height, (sizes.length - 1) * STACK_GAP),
    })
  }
  for (const { id, from, to } of graph.edges) {
    const target = blockOf.get(to)
    const source = blockOf.get(from)
    if (!target || source === target) continue
    const start = rankOf(source)
    const end = rankOf(target)
    const minlen = start === undefined || end === undefined ? 1 : Math.max(1, end - start)
    dagre.setEdge(source?.id ?? ROOT, target.id, { minlen }, id)
  }
  // Edges come in the order of the rules, and rules are asked in order: dagre's own start would only turn it over.
  layout(dagre, { disableOptimalOrderHeuristic: true })
  const placed = blocks.map((block) => ({ block, ...(dagre.node(block.id) as Required<Box>) }))
  const offset = Math.min(...placed.map(({ y, height }) => y - height / 2))
  for (const { block, x, y, width, height } of placed)
    placeStack(block, { x: x - width / 2, y: y - height / 2 - offset }, widths, boxes)
  for (const edge of dagre.edges()) {
    const { points } = dagre.edge(edge) as { points: readonly Point[] }
    const inner = points.slice(1, -1).map(({ x, y }) => ({ x, y: y - offset }))
    if (edge.name !== undefined) bends.set(edge.name, inner)
  }
  return bends
}

const ROOT = 'shared chains'

/** From the row's right end to the target's port, past the columns in between. */
function placeEdge(
  start: Box,
  row: number,
  end: Box,
  bends: readonly Point[],
  boxes: ReadonlyMap<string, Box>,
): PlacedEdge {
  const from = { x: start.x + start.width, y: start.y + CARD_HEAD + (row + 0.5) * ROW_HEIGHT }
  if (start.x === end.x) {
    // To another card of the stack: round by the right side, in at its heading.
    const tip = { x: end.x + end.width, y: end.y + PORT }
    const out = round(tip.x + LOOP)
    return {
      path: `M ${round(from.x)} ${round(from.y)} C ${out} ${round(from.y)} ${out} ${round(tip.y)} ${round(tip.x)} ${round(tip.y)}`,
      end: tip,
      heads: 'left',
    }
  }
  const tip = { x: end.x, y: end.y + PORT }
  const columns = columnsBetween(boxes, from.x, tip.x)
  const stations: Point[] = [from]
  for (const { left, right } of columns) {
    const bend = bends.find(({ x }) => x >= left && x <= right)
    if (bend) stations.push({ x: left - 6, y: bend.y }, { x: right + 6, y: bend.y })
  }
  stations.push(tip)
  return { path: smooth(stations), end: tip, heads: 'right' }
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
