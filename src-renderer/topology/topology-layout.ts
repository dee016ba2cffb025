import type { NodeItem, PodItem, TopologyModel } from './topology-model.ts'

/** Where things stand, in pixels at zoom 1; (0, 0) is the picture's upper left corner. */
export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface Point {
  readonly x: number
  readonly y: number
}

/** How much of a pod is written: name, address and traffic · name and address · the name's end · a mark. */
export type Detail = 'full' | 'brief' | 'name' | 'mark'

export interface CablePath {
  readonly points: readonly Point[]
  /** Where the cable's plug is drawn, and clicked. */
  readonly plug: Point
}

export interface PodPlace {
  readonly pod: PodItem
  readonly box: Box
  readonly cable: CablePath | undefined
}

export interface NodePlace {
  readonly node: NodeItem
  readonly box: Box
  readonly bridge: Box
  readonly pods: readonly PodPlace[]
  readonly cable: CablePath | undefined
  /** Where the traffic of the node's cable is written. */
  readonly label: Box
}

export interface TopologyLayout {
  readonly width: number
  readonly height: number
  /** How large all of it may be shown: above 1 where there is little to show. */
  readonly zoom: number
  readonly detail: Detail
  readonly client: { readonly box: Box; readonly cable: CablePath | undefined; readonly label: Box }
  readonly switch: Box
  readonly nodes: readonly NodePlace[]
}

/** Which place of its node's grid each pod has; a pod keeps its own as long as it lives. */
export interface Slots {
  readonly byNode: ReadonlyMap<string, NodeSlots>
}

interface NodeSlots {
  readonly places: ReadonlyMap<string, number>
  /** Places of the grid, taken or not; so a pod's end moves nothing. */
  readonly capacity: number
}

export const NO_SLOTS: Slots = { byNode: new Map() }

/** Keeps every pod's place, gives newcomers the lowest free ones, and makes room smaller only when half is empty. */
export function assignSlots(model: TopologyModel, earlier: Slots): Slots {
  return {
    byNode: new Map(
      model.nodes.map(({ name, pods }) => [name, assignNodeSlots(pods, earlier.byNode.get(name))] as const),
    ),
  }
}

function assignNodeSlots(pods: readonly PodItem[], earlier: NodeSlots | undefined): NodeSlots {
  const places = new Map<string, number>()
  for (const { id } of pods) {
    const place = earlier?.places.get(id)
    if (place !== undefined) places.set(id, place)
  }
  const taken = new Set(places.values())
  let next = 0
  for (const { id } of pods) {
    if (places.has(id)) continue
    while (taken.has(next)) next += 1
    taken.add(next)
    places.set(id, next)
  }
  const needed = Math.max(0, ...[...taken].map((place) => place + 1))
  const before = earlier?.capacity ?? 0
  if (needed > before) return { places, capacity: needed }
  if (pods.length * 2 >= before) return { places, capacity: before }
  // Half of it is empty: everybody moves up.
  return { places: new Map(pods.map(({ id }, index) => [id, index])), capacity: pods.length }
}

interface CellSize {
  readonly width: number
  readonly maxWidth: number
  readonly height: number
  readonly gap: number
  /** Room at the left of each column for its cables. */
  readonly gutter: number
}

/** At a small type of 11 px; all grows with it. */
const CELLS: Readonly<Record<Detail, CellSize>> = {
  full: { width: 150, maxWidth: 230, height: 64, gap: 8, gutter: 20 },
  brief: { width: 90, maxWidth: 150, height: 31, gap: 4, gutter: 14 },
  name: { width: 54, maxWidth: 80, height: 18, gap: 4, gutter: 12 },
  mark: { width: 16, maxWidth: 16, height: 16, gap: 3, gutter: 8 },
}
/** A picture with few things in it is shown larger. */
const ENLARGED = [1.4, 1.25, 1.12] as const
const DETAILS = ['full', 'brief', 'name', 'mark'] as const

const MARGIN = 10
const CLIENT = { width: 154, height: 40 } as const
/** Between the client and the switch: their cable, with its traffic written over it. */
const CLIENT_CABLE = 118
const SWITCH_HEIGHT = 40
/** Between the switch and the nodes. */
const DROP = { min: 46, max: 110 } as const
const NODE = {
  minWidth: 166,
  maxWidth: 520,
  gap: 14,
  padding: 8,
  header: 22,
  bridge: 20,
  bridgeGap: 8,
} as const
/** Traffic in two lines; over a node's also the address of its `eth0`. */
const LABEL = { width: 130, height: 42 } as const
const CLIENT_LABEL_HEIGHT = 30
/** Left of the first column, for cables to later rows. */
const LANE_ROOM = 12
/** A node's plug is so far from its left corner. */
const PLUG_INSET = 16
const BUS_SPACING = 5

