import { fitView, keepInSight, reveal, type StageView, zoomAt } from './stage-view.ts'
import type { Box, TopologyLayout } from './topology-layout.ts'

/** From here on a press with the mouse is a drag, in pixels. */
const DRAG_PX = 5

/** Where the picture stands on its stage, and how a person moves it there. */
export class StagePose {
  readonly #layout: () => TopologyLayout
  width = $state(0)
  height = $state(0)
  isPanning = $state(false)
  /** The last press moved the picture, so that its click picks nothing. */
  wasDragged = false
  /** Undefined: all of it in view. */
  #moved = $state.raw<StageView | undefined>()
  readonly #stage = $derived({ width: this.width, height: this.height })
  readonly view = $derived.by(() => {
    const layout = this.#layout()
    return this.#moved
      ? keepInSight(this.#moved, layout, this.#stage)
      : fitView(layout, this.#stage, layout.zoom)
  })

  constructor(layout: () => TopologyLayout) {
    this.#layout = layout
  }

  get isMoved(): boolean {
    return this.#moved !== undefined
  }

  showAll(): void {
    this.#moved = undefined
  }

  zoomBy(factor: number): void {
    this.#moved = zoomAt(this.view, factor, { x: this.width / 2, y: this.height / 2 })
  }

  /** What all of the picture shows needs no moving. */
  reveal(box: Box): void {
    if (this.#moved) this.#moved = reveal(this.view, box, this.#stage)
  }

  /** An attachment of the stage. */
  readonly followWheel = (element: HTMLElement): (() => void) => {
    const onwheel = (event: WheelEvent): void => {
      event.preventDefault()
      const { left, top } = element.getBoundingClientRect()
      const at = { x: event.clientX - left, y: event.clientY - top }
      this.#moved = zoomAt(this.view, Math.exp(-event.deltaY * 0.0015), at)
    }
    // Not passive, so that the page does not scroll or zoom along.
    element.addEventListener('wheel', onwheel, { passive: false })
    return () => element.removeEventListener('wheel', onwheel)
  }

  readonly drag = (event: PointerEvent & { currentTarget: HTMLElement }): void => {
    this.wasDragged = false
    if (event.button !== 0) return
    const from = { x: event.clientX, y: event.clientY, view: this.view }
    const element = event.currentTarget
    const move = (now: PointerEvent): void => {
      const dx = now.clientX - from.x
      const dy = now.clientY - from.y
      if (!this.wasDragged && Math.hypot(dx, dy) < DRAG_PX) return
      if (!this.wasDragged) element.setPointerCapture(now.pointerId)
      this.wasDragged = true
      this.isPanning = true
      this.#moved = { ...from.view, x: from.view.x + dx, y: from.view.y + dy }
    }
    const end = (): void => {
      this.isPanning = false
      element.removeEventListener('pointermove', move)
      element.removeEventListener('pointerup', end)
      element.removeEventListener('pointercancel', end)
    }
    element.addEventListener('pointermove', move)
    element.addEventListener('pointerup', end)
    element.addEventListener('pointercancel', end)
  }
}
