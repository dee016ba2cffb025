import { expect, test } from 'vitest'
import { WorkerLine } from '../../src-renderer/worker-line.ts'

interface Question {
  readonly id: number
  readonly word: string
}

/** What a page has of a worker. */
class StandIn {
  onmessage: ((event: { data: Question }) => void) | null = null
  onerror: ((event: { message: string }) => void) | null = null
  readonly asked: Question[] = []
  isEnded = false
  postMessage(question: Question): void {
    this.asked.push(question)
  }
  terminate(): void {
    this.isEnded = true
  }
}

function openLine() {
  const started: StandIn[] = []
  const line = new WorkerLine<Question, Question>(() => {
    const worker = new StandIn()
    started.push(worker)
    return worker as unknown as Worker
  })
  return { line, started, ask: (word: string) => line.ask((id) => ({ id, word })) }
}

test('one worker answers all questions, in whatever order', async () => {
  const { started, ask } = openLine()
  expect(started).toHaveLength(0)
  const answers = Promise.all([ask('a'), ask('b')])
  const [worker] = started
  expect(worker?.asked.map(({ word }) => word)).toEqual(['a', 'b'])
  for (const { id, word } of worker?.asked.toReversed() ?? [])
    worker?.onmessage?.({ data: { id, word: word.toUpperCase() } })
  expect((await answers).map(({ word }) => word)).toEqual(['A', 'B'])
  expect(started).toHaveLength(1)
})

test('a worker that fails fails everybody who waits, and the next question starts another', async () => {
  const { started, ask } = openLine()
  const answers = Promise.allSettled([ask('a'), ask('b')])
  started[0]?.onerror?.({ message: 'no such file' })
  expect(
    (await answers).map((answer) => (answer.status === 'rejected' ? String(answer.reason) : '')),
  ).toEqual(['Error: no such file', 'Error: no such file'])
  expect(started[0]?.isEnded).toBe(true)
  const again = ask('c')
  started[1]?.onmessage?.({ data: { id: started[1].asked[0]?.id ?? 0, word: 'C' } })
  expect((await again).word).toBe('C')
})
