import { buffersOf, indexRules, type RuleIndex } from './rule-index.ts'
import { lowerCase, searchRules } from './search.ts'

/** Reading 100,000 rules and looking through them takes longer than a frame: both are done here. */
export type WorkerRequest =
  | { readonly kind: 'index'; readonly id: number; readonly text: string }
  | { readonly kind: 'search'; readonly id: number; readonly query: string }

export type WorkerAnswer =
  | { readonly kind: 'index'; readonly id: number; readonly index: RuleIndex }
  | { readonly kind: 'search'; readonly id: number; readonly hits: readonly Int32Array[] }

/** What a dedicated worker has; the page's own types speak of a window here. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<WorkerRequest>) => void) | null
  postMessage(answer: WorkerAnswer, transfer?: Transferable[]): void
}

const scope = globalThis as unknown as WorkerScope
let lowered = ''
let index: RuleIndex = { tables: [], problems: [] }

scope.onmessage = ({ data }) => {
  switch (data.kind) {
    case 'index': {
      lowered = lowerCase(data.text)
      index = indexRules(data.text)
      // The offsets are needed on both sides: the page gets a copy that is moved there.
      const copy = structuredClone(index)
      scope.postMessage({ kind: 'index', id: data.id, index: copy }, buffersOf(copy))
      return
    }
    case 'search':
      scope.postMessage({ kind: 'search', id: data.id, hits: searchRules(lowered, index, data.query) })
      return
    default:
      data satisfies never
  }
}
