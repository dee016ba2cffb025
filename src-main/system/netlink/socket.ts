import { describeErrno, errnoName, SystemCallError } from '../kernel/libc.ts'
import {
  addressFamilies,
  bind,
  close,
  getsockopt,
  receive,
  receiveFlags,
  send,
  setsockopt,
  socket,
  socketLevels,
  socketOptions,
  socketTypes,
} from '../kernel/socket.ts'
import {
  addMessageFlags,
  align4,
  headerLength,
  type MessageView,
  messageFlags,
  messageTypes,
  NetlinkDecodeError,
  type NetlinkRequest,
  readS32,
  readString,
  walkAttributes,
  walkMessages,
  writeMessage,
} from './codec.ts'

const protocols = { route: 0, netfilter: 12 } as const
export type NetlinkProtocol = keyof typeof protocols

const options = { addMembership: 1, capAck: 10, extendedAck: 11, strictCheck: 12 } as const

const NLMSGERR_ATTR_MSG = 1

/** The kernel hands out 32 kB at a time in dumps; single messages of events can be larger. */
const receiveBytes = 256 * 1024
/** A send must fit the socket's send buffer (net.core.wmem_default is 208 kB where nobody changed it). */
const sendBytes = 64 * 1024
const answerTimeoutMs = 10_000
const dumpAttempts = 10

/** A request that the kernel refused: what it was, with what errno, and the kernel's own words if it had any. */
export class NetlinkError extends Error {
  override readonly name = 'NetlinkError'
  readonly what: string
  readonly errno: number
  /** The errno's name, such as `EEXIST`. */
  readonly code: string
  readonly kernelText: string | undefined

  constructor(what: string, errno: number, kernelText?: string) {
    const code = errnoName(errno)
    super(`${what}: ${kernelText ? `${kernelText} (${code})` : describeErrno(errno)}`)
    this.what = what
    this.errno = errno
    this.code = code
    this.kernelText = kernelText
  }
}

export interface NetlinkFailure {
  /** The place of the request in the list. */
  readonly index: number
  readonly error: NetlinkError
}

type OnReply = (index: number, buffer: Buffer, message: MessageView) => void

/**
 * A netlink socket belongs to the network namespace that the thread was in when it was opened, and can be used
 * from anywhere afterwards. Requests and dumps are synchronous: the kernel does its work inside `send`.
 */
export class NetlinkSocket {
  readonly fd: number
  readonly #receiveBufferBytes: number
  #sequence = 0
  #open = true

  constructor(fd: number) {
    this.fd = fd
    this.#receiveBufferBytes = getsockopt(fd, socketLevels.socket, socketOptions.receiveBuffer)
  }

  get isOpen(): boolean {
    return this.#open
  }

  /** Sends the requests in as few calls as fit; throws the first refusal. Later requests are done all the same. */
  request(...requests: readonly NetlinkRequest[]): void {
    const [first] = this.tryRequest(requests)
    if (first) throw first.error
  }

  /** Like `request`, for refusals that are expected; all of them are returned, in order. */
  tryRequest(requests: readonly NetlinkRequest[]): NetlinkFailure[] {
    return this.#exchange(requests, refusalBytes, () => undefined)
  }

