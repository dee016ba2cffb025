/** Where the picture stands on its stage: a point p of it is drawn at (x + p·zoom). */
export interface StageView {
  readonly x: number
  readonly y: number
  readonly zoom: number
}

interface Size {
  readonly width: number
  readonly height: number
}

const ZOOM = { min: 0.3, max: 4 } as const

/** All of the picture in view, at most so large. */
export function fitView(picture: Size, stage: Size, largest = 1): StageView {
  const zoom = Math.max(
    ZOOM.min,
    Math.min(largest, stage.width / picture.width, stage.height / picture.height),
  )
  return { x: Math.max(0, (stage.width - picture.width * zoom) / 2), y: 0, zoom }
}

/** Larger or smaller around a point of the stage, which stays where it is. */
export function zoomAt(view: StageView, factor: number, at: { x: number; y: number }): StageView {
  const zoom = Math.max(ZOOM.min, Math.min(ZOOM.max, view.zoom * factor))
  const part = zoom / view.zoom
  return { x: at.x - (at.x - view.x) * part, y: at.y - (at.y - view.y) * part, zoom }
}

/** Moved so that a part of the picture stays on the stage. */
export function keepInSight(view: StageView, picture: Size, stage: Size): StageView {
  const margin = 60
  const limit = (value: number, size: number, room: number): number =>
    Math.max(Math.min(margin, room) - size * view.zoom, Math.min(room - margin, value))
  return {
    ...view,
    x: limit(view.x, picture.width, stage.width),
    y: limit(view.y, picture.height, stage.height),
  }
}

/** Moved as little as brings a box of the picture onto the stage. */
export function reveal(
  view: StageView,
  box: { x: number; y: number; width: number; height: number },
  stage: Size,
): StageView {
  const shift = (start: number, size: number, room: number): number => {
    if (start < 0) return -start
    return start + size > room ? room - start - size : 0
  }
  const x = view.x + shift(view.x + box.x * view.zoom, box.width * view.zoom, stage.width)
  const y = view.y + shift(view.y + box.y * view.zoom, box.height * view.zoom, stage.height)
  return x === view.x && y === view.y ? view : { ...view, x, y }
}
