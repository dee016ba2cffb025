import { answerLine } from '../worker-line.ts'
import type { ChainGraph, GraphWish } from './chain-graph.ts'
import type { PictureRules } from './chain-index.ts'
import { ChainPicture } from './chain-picture.ts'

export type ChainRequest =
  | { readonly kind: 'read'; readonly id: number; readonly text: string; readonly rules: PictureRules }
  | { readonly kind: 'draw'; readonly id: number; readonly wish: GraphWish }

export type ChainAnswer =
  | { readonly kind: 'read'; readonly id: number; readonly problem: string | undefined }
  | { readonly kind: 'draw'; readonly id: number; readonly graph: ChainGraph | undefined }

const picture = new ChainPicture()

answerLine<ChainRequest, ChainAnswer>((request) => {
  const { id } = request
  switch (request.kind) {
    case 'read':
      return { answer: { kind: 'read', id, problem: picture.read(request.text, request.rules) } }
    case 'draw':
      return { answer: { kind: 'draw', id, graph: picture.draw(request.wish) } }
    default:
      return request satisfies never
  }
})
