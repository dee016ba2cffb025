import type { Selection } from '../lab-state.svelte.ts'
import type { Box, CablePath, TopologyLayout } from './topology-layout.ts'
import type { Cable, TopologyModel } from './topology-model.ts'

/** Something in the picture that can be picked. */
export interface TopologyItem {
  readonly id: string
  readonly box: Box
  readonly selection: Selection
}

/** How far around a plug a click counts. */
const PLUG_REACH = 7

/** All that can be picked, by id: hosts by their target id, cables and bridges by their link id. */
export function listItems(
  layout: TopologyLayout,
  model: Pick<TopologyModel, 'switch' | 'client'>,
): ReadonlyMap<string, TopologyItem> {
  const items = new Map<string, TopologyItem>()
  const add = (id: string, box: Box, selection: Selection): void => {
    items.set(id, { id, box, selection })
  }
  const addCable = (cable: Cable | undefined, path: CablePath | undefined): void => {
    if (cable && path) add(cable.id, plugBox(path), { kind: 'link', id: cable.id })
  }
  add('client', layout.client.box, { kind: 'client' })
  addCable(model.client.cable, layout.client.cable)
  if (model.switch) add(model.switch.id, layout.switch, { kind: 'link', id: model.switch.id })
  for (const { node, box, bridge, cable, pods } of layout.nodes) {
    addCable(node.cable, cable)
    // The box holds all the rest; for the arrow keys it is its own title.
    add(`node/${node.name}`, { ...box, height: bridge.y - box.y }, { kind: 'node', node: node.name })
    if (node.bridge) add(node.bridge.id, bridge, { kind: 'link', id: node.bridge.id })
    for (const place of pods) {
      const { pod } = place
      addCable(pod.cable, place.cable)
      add(pod.id, place.box, { kind: 'pod', namespace: pod.namespace, name: pod.name })
    }
  }
  return items
}

export function plugBox({ plug }: CablePath): Box {
  return {
    x: plug.x - PLUG_REACH,
    y: plug.y - PLUG_REACH,
    width: PLUG_REACH * 2,
    height: PLUG_REACH * 2,
  }
}

/** The item that a selection means. */
export function itemIdOf(selection: Selection | undefined): string | undefined {
  switch (selection?.kind) {
    case 'client':
      return 'client'
    case 'node':
      return `node/${selection.node}`
    case 'pod':
      return `pod/${selection.namespace}/${selection.name}`
    case 'link':
      return selection.id
    default:
      return undefined
  }
}

/** A cable's line as SVG has it, its corners rounded. */
export function pathText({ points }: CablePath, radius = 4): string {
  const [first, ...rest] = points
  if (!first) return ''
  let text = `M${first.x} ${first.y}`
  let before = first
  rest.forEach((corner, index) => {
    const next = rest[index + 1]
    if (next) {
      const inward = toward(corner, before, radius)
      const outward = toward(corner, next, radius)
      text += `L${inward.x} ${inward.y}Q${corner.x} ${corner.y} ${outward.x} ${outward.y}`
    } else text += `L${corner.x} ${corner.y}`
    before = corner
  })
  return text
}

type Point = CablePath['plug']

/** From one point a little way to another, at most half of it. */
function toward(from: Point, to: Point, distance: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y)
  const part = length === 0 ? 0 : Math.min(distance, length / 2) / length
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
}
