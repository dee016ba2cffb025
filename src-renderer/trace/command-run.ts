import type { EventName, Events } from '../../src-main/contract/lab-contract.ts'
import type { LabConnection } from '../../src-main/contract/rpc.ts'
import type { TraceResult } from '../../src-main/domain/trace/journey.ts'

export interface CommandEnd {
  readonly code: number
  readonly signal: string | null
}

/** What a traced run tells while it goes on. */
export interface RunListener {
  readonly started: () => void
  readonly output: (text: string) => void
  readonly ended: (end: CommandEnd) => void
}

/** A traced command, from its start until its result. */
export class CommandRun {
  readonly #connection: LabConnection
  readonly #listener: RunListener
  readonly #stops: (() => void)[] = []
  /** Events may come before the answer that tells the stream's number. */
  #early: (() => void)[] | undefined = []
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
    const decoder = new TextDecoder()
    this.#hear('streams/data', ({ stream, data }) => {
      if (stream !== this.#stream) return
      const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0))
      this.#listener.output(decoder.decode(bytes, { stream: true }))
      void this.#connection.request('streams/ack', { stream, amount: bytes.length }).catch(() => undefined) // the stream has ended meanwhile
    })
    this.#hear('streams/exit', ({ stream, code, signal }) => {
      if (stream !== this.#stream) return
      this.#listener.ended({ code, signal })
      this.#end()
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
      const early = this.#early ?? []
      this.#early = undefined
      for (const work of early) work()
      await this.#ended
      return await this.#connection.request('trace/stop', { trace })
    } finally {
      for (const stop of this.#stops) stop()
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

  #hear<E extends EventName>(name: E, listener: (data: Events[E]) => void): void {
    this.#stops.push(
      this.#connection.on(name, (data) => {
        if (this.#early) this.#early.push(() => listener(data))
        else listener(data)
      }),
    )
  }
}
