import type { Segment } from './segments.ts'

/** What the links of a line lead to, for their titles; without one the words are no link. */
export interface LineLinks {
  readonly chain: string | undefined
  readonly object: string | undefined
}

/**
 * Puts a line's pieces into its element. By hand, because a fast scroll brings hundreds of them in a frame, and a
 * component would make several nodes for each. A click finds its link by `data-link`.
 */
export function writeSegments(element: Element, segments: readonly Segment[], links: LineLinks): void {
  element.replaceChildren(
    ...segments.map((segment) => {
      const { kind, text, isHit } = segment
      if (kind === 'plain' && !isHit) return text
      const link = kind === 'chain' ? links.chain : kind === 'comment' ? links.object : undefined
      const piece = document.createElement(link === undefined ? 'span' : 'button')
      piece.className = isHit ? `${kind} found` : kind
      piece.textContent = text
      if (link !== undefined) {
        piece.dataset['link'] = kind
        piece.tabIndex = -1
        piece.title = link
        piece.setAttribute('type', 'button')
      }
      return piece
    }),
  )
}
