import type { Point } from './netfilter-map.ts'

export type Direction = 'left' | 'right' | 'up' | 'down'

const DIRECTIONS: Readonly<Record<string, Direction>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
}

/** Undefined for every other key. */
export function directionOf(key: string): Direction | undefined {
  return DIRECTIONS[key]
}

/** What an arrow key leads to: near, and rather straight ahead than aside. Undefined at the edge. */
export function nearestStop<T extends Point>(
  stops: readonly T[],
  from: Point,
  direction: Direction,
): T | undefined {
  let best: T | undefined
  let bestCost = Number.POSITIVE_INFINITY
  for (const stop of stops) {
    const dx = stop.x - from.x
    const dy = stop.y - from.y
    const ahead = { left: -dx, right: dx, up: -dy, down: dy }[direction]
    const aside = Math.abs(direction === 'left' || direction === 'right' ? dy : dx)
    const cost = ahead + 2 * aside
    if (ahead > 0.5 && cost < bestCost) {
      best = stop
      bestCost = cost
    }
  }
  return best
}