  /** Asks for single things; those that do not exist (ENOENT) are undefined in the result. */
  getEach<T>(
    requests: readonly NetlinkRequest[],
    decode: (buffer: Buffer, start: number, end: number, type: number) => T,
  ): (T | undefined)[] {
    const items = new Array<T | undefined>(requests.length).fill(undefined)
    const failures = this.#exchange(requests, replyBytes, (index, buffer, message) => {
      items[index] = decode(buffer, message.start, message.end, message.type)
    })
    const failure = failures.find(({ error }) => error.code !== 'ENOENT')
    if (failure) throw failure.error
    return items
  }

  #exchange(requests: readonly NetlinkRequest[], answerBytes: number, onReply: OnReply): NetlinkFailure[] {
    // All answers to one send wait in the receive buffer before the first is read.
    const requestsPerSend = Math.max(1, Math.floor(this.#receiveBufferBytes / answerBytes))
    const failures: NetlinkFailure[] = []
    let next = 0
    while (next < requests.length) {
      const first = next
      const firstSequence = this.#sequence + 1
      let length = 0
      let lastAt = 0
      for (; next < requests.length && next - first < requestsPerSend; next++) {
        const request = requests[next] as NetlinkRequest
        const isFull = length + headerLength + align4(request.body.length) > sendBytes
        if (isFull && length === 0) throw new Error(`${request.what}: the request is too long`)
        if (isFull) break
        lastAt = length
        const flags = request.flags | messageFlags.request
        length = writeMessage(sendBuffer, length, request, flags, ++this.#sequence)
      }
      // Errors are answered in any case; one acknowledgement, of the last, says that all are done.
      addMessageFlags(sendBuffer, lastAt, messageFlags.ack)
      send(this.fd, sendBuffer, length)
      this.#collectAnswers(requests, first, firstSequence, failures, onReply)
    }
    return failures
  }

  #collectAnswers(
    requests: readonly NetlinkRequest[],
    first: number,
    firstSequence: number,
    failures: NetlinkFailure[],
    onReply: OnReply,
  ): void {
    const lastSequence = this.#sequence
    const what = requests[first + lastSequence - firstSequence]?.what ?? ''
    let isFinished = false
    while (!isFinished) {
      this.#receive(what, (buffer, message) => {
        // An answer to something given up earlier is left aside.
        if (message.sequence < firstSequence || message.sequence > lastSequence) return
        const index = first + message.sequence - firstSequence
        if (message.type !== messageTypes.error) {
          onReply(index, buffer, message)
          return
        }
        const error = decodeAnswer(buffer, message, requests[index]?.what ?? '')
        if (error) failures.push({ index, error })
        if (message.sequence === lastSequence) isFinished = true
      })
    }
  }

  /**
   * Asks for a list. `decode` sees every message of the answer and gives an item, or undefined to skip it. When
   * the list changed while it was read, it is asked for again.
   */
  dump<T>(
    request: NetlinkRequest,
    decode: (buffer: Buffer, start: number, end: number, type: number) => T | undefined,
  ): T[] {
    for (let attempt = 1; attempt <= dumpAttempts; attempt++) {
      const items = this.#dumpOnce(request, decode)
      if (items) return items
    }
    throw new Error(`${request.what}: the list changed during each of ${dumpAttempts} attempts to read it`)
  }

  #dumpOnce<T>(
    request: NetlinkRequest,
    decode: (buffer: Buffer, start: number, end: number, type: number) => T | undefined,
  ): T[] | undefined {
    const sequence = ++this.#sequence
    const flags = request.flags | messageFlags.request | messageFlags.dump
    send(this.fd, sendBuffer, writeMessage(sendBuffer, 0, request, flags, sequence))
    const items: T[] = []
    let isFinished = false
    let isInterrupted = false
    let failure: { readonly cause: unknown } | undefined
    while (!isFinished) {
      this.#receive(request.what, (buffer, message) => {
        if (message.sequence !== sequence) return
        if (message.flags & messageFlags.dumpInterrupted) isInterrupted = true
        if (message.type === messageTypes.error || message.type === messageTypes.done) {
          isFinished = true
          const error = decodeAnswer(buffer, message, request.what)
          if (error && error.code !== 'EINTR') throw error
          if (error) isInterrupted = true
          return false
        }
        if (failure) return
        try {
          const item = decode(buffer, message.start, message.end, message.type)
          if (item !== undefined) items.push(item)
        } catch (cause) {
          // Read to the end all the same: with a dump half read, the kernel would refuse the next one.
          failure = { cause }
        }
        return
      })
    }
    if (failure) throw failure.cause
    return isInterrupted ? undefined : items
  }

  #receive(what: string, visit: (buffer: Buffer, message: MessageView) => undefined | boolean): void {
    const buffer = takeBuffer()
    try {
      const length = receive(this.fd, buffer, receiveFlags.trueLength)
      if (length === undefined) throw new Error(`${what}: the kernel did not answer in ${answerTimeoutMs} ms`)
      if (length > buffer.length)
        throw new NetlinkDecodeError(`${what}: an answer of ${length} bytes was cut off`)
      walkMessages(buffer, length, (message) => visit(buffer, message))
    } finally {
      giveBackBuffer(buffer)
    }
  }

  /** Subscribes to a multicast group (by number). Use such a socket for events only. */
  join(group: number): void {
    setsockopt(this.fd, socketLevels.netlink, options.addMembership, group)
  }

  /** Bytes that may wait to be read, as the kernel counts them (twice what was asked for). */
  get receiveBufferBytes(): number {
    return this.#receiveBufferBytes
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    close(this.fd)
  }
}

