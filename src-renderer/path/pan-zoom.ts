import type { Point } from './netfilter-map.ts'

/** Where the drawing lies in its pane: pixels = units × scale + (x, y). */
export interface Pose extends Point {
  readonly scale: number
}

export interface Size {
  readonly width: number
  readonly height: number
}

export const LEAST_SCALE = 0.15
export const MOST_SCALE = 3
const MARGIN = 12
/** Type is still read from the last row at this scale. */
const LEAST_HOME_SCALE = 0.84
const MOST_HOME_SCALE = 1.3

/**
 * As wide as the pane where that can be read; from the upper left, where packets come in. `type` is how much larger
 * than usual the window's type is.
 */
export function homePose(drawing: Size, pane: Size, type = 1): Pose {
  const wide = (pane.width - 2 * MARGIN) / Math.max(1, drawing.width)
  const scale = Math.max(LEAST_HOME_SCALE * type, Math.min(MOST_HOME_SCALE * type, wide))
  return { x: MARGIN, y: MARGIN, scale }
}

/** All of the drawing, in the middle of the pane. */
export function fitPose(drawing: Size, pane: Size): Pose {
  const scale = clampScale(
    Math.min(
      (pane.width - 2 * MARGIN) / Math.max(1, drawing.width),
      (pane.height - 2 * MARGIN) / Math.max(1, drawing.height),
      MOST_HOME_SCALE,
    ),
  )
  return {
    scale,
    x: (pane.width - drawing.width * scale) / 2,
    y: (pane.height - drawing.height * scale) / 2,
  }
}

/** The point of the drawing under `at` (pixels) stays there. */
export function zoomPose(pose: Pose, factor: number, at: Point): Pose {
  const scale = clampScale(pose.scale * factor)
  const ratio = scale / pose.scale
  return { scale, x: at.x - (at.x - pose.x) * ratio, y: at.y - (at.y - pose.y) * ratio }
}

/** Moved by pixels, but never so far that the pane is empty. */
export function panPose(pose: Pose, by: Point, drawing: Size, pane: Size): Pose {
  return {
    scale: pose.scale,
    x: clampShift(pose.x + by.x, drawing.width * pose.scale, pane.width),
    y: clampShift(pose.y + by.y, drawing.height * pose.scale, pane.height),
  }
}

/** Moved as little as shows the whole of a box (units). */
export function revealPose(pose: Pose, box: Point & Size, pane: Size): Pose {
  const shift = (start: number, length: number, room: number): number => {
    if (start < MARGIN) return MARGIN - start
    const over = start + length - (room - MARGIN)
    return over > 0 ? -Math.min(over, start - MARGIN) : 0
  }
  const { scale } = pose
  return {
    scale,
    x: pose.x + shift(box.x * scale + pose.x, box.width * scale, pane.width),
    y: pose.y + shift(box.y * scale + pose.y, box.height * scale, pane.height),
  }
}

const KEPT = 80

function clampShift(shift: number, length: number, room: number): number {
  return Math.max(Math.min(KEPT, room) - length, Math.min(room - Math.min(KEPT, room), shift))
}

function clampScale(scale: number): number {
  return Math.max(LEAST_SCALE, Math.min(MOST_SCALE, scale))
}
