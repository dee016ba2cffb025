/** A pcap file is a header of 24 bytes, then a header of 16 bytes before each packet; lengths in the writer's order. */
const FILE_HEADER_BYTES = 24
const PACKET_HEADER_BYTES = 16
const CAPTURED_LENGTH_AT = 8
/** tcpdump's snapshot length: what is longer is no pcap. */
const LONGEST_PACKET_BYTES = 262_144

/** As stands at the beginning of a file of a little-endian writer: microseconds, nanoseconds. */
const MAGICS = [0xa1b2c3d4, 0xa1b23c4d]

export interface PcapBounds {
  readonly packets: number
  readonly bytes: number
}

/** Keeps a pcap stream, whole packets only, as far as its bounds. */
export class PcapRecorder {
  readonly #bounds: PcapBounds
  #pieces: Buffer[] = []
  #rest: Buffer = Buffer.alloc(0)
  #hasHeader = false
  packets = 0
  bytes = 0
  /** There was a packet that did not fit any more. */
  isFull = false

  constructor(bounds: PcapBounds) {
    this.#bounds = bounds
  }

  /** Takes what the writer has written on; returns the whole packets (and the file's header) that it completed. */
  add(data: Buffer): Buffer {
    if (this.isFull) return Buffer.alloc(0)
    const all = this.#rest.length > 0 ? Buffer.concat([this.#rest, data]) : data
    let end = 0
    if (!this.#hasHeader && all.length >= FILE_HEADER_BYTES) {
      if (!MAGICS.includes(all.readUInt32LE(0))) throw new Error('what tcpdump writes is no pcap file')
      this.#hasHeader = true
      end = FILE_HEADER_BYTES
    }
    while (this.#hasHeader && end + PACKET_HEADER_BYTES <= all.length) {
      const captured = all.readUInt32LE(end + CAPTURED_LENGTH_AT)
      if (captured > LONGEST_PACKET_BYTES) throw new Error('what tcpdump writes is no pcap file')
      const next = end + PACKET_HEADER_BYTES + captured
      if (next > all.length) break
      if (this.packets >= this.#bounds.packets || this.bytes + next > this.#bounds.bytes) {
        this.isFull = true
        break
      }
      this.packets += 1
      end = next
    }
    const whole = all.subarray(0, end)
    this.bytes += end
    this.#rest = this.isFull ? Buffer.alloc(0) : Buffer.from(all.subarray(end))
    if (end > 0) this.#pieces.push(whole)
    return whole
  }

  /** All that was kept: a pcap file of its own. */
  file(): Buffer {
    const [only, ...others] = this.#pieces
    if (!only || others.length > 0) this.#pieces = [Buffer.concat(this.#pieces)]
    return this.#pieces[0] ?? Buffer.alloc(0)
  }
}