export interface LayoutRequest {
  readonly width: number
  readonly height: number
  /** The smallest type in pixels, which the rest goes by. */
  readonly type: number
}

/** The picture with as much written as the room allows; with less than the least it grows downward. */
export function layoutTopology(model: TopologyModel, slots: Slots, request: LayoutRequest): TopologyLayout {
  const scale = request.type / 11
  const room = { width: request.width / scale, height: request.height / scale }
  const layout = chooseLayout(model, slots, room)
  return scale === 1 ? layout : scaled(layout, scale)
}

interface Room {
  readonly width: number
  readonly height: number
}

function chooseLayout(model: TopologyModel, slots: Slots, room: Room): TopologyLayout {
  const tries = [
    ...ENLARGED.map((zoom) => ['full', zoom] as const),
    ...DETAILS.map((detail) => [detail, 1] as const),
  ]
  for (const [detail, zoom] of tries) {
    const part = { width: room.width / zoom, height: room.height / zoom }
    const layout = place(model, slots, detail, part)
    if (layout.height <= part.height && layout.width <= part.width) return { ...layout, zoom }
  }
  return place(model, slots, 'mark', room)
}

interface Grid {
  readonly columns: number
  readonly rows: number
  readonly cellWidth: number
}

interface PlannedNode {
  readonly node: NodeItem
  readonly slots: NodeSlots
  readonly width: number
  readonly grid: Grid
}

const EMPTY_NODE: NodeSlots = { places: new Map(), capacity: 0 }

function place(model: TopologyModel, slots: Slots, detail: Detail, room: Room): TopologyLayout {
  const cell = CELLS[detail]
  const width = Math.max(room.width, MARGIN * 2 + CLIENT.width + CLIENT_CABLE + NODE.minWidth)
  const inner = width - MARGIN * 2
  const perRow = Math.max(1, Math.floor((inner + NODE.gap) / (NODE.minWidth + NODE.gap)))
  const chunks = chunk(model.nodes, perRow)
  // In several lines the boxes stand in columns, so that cables find a way down between them.
  const columns = chunks.length > 1 ? (chunks[0]?.length ?? 1) : undefined
  const indent = columns === undefined ? 0 : LANE_ROOM
  const lines = chunks.map((line) => planLine(line, slots, cell, inner - indent, columns))
  const lineHeights = lines.map((line) => Math.max(...line.map(({ grid }) => nodeHeight(grid, cell))))
  const gaps = DROP.min * Math.max(0, lines.length - 1)
  const needed =
    MARGIN * 2 + CLIENT.height + DROP.min + lineHeights.reduce((sum, height) => sum + height, 0) + gaps
  const spare = Math.max(0, room.height - needed)
  const drop = Math.min(DROP.max, DROP.min + spare * 0.35)
  const top = MARGIN + Math.max(0, spare - (drop - DROP.min)) * 0.35
  const client: Box = { x: width - MARGIN - CLIENT.width, y: top, ...CLIENT }
  const switchBox: Box = {
    x: MARGIN,
    y: top,
    width: client.x - CLIENT_CABLE - MARGIN,
    height: SWITCH_HEIGHT,
  }
  const nodes: NodePlace[] = []
  const ports = new SwitchPorts(switchBox)
  let y = top + CLIENT.height + drop
  lines.forEach((line, row) => {
    const lineWidth = line.reduce((sum, planned) => sum + planned.width, 0) + NODE.gap * (line.length - 1)
    let x = columns === undefined ? MARGIN + (inner - lineWidth) / 2 : MARGIN + indent
    const height = lineHeights[row] ?? 0
    const boxes = line.map((planned): Box => {
      const box = { x, y, width: planned.width, height }
      x += planned.width + NODE.gap
      return box
    })
    // From the right, so that cables that go round the switch's end do not cross.
    const paths = boxes
      .toReversed()
      .map((box) => ports.pathTo(box, row))
      .toReversed()
    line.forEach((planned, index) => {
      const box = boxes[index]
      const path = paths[index]
      if (box && path) nodes.push(placeNode(planned, box, path, cell, detail))
    })
    y += height + DROP.min
  })
  const height = y - DROP.min + MARGIN
  const cableY = client.y + client.height / 2
  return {
    width,
    height,
    zoom: 1,
    detail,
    client: {
      box: client,
      cable: model.client.cable && {
        points: [
          { x: client.x, y: cableY },
          { x: switchBox.x + switchBox.width, y: cableY },
        ],
        plug: { x: client.x, y: cableY },
      },
      label: {
        x: switchBox.x + switchBox.width + 6,
        y: cableY - CLIENT_LABEL_HEIGHT - 1,
        width: CLIENT_CABLE - 10,
        height: CLIENT_LABEL_HEIGHT,
      },
    },
    switch: switchBox,
    nodes,
  }
}

