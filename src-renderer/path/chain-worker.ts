import type { ChainGraph, GraphWish } from './chain-graph.ts'
import type { PictureRules } from './chain-index.ts'
import { ChainPicture } from './chain-picture.ts'

export type ChainRequest =
  | { readonly kind: 'read'; readonly id: number; readonly text: string; readonly rules: PictureRules }
  | { readonly kind: 'draw'; readonly id: number; readonly wish: GraphWish }

export type ChainAnswer =
  | { readonly kind: 'read'; readonly id: number; readonly problem: string | undefined }
  | { readonly kind: 'draw'; readonly id: number; readonly graph: ChainGraph | undefined }

/** What a dedicated worker has; the page's own types speak of a window here. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<ChainRequest>) => void) | null
  postMessage(answer: ChainAnswer): void
}

const scope = globalThis as unknown as WorkerScope
const picture = new ChainPicture()

scope.onmessage = ({ data }) => {
  switch (data.kind) {
    case 'read':
      scope.postMessage({ kind: 'read', id: data.id, problem: picture.read(data.text, data.rules) })
      return
    case 'draw':
      scope.postMessage({ kind: 'draw', id: data.id, graph: picture.draw(data.wish) })
      return
    default:
      data satisfies never
  }
}
