import type { ChainGraph } from './chain-graph.ts'
import { CARD_HEAD, type GraphLayout, ROW_HEIGHT } from './graph-layout.ts'
import type { Box } from './netfilter-map.ts'

/** Something in the graph that can have the focus. */
export interface Stop extends Box {
  readonly id: string
}

/** How a stop behaves, wherever in the graph it is drawn. */
export interface StopKeys {
  /** Where Tab enters the graph. */
  readonly first: string | undefined
  isSelected(id: string): boolean
  focus(id: string): void
  press(event: KeyboardEvent, id: string, act: () => void, open: () => void): void
}

/** Headings, rows and targets. */
export function listStops(graph: ChainGraph, layout: GraphLayout): Stop[] {
  const all: Stop[] = []
  for (const card of graph.cards) {
    const box = layout.boxes.get(card.id)
    if (!box) continue
    all.push({ ...box, id: card.id, height: CARD_HEAD })
    card.rows.forEach((row, at) => {
      all.push({ ...box, id: row.id, y: box.y + CARD_HEAD + at * ROW_HEIGHT, height: ROW_HEIGHT })
    })
  }
  for (const { id } of graph.targets) {
    const box = layout.boxes.get(id)
    if (box) all.push({ ...box, id })
  }
  return all
}