/** Widths by how many pods each node has to hold. */
function planLine(
  line: readonly NodeItem[],
  slots: Slots,
  cell: CellSize,
  inner: number,
  columns: number | undefined,
): PlannedNode[] {
  const count = columns ?? line.length
  const room = inner - NODE.gap * (count - 1)
  const capacities = line.map(({ name }) => slots.byNode.get(name)?.capacity ?? 0)
  const free = Math.max(0, room - NODE.minWidth * count)
  const weights =
    columns === undefined
      ? capacities.map((capacity) => Math.max(0.15, capacity))
      : Array.from({ length: columns }, () => 1)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return line.map((node, index) => {
    const width = Math.floor(
      Math.min(NODE.maxWidth, NODE.minWidth + (free * (weights[index] ?? 0)) / (total || 1)),
    )
    const nodeSlots = slots.byNode.get(node.name) ?? EMPTY_NODE
    return { node, slots: nodeSlots, width, grid: planGrid(nodeSlots.capacity, width, cell) }
  })
}

function planGrid(capacity: number, width: number, cell: CellSize): Grid {
  const inside = width - NODE.padding * 2
  const most = Math.max(1, Math.floor((inside + cell.gap) / (cell.width + cell.gutter + cell.gap)))
  const rows = Math.ceil(capacity / most)
  const columns = Math.max(1, rows <= 1 ? Math.min(most, capacity || 1) : Math.ceil(capacity / rows))
  const each = (inside - cell.gap * (columns - 1)) / columns - cell.gutter
  return {
    columns,
    rows,
    cellWidth: Math.floor(Math.max(Math.min(cell.width, each), Math.min(cell.maxWidth, each))),
  }
}

function nodeHeight({ rows }: Grid, cell: CellSize): number {
  const pods = rows === 0 ? 26 : rows * cell.height + (rows - 1) * cell.gap
  return NODE.padding + NODE.header + NODE.bridge + NODE.bridgeGap + pods + NODE.padding
}

function placeNode(
  { node, slots, grid }: PlannedNode,
  box: Box,
  path: CablePath,
  cell: CellSize,
  detail: Detail,
): NodePlace {
  const bridge: Box = {
    x: box.x + NODE.padding,
    y: box.y + NODE.padding + NODE.header,
    width: box.width - NODE.padding * 2,
    height: NODE.bridge,
  }
  const top = bridge.y + bridge.height + NODE.bridgeGap
  const pods = node.pods.map((pod): PodPlace => {
    const slot = slots.places.get(pod.id) ?? 0
    const column = slot % grid.columns
    const row = Math.floor(slot / grid.columns)
    const x = bridge.x + column * (grid.cellWidth + cell.gutter + cell.gap) + cell.gutter
    const podBox: Box = {
      x,
      y: top + row * (cell.height + cell.gap),
      width: grid.cellWidth,
      height: cell.height,
    }
    const middle = podBox.y + Math.min(podBox.height / 2, detail === 'full' ? 18 : 99)
    // The lowest pod's cable runs outermost, so that no two cross.
    const spacing = Math.min(BUS_SPACING, (cell.gutter - 6) / Math.max(1, grid.rows))
    const busX = x - 5 - row * spacing
    const cable = pod.cable && {
      points: [
        { x: busX, y: bridge.y + bridge.height },
        { x: busX, y: middle },
        { x: podBox.x, y: middle },
      ],
      plug: { x: podBox.x, y: middle },
    }
    return { pod, box: podBox, cable }
  })
  return {
    node,
    box,
    bridge,
    pods,
    cable: node.cable && path,
    label: {
      x: path.plug.x + 8,
      y: box.y - LABEL.height - 2,
      width: Math.min(LABEL.width, box.width - PLUG_INSET - 8),
      height: LABEL.height,
    },
  }
}