/** What an answer takes of the receive buffer, at most: the kernel counts the memory, not the bytes in it. */
const refusalBytes = 1024
const replyBytes = 4096
const sendBuffer = Buffer.alloc(sendBytes)

// A visitor may use another socket meanwhile: then a second buffer is made.
let spareBuffer: Buffer | undefined

function takeBuffer(): Buffer {
  const buffer = spareBuffer ?? Buffer.alloc(receiveBytes)
  spareBuffer = undefined
  return buffer
}

function giveBackBuffer(buffer: Buffer): void {
  spareBuffer = buffer
}

/** The error in an NLMSG_ERROR or NLMSG_DONE message; undefined when it says that all is well. */
export function decodeAnswer(buffer: Buffer, message: MessageView, what: string): NetlinkError | undefined {
  // Kernels before 4.20 end some dumps without a code.
  if (message.type === messageTypes.done && message.end - message.start < 4) return undefined
  const errno = -readS32(buffer, message.start, message.end)
  if (errno <= 0) return undefined
  let text: string | undefined
  if (message.flags & messageFlags.extendedAck) {
    let attributes = message.start + 4
    if (message.type === messageTypes.error) {
      const echoed =
        message.flags & messageFlags.capped ? headerLength : readS32(buffer, attributes, message.end)
      attributes += echoed
    }
    walkAttributes(buffer, attributes, message.end, (type, start, end) => {
      if (type === NLMSGERR_ATTR_MSG) text = readString(buffer, start, end)
    })
  }
  return new NetlinkError(what, errno, text)
}

export interface NetlinkSocketOptions {
  /** Bytes of messages that may wait. Beyond net.core.rmem_max this needs real root; less is taken silently. */
  readonly receiveBufferBytes?: number
  /** False for sockets that `watchNetlink` reads. */
  readonly isBlocking?: boolean
}

/** Opens a netlink socket in the calling thread's network namespace. */
export function openNetlinkSocket(
  protocol: NetlinkProtocol,
  { receiveBufferBytes = 1024 * 1024, isBlocking = true }: NetlinkSocketOptions = {},
): NetlinkSocket {
  const fd = socket(addressFamilies.netlink, socketTypes.raw, protocols[protocol], { isBlocking })
  try {
    const address = Buffer.alloc(12)
    address.writeUInt16LE(addressFamilies.netlink, 0)
    bind(fd, address)
    setReceiveBuffer(fd, receiveBufferBytes)
    for (const option of [options.capAck, options.extendedAck, options.strictCheck]) {
      setOptionIfKnown(fd, option)
    }
    const timeout = Buffer.alloc(16)
    timeout.writeBigInt64LE(BigInt(answerTimeoutMs / 1000))
    setsockopt(fd, socketLevels.socket, socketOptions.receiveTimeout, timeout)
    return new NetlinkSocket(fd)
  } catch (error) {
    close(fd)
    throw error
  }
}

function setReceiveBuffer(fd: number, bytes: number): void {
  try {
    setsockopt(fd, socketLevels.socket, socketOptions.receiveBufferForce, bytes)
  } catch (error) {
    if (!(error instanceof SystemCallError) || error.code !== 'EPERM') throw error
    setsockopt(fd, socketLevels.socket, socketOptions.receiveBuffer, bytes)
  }
}

function setOptionIfKnown(fd: number, option: number): void {
  try {
    setsockopt(fd, socketLevels.netlink, option, 1)
  } catch (error) {
    if (!(error instanceof SystemCallError) || error.code !== 'ENOPROTOOPT') throw error
  }
}
