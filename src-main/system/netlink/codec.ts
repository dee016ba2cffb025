import { formatIpAddress } from '../kernel/ip-address.ts'

/**
 * Netlink's framing. A message is a 16 byte header (length, type, flags, sequence, port) and a body; bodies hold
 * a fixed structure, then attributes: 2 byte length (header included), 2 byte type, value, padding to 4 bytes.
 * Numbers are in host order; koffi, and so this lab, runs on little-endian hosts only. nfnetlink's attributes
 * are in network order instead.
 */

export const messageTypes = { noop: 1, error: 2, done: 3, overrun: 4 } as const

export const messageFlags = {
  request: 0x1,
  multi: 0x2,
  ack: 0x4,
  dumpInterrupted: 0x10,
  dump: 0x300,
  replace: 0x100,
  exclusive: 0x200,
  create: 0x400,
  append: 0x800,
  /** In an answer: the request is not echoed behind the error code. */
  capped: 0x100,
  /** In an answer: the kernel's own words follow as attributes. */
  extendedAck: 0x200,
} as const

export const headerLength = 16
const attributeHeaderLength = 4
const NLA_F_NESTED = 0x8000
const NLA_F_NET_BYTEORDER = 0x4000
const NLA_TYPE_MASK = 0x3fff

export function align4(length: number): number {
  return (length + 3) & ~3
}

/** Bytes that are not what the kernel's format says. */
export class NetlinkDecodeError extends Error {
  override readonly name = 'NetlinkDecodeError'
}

/** One request, without sequence number: the socket gives that. `what` names it in errors: `add link veth1`. */
export interface NetlinkRequest {
  readonly type: number
  readonly flags: number
  readonly body: Uint8Array
  readonly what: string
}

/**
 * Writes a body: fixed structures by `u8` … `bytes`, attributes by `attribute…`. Its memory is reused by
 * the next `writeBody`, so a body is written in one go.
 */
export class BodyWriter {
  #buffer = Buffer.alloc(1024)
  #length = 0

  start(): void {
    this.#length = 0
  }

  finish(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#buffer, 0, this.#length)
  }

