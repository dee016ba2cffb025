import { readFileSync, writeFileSync } from 'node:fs'

export interface Bounds {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** The window's smallest size; what is remembered is not smaller either. */
export const MIN_SIZE = { width: 960, height: 600 } as const

/** So much of the title bar must be on a screen that it can be grasped. */
const GRASP = { width: 120, height: 32 } as const

/** The remembered place, or undefined where there is none that a person could reach on these screens. */
export function readBounds(file: string, screens: readonly Bounds[]): Bounds | undefined {
  let saved: unknown
  try {
    saved = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined // the first start, or a file that somebody broke: the usual place will do
  }
  return isBounds(saved) && screens.some((screen) => isReachable(saved, screen)) ? saved : undefined
}

export function writeBounds(file: string, { x, y, width, height }: Bounds): void {
  writeFileSync(file, JSON.stringify({ x, y, width, height }))
}

function isBounds(value: unknown): value is Bounds {
  if (typeof value !== 'object' || value === null) return false
  const { x, y, width, height } = value as Partial<Record<keyof Bounds, unknown>>
  return (
    [x, y, width, height].every(Number.isSafeInteger) &&
    Number(width) >= MIN_SIZE.width &&
    Number(height) >= MIN_SIZE.height
  )
}

function isReachable(window: Bounds, screen: Bounds): boolean {
  const right = Math.min(window.x + window.width, screen.x + screen.width)
  const across = right - Math.max(window.x, screen.x)
  return (
    across >= GRASP.width &&
    window.y >= screen.y &&
    window.y + GRASP.height <= screen.y + screen.height &&
    window.width <= screen.width &&
    window.height <= screen.height
  )
}
