/** How far a pane can be made small or large, and what its arrow keys do. Pixels. */
export interface Bounds {
  readonly min: number
  readonly max: number
}

const KEY_STEP = 16
const KEY_STEP_LARGE = 64

/** What a pane gets of `space` when the rest must keep `rest`. */
export function boundsIn(space: number, min: number, rest: number): Bounds {
  return { min, max: Math.max(min, space - rest) }
}

export const clampSize = (size: number, { min, max }: Bounds): number =>
  Math.round(Math.max(min, Math.min(max, size)))

/** Dragging a pane below half of its smallest size folds it away. */
export const foldsAt = (size: number, { min }: Bounds): boolean => size < min / 2

/** The size after a key on the pane's edge; undefined where the key is another's. `grows` is the key that makes it larger. */
export function sizeAfterKey(
  key: string,
  large: boolean,
  size: number,
  bounds: Bounds,
  grows: 'ArrowRight' | 'ArrowLeft' | 'ArrowUp' | 'ArrowDown',
): number | undefined {
  const shrinks = {
    ArrowRight: 'ArrowLeft',
    ArrowLeft: 'ArrowRight',
    ArrowUp: 'ArrowDown',
    ArrowDown: 'ArrowUp',
  }[grows]
  const step = large ? KEY_STEP_LARGE : KEY_STEP
  switch (key) {
    case grows:
      return clampSize(size + step, bounds)
    case shrinks:
      return clampSize(size - step, bounds)
    case 'Home':
      return bounds.min
    case 'End':
      return bounds.max
    default:
      return undefined
  }
}
