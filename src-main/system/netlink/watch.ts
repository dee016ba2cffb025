import { loadKoffi, SystemCallError } from '../kernel/libc.ts'
import { receive, receiveFlags } from '../kernel/socket.ts'
import { NetlinkDecodeError, walkMessages } from './codec.ts'
import type { NetlinkSocket } from './socket.ts'

export interface NetlinkWatcher {
  /** One message; the buffer's content is only good during the call. */
  onMessage(buffer: Buffer, start: number, end: number, type: number, flags: number): void
  /** All that was waiting has been read: the moment to act on what `onMessage` noted. */
  onPause?(): void
  /** The kernel had to drop messages since the last one: what was learned from them may be out of date. */
  onOverrun(): void
  /** A message that cannot be decoded, or a socket that fails; in the latter case the watch has ended. */
  onError(error: Error): void
}

export interface NetlinkWatch {
  readonly isOpen: boolean
  /** Stops, and closes the socket. */
  close(): void
}

/** The event loop gets its turn after so many ms of reading. */
const turnMs = 8

/**
 * Reads a socket's events on this thread's event loop: nothing blocks, nothing polls, and the process may end
 * while it waits. From here on the watch owns the socket.
 */
export function watchNetlink(socket: NetlinkSocket, watcher: NetlinkWatcher): NetlinkWatch {
  const buffer = Buffer.alloc(256 * 1024)
  let isOpen = true
  let isPolling = true
  let turn: NodeJS.Immediate | undefined

  // koffi calls this outside of Node's callback scope: promises and errors are only looked after in a turn
  // of the loop's own, which follows at once. Level triggered: what is left makes it call again.
  const onReadable = (status: number) => {
    // libuv stops a poll that reports an error, as it does after an overrun.
    if (status !== 0) isPolling = false
    turn ??= setImmediate(readWaiting)
  }
  const poll = loadKoffi().node.poll(socket.fd, { readable: true }, onReadable)
  poll.unref()

  function readWaiting(): void {
    turn = undefined
    const deadline = performance.now() + turnMs
    let hasRead = false
    while (isOpen && performance.now() < deadline) {
      const length = receiveSome()
      if (length === undefined) break
      if (length === 'overrun') watcher.onOverrun()
      else visit(length)
      hasRead = true
    }
    if (isOpen && !isPolling) {
      isPolling = true
      poll.start({ readable: true }, onReadable)
    }
    if (isOpen && hasRead) watcher.onPause?.()
  }

  function receiveSome(): number | 'overrun' | undefined {
    try {
      return receive(socket.fd, buffer, receiveFlags.dontWait | receiveFlags.trueLength)
    } catch (error) {
      if (!(error instanceof SystemCallError)) throw error
      if (error.code === 'ENOBUFS') return 'overrun'
      watch.close()
      watcher.onError(error)
      return undefined
    }
  }

  function visit(length: number): void {
    try {
      if (length > buffer.length) throw new NetlinkDecodeError(`an event of ${length} bytes was cut off`)
      walkMessages(buffer, length, (message) => {
        watcher.onMessage(buffer, message.start, message.end, message.type, message.flags)
        return isOpen
      })
    } catch (error) {
      if (!(error instanceof NetlinkDecodeError)) throw error
      watcher.onError(error)
    }
  }

  const watch = {
    get isOpen() {
      return isOpen
    },
    close() {
      if (!isOpen) return
      isOpen = false
      clearImmediate(turn)
      poll.close()
      socket.close()
    },
  }
  return watch
}