  #grow(by: number): number {
    const at = this.#length
    if (at + by > this.#buffer.length) {
      const larger = Buffer.alloc(Math.max(2 * this.#buffer.length, at + by))
      this.#buffer.copy(larger)
      this.#buffer = larger
    }
    this.#length = at + by
    return at
  }

  u8(value: number): this {
    const at = this.#grow(1)
    this.#buffer[at] = value
    return this
  }

  u16(value: number): this {
    const at = this.#grow(2)
    this.#buffer.writeUInt16LE(value, at)
    return this
  }

  u16be(value: number): this {
    const at = this.#grow(2)
    this.#buffer.writeUInt16BE(value, at)
    return this
  }

  u32(value: number): this {
    const at = this.#grow(4)
    this.#buffer.writeUInt32LE(value >>> 0, at)
    return this
  }

  u32be(value: number): this {
    const at = this.#grow(4)
    this.#buffer.writeUInt32BE(value >>> 0, at)
    return this
  }

  u64be(value: bigint): this {
    const at = this.#grow(8)
    this.#buffer.writeBigUInt64BE(value, at)
    return this
  }

  zeros(count: number): this {
    const at = this.#grow(count)
    this.#buffer.fill(0, at, at + count)
    return this
  }

  bytes(value: Uint8Array): this {
    const at = this.#grow(value.length)
    this.#buffer.set(value, at)
    return this
  }

  /** An attribute whose value `write` writes. */
  attribute(type: number, write: () => void): this {
    const at = this.#grow(attributeHeaderLength)
    write()
    this.#buffer.writeUInt16LE(this.#length - at, at)
    this.#buffer.writeUInt16LE(type, at + 2)
    return this.zeros(align4(this.#length) - this.#length)
  }

  nested(type: number, write: () => void): this {
    return this.attribute(type | NLA_F_NESTED, write)
  }

  attributeU8(type: number, value: number): this {
    return this.#attributeHeader(type, 1).u8(value).zeros(3)
  }

  attributeU16(type: number, value: number): this {
    return this.#attributeHeader(type, 2).u16(value).zeros(2)
  }

  attributeU32(type: number, value: number): this {
    return this.#attributeHeader(type, 4).u32(value)
  }

  attributeU32be(type: number, value: number): this {
    return this.#attributeHeader(type, 4).u32be(value)
  }

  attributeU64be(type: number, value: bigint): this {
    return this.#attributeHeader(type, 8).u64be(value)
  }

  attributeBytes(type: number, value: Uint8Array): this {
    return this.#attributeHeader(type, value.length)
      .bytes(value)
      .zeros(align4(value.length) - value.length)
  }

  /** A zero-terminated string. */
  attributeString(type: number, value: string): this {
    const length = Buffer.byteLength(value)
    this.#attributeHeader(type, length + 1)
    const at = this.#grow(length)
    this.#buffer.write(value, at)
    return this.zeros(1 + align4(length + 1) - (length + 1))
  }

  #attributeHeader(type: number, valueLength: number): this {
    return this.u16(attributeHeaderLength + valueLength).u16(type)
  }
}

const writer = new BodyWriter()

export function writeBody(write: (writer: BodyWriter) => void): Uint8Array {
  writer.start()
  write(writer)
  return writer.finish()
}

/** Writes a whole message at `at` and returns where the next one starts. The space must be there. */
export function writeMessage(
  target: Buffer,
  at: number,
  request: { readonly type: number; readonly body: Uint8Array },
  flags: number,
  sequence: number,
): number {
  const length = headerLength + request.body.length
  target.writeUInt32LE(length, at)
  target.writeUInt16LE(request.type, at + 4)
  target.writeUInt16LE(flags, at + 6)
  target.writeUInt32LE(sequence, at + 8)
  target.writeUInt32LE(0, at + 12)
  target.set(request.body, at + headerLength)
  const end = at + align4(length)
  target.fill(0, at + length, end)
  return end
}

/** Adds flags to a message that was written at `at`. */
export function addMessageFlags(target: Buffer, at: number, flags: number): void {
  target.writeUInt16LE(target.readUInt16LE(at + 6) | flags, at + 6)
}

/** A message's header, and where its body lies in the buffer. */
export interface MessageView {
  type: number
  flags: number
  sequence: number
  port: number
  start: number
  end: number
}

/**
 * Visits the messages in the first `length` bytes; a visitor that returns false ends the walk. The view is one
 * object, changed from message to message.
 */
export function walkMessages(
  buffer: Buffer,
  length: number,
  visit: (message: MessageView) => undefined | boolean,
): void {
  const view: MessageView = { type: 0, flags: 0, sequence: 0, port: 0, start: 0, end: 0 }
  let at = 0
  while (at < length) {
    if (length - at < headerLength) {
      throw new NetlinkDecodeError(
        `a netlink message is cut off in its header: ${length - at} bytes at ${at}`,
      )
    }
    const messageLength = buffer.readUInt32LE(at)
    if (messageLength < headerLength || messageLength > length - at) {
      throw new NetlinkDecodeError(
        `a netlink message at ${at} says it has ${messageLength} bytes, ${length - at} are there`,
      )
    }
    view.type = buffer.readUInt16LE(at + 4)
    view.flags = buffer.readUInt16LE(at + 6)
    view.sequence = buffer.readUInt32LE(at + 8)
    view.port = buffer.readUInt32LE(at + 12)
    view.start = at + headerLength
    view.end = at + messageLength
    if (visit(view) === false) return
    at += align4(messageLength)
  }
}

/**
 * Visits the attributes between `start` and `end`: their type without flags and where their value lies. A
 * visitor that returns false ends the walk.
 */
export function walkAttributes(
  buffer: Buffer,
  start: number,
  end: number,
  visit: (type: number, start: number, end: number) => unknown,
): void {
  let at = start
  while (at < end) {
    const next = attributeEnd(buffer, at, end)
    const type = (buffer[at + 2] as number) | (((buffer[at + 3] as number) << 8) & NLA_TYPE_MASK)
    if (visit(type, at + attributeHeaderLength, next) === false) return
    at = align4(next - start) + start
  }
}

/** Where the value of the attribute that begins at `at` ends; checks its length. */
function attributeEnd(buffer: Buffer, at: number, end: number): number {
  if (end - at < attributeHeaderLength) {
    throw new NetlinkDecodeError(`a netlink attribute is cut off in its header: ${end - at} bytes at ${at}`)
  }
  const length = (buffer[at] as number) | ((buffer[at + 1] as number) << 8)
  if (length < attributeHeaderLength || length > end - at) {
    throw new NetlinkDecodeError(
      `a netlink attribute at ${at} says it has ${length} bytes, ${end - at} are there`,
    )
  }
  return at + length
}

/**
 * Where the value of the first attribute of `type` starts, or -1. Its end is `valueEnd` of that place. This and
 * `valueEnd` walk without calls or objects: counters of 10,000 rules are read this way.
 */
export function findAttribute(buffer: Buffer, start: number, end: number, type: number): number {
  let at = start
  while (at < end) {
    const next = attributeEnd(buffer, at, end)
    if (((buffer[at + 2] as number) | (((buffer[at + 3] as number) << 8) & NLA_TYPE_MASK)) === type) {
      return at + attributeHeaderLength
    }
    at = align4(next - start) + start
  }
  return -1
}

/** The end of a value that `findAttribute` found. */
export function valueEnd(buffer: Buffer, valueStart: number): number {
  const at = valueStart - attributeHeaderLength
  return at + ((buffer[at] as number) | ((buffer[at + 1] as number) << 8))
}

/** Whether the attribute whose value starts here says that it is in network order. */
export function isNetworkOrder(buffer: Buffer, valueStart: number): boolean {
  return ((buffer[valueStart - 1] as number) & (NLA_F_NET_BYTEORDER >> 8)) !== 0
}

function need(size: number, start: number, end: number): void {
  if (end - start < size) {
    throw new NetlinkDecodeError(`a netlink value at ${start} has ${end - start} bytes instead of ${size}`)
  }
}

export function readU8(buffer: Buffer, start: number, end: number): number {
  need(1, start, end)
  return buffer[start] as number
}

export function readU16(buffer: Buffer, start: number, end: number): number {
  need(2, start, end)
  return buffer.readUInt16LE(start)
}

export function readU16be(buffer: Buffer, start: number, end: number): number {
  need(2, start, end)
  return buffer.readUInt16BE(start)
}

export function readU32(buffer: Buffer, start: number, end: number): number {
  need(4, start, end)
  return buffer.readUInt32LE(start)
}

export function readS32(buffer: Buffer, start: number, end: number): number {
  need(4, start, end)
  return buffer.readInt32LE(start)
}

export function readU32be(buffer: Buffer, start: number, end: number): number {
  need(4, start, end)
  return buffer.readUInt32BE(start)
}

export function readU64(buffer: Buffer, start: number, end: number): bigint {
  need(8, start, end)
  return buffer.readBigUInt64LE(start)
}

export function readU64be(buffer: Buffer, start: number, end: number): bigint {
  need(8, start, end)
  return buffer.readBigUInt64BE(start)
}

/** An address of 4 or 16 bytes. */
export function readIpAddress(buffer: Buffer, start: number, end: number): string {
  if (end - start !== 4 && end - start !== 16) {
    throw new NetlinkDecodeError(`an IP address at ${start} has ${end - start} bytes`)
  }
  return formatIpAddress(buffer, start, end - start)
}

/** A string up to its zero byte, or up to the end of the value. */
export function readString(buffer: Buffer, start: number, end: number): string {
  let stop = start
  while (stop < end && buffer[stop] !== 0) stop++
  return buffer.toString('utf8', start, stop)
}
