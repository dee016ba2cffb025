import type { GraphLayout } from './graph-layout.ts'
import type { Box } from './netfilter-map.ts'
import { fitPose, homePose, type Pose, panPose, revealPose, zoomPose } from './pan-zoom.ts'

/** The window's middle size of type outside projector mode, in pixels. */
const USUAL_TYPE = 13
/** From here on a press with the mouse is a drag, in pixels. */
const DRAG_PX = 4

interface Shown {
  readonly layout: GraphLayout
  /** Changes when another picture is wanted, which is then shown from its beginning. */
  readonly wish: string
}

/** Where the graph stands in its pane, and how a person moves it there. */
export class GraphPose {
  readonly #shown: () => Shown
  /** Of the pane. */
  width = $state(0)
  height = $state(0)
  /** Of a line of the window's type. */
  typeHeight = $state(USUAL_TYPE)
  isDragging = $state(false)
  #moved = $state.raw<{ wish: string; pose: Pose }>()
  readonly #size = $derived({ width: this.width, height: this.height })
  /** Where a person has moved the picture, else from the beginning; larger where the window's type is larger. */
  readonly at: Pose = $derived.by(() => {
    const { layout, wish } = this.#shown()
    return this.#moved?.wish === wish
      ? this.#moved.pose
      : homePose(layout, this.#size, this.typeHeight / USUAL_TYPE)
  })

  constructor(shown: () => Shown) {
    this.#shown = shown
  }

  #move(pose: Pose): void {
    this.#moved = { wish: this.#shown().wish, pose }
  }

  zoom(factor: number): void {
    this.#move(zoomPose(this.at, factor, { x: this.width / 2, y: this.height / 2 }))
  }

  pan(by: { x: number; y: number }, from = this.at): void {
    this.#move(panPose(from, by, this.#shown().layout, this.#size))
  }

  showWhole(): void {
    this.#move(fitPose(this.#shown().layout, this.#size))
  }

  reset(): void {
    this.#moved = undefined
  }

  reveal(box: Box): void {
    const next = revealPose(this.at, box, this.#size)
    if (next.x !== this.at.x || next.y !== this.at.y) this.#move(next)
  }

  /** An attachment of the pane. */
  readonly followWheel = (element: HTMLElement): (() => void) => {
    const onwheel = (event: WheelEvent): void => {
      event.preventDefault()
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1
      if (event.ctrlKey || event.metaKey) {
        const { left, top } = element.getBoundingClientRect()
        const at = { x: event.clientX - left, y: event.clientY - top }
        this.#move(zoomPose(this.at, Math.exp((-event.deltaY * unit) / 400), at))
        return
      }
      const [dx, dy] = event.shiftKey ? [event.deltaY, event.deltaX] : [event.deltaX, event.deltaY]
      this.pan({ x: -dx * unit, y: -dy * unit })
    }
    // Wheel listeners that stop the page from scrolling must not be passive.
    element.addEventListener('wheel', onwheel, { passive: false })
    return () => element.removeEventListener('wheel', onwheel)
  }

  readonly drag = (start: PointerEvent & { currentTarget: HTMLElement }): void => {
    if (start.button !== 0) return
    const handle = start.currentTarget
    const from = this.at
    let isFar = false
    const end = new AbortController()
    handle.addEventListener(
      'pointermove',
      ({ clientX, clientY, pointerId }: PointerEvent) => {
        const by = { x: clientX - start.clientX, y: clientY - start.clientY }
        if (!isFar && Math.hypot(by.x, by.y) < DRAG_PX) return
        if (!isFar) handle.setPointerCapture(pointerId)
        isFar = true
        this.isDragging = true
        this.pan(by, from)
      },
      end,
    )
    for (const name of ['pointerup', 'pointercancel'] as const)
      window.addEventListener(
        name,
        () => {
          end.abort()
          this.isDragging = false
        },
        { once: true, signal: end.signal },
      )
  }
}
