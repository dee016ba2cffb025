import { answerLine } from '../worker-line.ts'
import { buffersOf, indexRules, type RuleIndex } from './rule-index.ts'
import { lowerCase, searchRules } from './search.ts'

/** Reading 100,000 rules and looking through them takes longer than a frame: both are done here. */
export type WorkerRequest =
  | { readonly kind: 'index'; readonly id: number; readonly text: string }
  | { readonly kind: 'search'; readonly id: number; readonly query: string }

export type WorkerAnswer =
  | { readonly kind: 'index'; readonly id: number; readonly index: RuleIndex }
  | { readonly kind: 'search'; readonly id: number; readonly hits: readonly Int32Array[] }

let lowered = ''
let index: RuleIndex = { tables: [], problems: [] }

answerLine<WorkerRequest, WorkerAnswer>((request) => {
  const { id } = request
  switch (request.kind) {
    case 'index': {
      lowered = lowerCase(request.text)
      index = indexRules(request.text)
      // The offsets are needed on both sides: the page gets a copy that is moved there.
      const copy = structuredClone(index)
      return { answer: { kind: 'index', id, index: copy }, transfer: buffersOf(copy) }
    }
    case 'search':
      return { answer: { kind: 'search', id, hits: searchRules(lowered, index, request.query) } }
    default:
      return request satisfies never
  }
})
