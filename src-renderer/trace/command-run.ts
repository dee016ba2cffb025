import type { LabConnection } from '../../src-main/contract/rpc.ts'
import type { TraceResult } from '../../src-main/domain/trace/journey.ts'
import { type StreamEnd, StreamText } from './stream-text.ts'

/** What a traced run tells while it goes on. */
export interface RunListener {
  readonly started: () => void
  readonly output: (text: string) => void
  readonly ended: (end: StreamEnd) => void
}

/** A traced command, from its start until its result. */
export class CommandRun {
  readonly #connection: LabConnection
  readonly #listener: RunListener
  #stream: number | undefined
  readonly #ended: Promise<void>
  #end!: () => void

  constructor(connection: LabConnection, listener: RunListener) {
    this.#connection = connection
    this.#listener = listener
    this.#ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  /** Rejects with what the lab refuses, or when it goes. */
  async trace(target: string, command: string): Promise<TraceResult> {
    const text = new StreamText(this.#connection, {
      output: this.#listener.output,
      ended: (end) => {
        this.#listener.ended(end)
        this.#end()
      },
    })
    this.#connection.onClose(this.#end) // the request below then says why
    try {
      const { trace, stream } = await this.#connection.request('trace/start', {
        target,
        argv: ['bash', '-c', command],
        stdin: false,
      })
      this.#stream = stream
      this.#listener.started()
      text.begin(stream)
      await this.#ended
      return await this.#connection.request('trace/stop', { trace })
    } finally {
      text.leave()
    }
  }

  /** Ends the command; what was traced until then is still told. */
  async stop(): Promise<void> {
    if (this.#stream === undefined) return
    try {
      await this.#connection.request('streams/kill', { stream: this.#stream, signal: 'SIGTERM' })
    } finally {
      this.#end()
    }
  }
}
