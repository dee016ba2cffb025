import type { WebSocket } from 'ws'
import { Inbox } from '../../contract/channel.ts'
import type { PausableChannel } from './pipe-channels.ts'

/** Bytes that may wait for a slow page before the channel says so. */
const HIGH_WATER_BYTES = 1024 * 1024

/** A channel over an open WebSocket: one JSON message a text frame. Anything else closes it. */
export function webSocketChannel(socket: WebSocket): PausableChannel {
  const inbox = new Inbox()
  const waiting: (() => void)[] = []
  const isWritable = (): boolean =>
    socket.readyState !== socket.OPEN || socket.bufferedAmount < HIGH_WATER_BYTES
  const wake = (): void => {
    if (isWritable()) for (const resume of waiting.splice(0)) resume()
  }
  socket.on('message', (data: Buffer, isBinary) => {
    let message: unknown
    try {
      if (isBinary) throw new SyntaxError('a binary frame')
      message = JSON.parse(data.toString('utf8'))
    } catch {
      socket.close(1003, 'not JSON') // not our protocol
      return
    }
    inbox.receive(message)
  })
  socket.on('error', () => {
    socket.terminate()
  })
  socket.on('close', () => {
    wake()
    inbox.close()
  })
  return {
    send: (message) => {
      if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message), wake)
    },
    onMessage: inbox.listen,
    onClose: inbox.onClose,
    close: () => {
      socket.close()
      inbox.close()
    },
    get writable() {
      return isWritable()
    },
    drained: () =>
      isWritable()
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push(resolve)
          }),
    pause: () => {
      socket.pause()
    },
    resume: () => {
      socket.resume()
    },
  }
}
