import { HOOKS, type Hook, tablesAt } from '../../src-main/domain/iptables/check-jumps.ts'

/** All lengths are drawing units: the picture is designed at MAP_WIDTH × MAP_HEIGHT and scales as a whole. */
export const MAP_WIDTH = 738
export const MAP_HEIGHT = 197

export const CELL_HEIGHT = 22
export const HOOK_HEAD = 16

export interface Point {
  readonly x: number
  readonly y: number
}

export interface Box extends Point {
  readonly width: number
  readonly height: number
}

/** One table at one hook. */
export interface MapCell extends Box {
  readonly id: string
  readonly hook: Hook
  readonly table: string
  /** From 1: the kernel asks the tables of a hook in this order. */
  readonly order: number
}

export interface MapHook extends Box {
  readonly hook: Hook
  readonly cells: readonly MapCell[]
}

export type PlaceId = 'in' | 'routing' | 'process' | 'rerouting' | 'out'

export interface MapPlace extends Box {
  readonly id: PlaceId
  readonly shape: 'interface' | 'decision' | 'process'
  readonly lines: readonly string[]
}

export interface MapLink {
  readonly id: string
  readonly from: PlaceId | Hook
  readonly to: PlaceId | Hook
  readonly points: readonly Point[]
  /** The hook whose packets are exactly those of this link; a link without one only shows the way. */
  readonly countedAt?: Hook
}

export interface NetfilterMap {
  readonly hooks: readonly MapHook[]
  readonly places: readonly MapPlace[]
  readonly links: readonly MapLink[]
}

const HOOK_WIDTH = 124
const UPPER_LINE = 52
const LOWER_LINE = 147
/** Where the way from OUTPUT meets the one from FORWARD. */
const MEETING = 530
/** The routing decision for what comes in; INPUT is right under it. */
const DECISION = 242

/** `security` is left out: no rule of Kubernetes stands there, and most kernels have no use for it. */
const SHOWN_TABLES: ReadonlySet<string> = new Set(['raw', 'mangle', 'nat', 'filter'])

/** A name for one table at one hook, as `hooks/sample` tells them apart. */
export function cellId(hook: string, table: string): string {
  return `${hook} ${table}`
}

/** The map of one node, the same for every node: only what the cells count differs. */
export function buildNetfilterMap(): NetfilterMap {
  const at: Readonly<Record<Hook, { left: number; line: number }>> = {
    PREROUTING: { left: 64, line: UPPER_LINE },
    INPUT: { left: 180, line: LOWER_LINE },
    FORWARD: { left: 298, line: UPPER_LINE },
    OUTPUT: { left: 378, line: LOWER_LINE },
    POSTROUTING: { left: 548, line: UPPER_LINE },
  }
  const hooks = HOOKS.map((hook) => buildHook(hook, at[hook].left, at[hook].line))
  const places: readonly MapPlace[] = [
    place('in', 'interface', 26, UPPER_LINE, 52, 38, ['interface', 'in']),
    place('routing', 'decision', DECISION, UPPER_LINE, 80, 42, ['routing', 'decision']),
    place('process', 'process', 341, LOWER_LINE, 54, 42, ['local', 'process']),
    place('rerouting', 'decision', MEETING, 88, 52, 24, ['routing']),
    place('out', 'interface', 711, UPPER_LINE, 52, 38, ['interface', 'out']),
  ]
  const box = (id: PlaceId | Hook): Box => {
    const found = hooks.find(({ hook }) => hook === id) ?? places.find((each) => each.id === id)
    if (!found) throw new Error(`the map has no ${id}`)
    return found
  }
  const across = (from: PlaceId | Hook, to: PlaceId | Hook, line: number, countedAt?: Hook): MapLink => {
    const start = box(from)
    const points = [
      { x: start.x + start.width, y: line },
      { x: box(to).x, y: line },
    ]
    return { id: `${from} ${to}`, from, to, points, ...(countedAt ? { countedAt } : {}) }
  }
  const routing = box('routing')
  const input = box('INPUT')
  const output = box('OUTPUT')
  const rerouting = box('rerouting')
  return {
    hooks,
    places,
    links: [
      across('in', 'PREROUTING', UPPER_LINE, 'PREROUTING'),
      across('PREROUTING', 'routing', UPPER_LINE),
      across('routing', 'FORWARD', UPPER_LINE, 'FORWARD'),
      across('FORWARD', 'POSTROUTING', UPPER_LINE),
      across('POSTROUTING', 'out', UPPER_LINE),
      {
        id: 'routing INPUT',
        from: 'routing',
        to: 'INPUT',
        points: [
          { x: DECISION, y: routing.y + routing.height },
          { x: DECISION, y: input.y + HOOK_HEAD },
        ],
        countedAt: 'INPUT',
      },
      across('INPUT', 'process', LOWER_LINE),
      across('process', 'OUTPUT', LOWER_LINE, 'OUTPUT'),
      {
        id: 'OUTPUT rerouting',
        from: 'OUTPUT',
        to: 'rerouting',
        points: [
          { x: output.x + output.width, y: LOWER_LINE },
          { x: MEETING, y: LOWER_LINE },
          { x: MEETING, y: rerouting.y + rerouting.height },
        ],
      },
      {
        id: 'rerouting POSTROUTING',
        from: 'rerouting',
        to: 'POSTROUTING',
        points: [
          { x: MEETING, y: rerouting.y },
          { x: MEETING, y: UPPER_LINE },
          { x: box('POSTROUTING').x, y: UPPER_LINE },
        ],
      },
    ],
  }
}

function buildHook(hook: Hook, left: number, line: number): MapHook {
  const tables = tablesAt(hook).filter((table) => SHOWN_TABLES.has(table))
  const top = line - (tables.length * CELL_HEIGHT) / 2
  const cells = tables.map(
    (table, index): MapCell => ({
      id: cellId(hook, table),
      hook,
      table,
      order: index + 1,
      x: left,
      y: top + index * CELL_HEIGHT,
      width: HOOK_WIDTH,
      height: CELL_HEIGHT,
    }),
  )
  const height = HOOK_HEAD + tables.length * CELL_HEIGHT
  return { hook, x: left, y: top - HOOK_HEAD, width: HOOK_WIDTH, height, cells }
}

function place(
  id: PlaceId,
  shape: MapPlace['shape'],
  centre: number,
  line: number,
  width: number,
  height: number,
  lines: readonly string[],
): MapPlace {
  return { id, shape, x: centre - width / 2, y: line - height / 2, width, height, lines }
}
