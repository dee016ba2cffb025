import { on } from 'svelte/events'

/** Nearer to the end than this is at the end. */
const NEAR_PX = 8

/** An attachment of what scrolls: it stays at its end while more comes, unless somebody has scrolled up. */
export function followEnd(element: HTMLElement): () => void {
  let isAtEnd = true
  let top = element.scrollTop
  const toEnd = (): void => {
    if (isAtEnd) element.scrollTop = element.scrollHeight
  }
  const stopListening = on(element, 'scroll', () => {
    // What a new size of the window moves is no sign that somebody wants to read further up.
    if (element.scrollTop + element.clientHeight >= element.scrollHeight - NEAR_PX) isAtEnd = true
    else if (element.scrollTop < top) isAtEnd = false
    top = element.scrollTop
  })
  const observer = new MutationObserver(toEnd)
  const sizes = new ResizeObserver(toEnd)
  sizes.observe(element)
  observer.observe(element, { childList: true, characterData: true, subtree: true })
  toEnd()
  return () => {
    stopListening()
    observer.disconnect()
    sizes.disconnect()
  }
}