/** Gives every node's cable its way from the switch's lower edge. */
class SwitchPorts {
  readonly #bottom: number
  readonly #right: number
  /** Cables that leave by the right end, to nodes that stand beyond it. */
  #beyond = 0

  constructor({ x, y, width, height }: Box) {
    this.#bottom = y + height
    this.#right = x + width
  }

  /** To be asked for the boxes of a row from right to left. */
  pathTo(box: Box, row: number): CablePath {
    const plug = { x: box.x + PLUG_INSET, y: box.y }
    const down = row === 0 ? plug.x : this.#laneBeside(box, row)
    const end =
      row === 0
        ? [plug]
        : [{ x: down, y: box.y - DROP.min + 6 }, { x: plug.x, y: box.y - DROP.min + 6 }, plug]
    if (down <= this.#right - 6) return { points: [{ x: down, y: this.#bottom }, ...end], plug }
    const x = this.#right - 6 - this.#beyond * 5
    const y = this.#bottom + 5 + Math.min(this.#beyond, 6) * 4
    this.#beyond += 1
    return { points: [{ x, y: this.#bottom }, { x, y }, { x: down, y }, ...end], plug }
  }

  /** Later rows are reached between the boxes of the earlier ones. */
  #laneBeside(box: Box, row: number): number {
    return box.x - NODE.gap + 3 + (((row - 1) * 3) % 9)
  }
}

function chunk<T>(items: readonly T[], size: number): T[][] {
  const lines = Math.ceil(items.length / size)
  const even = Math.ceil(items.length / Math.max(1, lines))
  return Array.from({ length: lines }, (_, line) => items.slice(line * even, (line + 1) * even))
}

function scaled(layout: TopologyLayout, scale: number): TopologyLayout {
  const point = ({ x, y }: Point): Point => ({ x: x * scale, y: y * scale })
  const box = ({ x, y, width, height }: Box): Box => ({
    x: x * scale,
    y: y * scale,
    width: width * scale,
    height: height * scale,
  })
  const cable = (path: CablePath | undefined): CablePath | undefined =>
    path && { points: path.points.map(point), plug: point(path.plug) }
  return {
    ...layout,
    width: layout.width * scale,
    height: layout.height * scale,
    switch: box(layout.switch),
    client: {
      box: box(layout.client.box),
      cable: cable(layout.client.cable),
      label: box(layout.client.label),
    },
    nodes: layout.nodes.map((node) => ({
      ...node,
      box: box(node.box),
      bridge: box(node.bridge),
      label: box(node.label),
      cable: cable(node.cable),
      pods: node.pods.map((pod) => ({ ...pod, box: box(pod.box), cable: cable(pod.cable) })),
    })),
  }
}

export type Direction = 'left' | 'right' | 'up' | 'down'

/** The item that an arrow key leads to: the nearest in that direction, with what is straight ahead preferred. */
export function nearestInDirection(
  places: ReadonlyMap<string, Box>,
  from: string,
  direction: Direction,
): string | undefined {
  const start = places.get(from)
  if (!start) return undefined
  const origin = centre(start)
  let best: { id: string; cost: number } | undefined
  for (const [id, box] of places) {
    if (id === from) continue
    const to = centre(box)
    const dx = to.x - origin.x
    const dy = to.y - origin.y
    const ahead = { left: -dx, right: dx, up: -dy, down: dy }[direction]
    if (ahead <= 1) continue
    const aside =
      direction === 'left' || direction === 'right'
        ? gapBetween(start, box, 'y')
        : gapBetween(start, box, 'x')
    const off = direction === 'left' || direction === 'right' ? Math.abs(dy) : Math.abs(dx)
    const cost = ahead + aside * 3 + off * 0.3
    if (!best || cost < best.cost) best = { id, cost }
  }
  return best?.id
}

const centre = ({ x, y, width, height }: Box): Point => ({ x: x + width / 2, y: y + height / 2 })

function gapBetween(one: Box, other: Box, axis: 'x' | 'y'): number {
  const size = axis === 'x' ? 'width' : 'height'
  return Math.max(0, other[axis] - one[axis] - one[size], one[axis] - other[axis] - other[size])
}
