import type { Selection } from '../lab-state.svelte.ts'

/** What is picked in the picture, as its bar and menu call it; empty for what is no part of it. */
export function selectionTitle(selection: Selection): string {
  switch (selection.kind) {
    case 'client':
      return 'client'
    case 'node':
      return `node ${selection.node}`
    case 'pod':
      return `pod ${selection.name}`
    case 'link':
      return `link ${selection.id.slice(selection.id.lastIndexOf('/') + 1)}`
    default:
      return ''
  }
}
