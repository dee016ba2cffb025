import { on } from 'svelte/events'

/** An attachment of a list: one listener for all rows, which carry their place as `data-at`; the keys are the view's. */
export function pickRows(onselect: (at: number) => void): (list: HTMLElement) => () => void {
  return (list) =>
    on(list, 'click', ({ target }) => {
      const row = target instanceof Element ? target.closest<HTMLElement>('[data-at]') : null
      if (row) onselect(Number(row.dataset['at']))
    })
}
