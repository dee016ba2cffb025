import type { EventName, Events } from '../../src-main/contract/lab-contract.ts'
import type { LabConnection } from '../../src-main/contract/rpc.ts'
import { bytesOf } from './base64.ts'

export interface StreamEnd {
  readonly code: number
  readonly signal: string | null
}

interface StreamListener {
  readonly output: (text: string) => void
  readonly ended: (end: StreamEnd) => void
}

/** A stream of bytes, heard as text. Make it before the stream is asked for: its output may overtake the answer. */
export class StreamText {
  readonly #connection: LabConnection
  readonly #stops: (() => void)[]
  #stream: number | undefined
  /** What came before the stream's number was known. */
  #early: (() => void)[] | undefined = []

  constructor(connection: LabConnection, { output, ended }: StreamListener) {
    this.#connection = connection
    const decoder = new TextDecoder()
    this.#stops = [
      this.#hear('streams/data', ({ stream, data }) => {
        const bytes = bytesOf(data)
        output(decoder.decode(bytes, { stream: true }))
        void connection.request('streams/ack', { stream, amount: bytes.length }).catch(() => undefined) // the stream has ended meanwhile
      }),
      this.#hear('streams/exit', ({ code, signal }) => ended({ code, signal })),
    ]
  }

  begin(stream: number): void {
    this.#stream = stream
    const early = this.#early ?? []
    this.#early = undefined
    for (const work of early) work()
  }

  /** Stops to listen. */
  leave(): void {
    for (const stop of this.#stops.splice(0)) stop()
  }

  #hear<E extends EventName & `streams/${string}`>(name: E, listener: (data: Events[E]) => void): () => void {
    const hear = (data: Events[E]): void => {
      if (data.stream === this.#stream) listener(data)
    }
    return this.#connection.on(name, (data) => {
      if (this.#early) this.#early.push(() => hear(data))
      else hear(data)
    })
  }
}
