import type { SeenEvent } from '../../domain/trace/join-walks.ts'
import { NetlinkDecodeError } from '../netlink/codec.ts'
import { decodeTraceEvent, TRACE_MESSAGE } from './decode-trace.ts'

const CHUNK_BYTES = 1024 * 1024
/** Before each message: its place in the order of all events, and its length. */
const PREFIX_BYTES = 8

/**
 * Trace events as the kernel wrote them. A decoded event takes more memory than its message and far more time than
 * copying it: so that no event is lost while packets come, decoding waits until they have passed.
 */
export class TraceRecord {
  readonly #full: Buffer[] = []
  #chunk = Buffer.alloc(0)
  #length = 0

  /** The buffer's content may change afterwards. */
  add(order: number, buffer: Buffer, start: number, end: number): void {
    const bytes = PREFIX_BYTES + end - start
    if (this.#length + bytes > this.#chunk.length) {
      this.#full.push(this.#chunk.subarray(0, this.#length))
      this.#chunk = Buffer.allocUnsafe(Math.max(CHUNK_BYTES, bytes))
      this.#length = 0
    }
    this.#chunk.writeUInt32LE(order, this.#length)
    this.#chunk.writeUInt32LE(end - start, this.#length + 4)
    buffer.copy(this.#chunk, this.#length + PREFIX_BYTES, start, end)
    this.#length += bytes
  }

  /** In the order in which they were added; those that cannot be decoded are told to `onError` and left out. */
  decode(onError: (error: NetlinkDecodeError) => void): SeenEvent[] {
    const events: SeenEvent[] = []
    for (const chunk of [...this.#full, this.#chunk.subarray(0, this.#length)]) {
      for (let at = 0; at < chunk.length; ) {
        const start = at + PREFIX_BYTES
        const end = start + chunk.readUInt32LE(at + 4)
        try {
          const event = decodeTraceEvent(chunk, start, end, TRACE_MESSAGE)
          if (event) events.push({ order: chunk.readUInt32LE(at), event })
        } catch (error) {
          if (!(error instanceof NetlinkDecodeError)) throw error
          onError(error)
        }
        at = end
      }
    }
    return events
  }
}
