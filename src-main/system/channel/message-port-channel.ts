import { Inbox } from '../../contract/channel.ts'
import type { PausableChannel } from './pipe-channels.ts'

/** What Electron's MessagePortMain and a wrapped port of Node have in common. */
export interface EventPort {
  on(event: 'message', listener: (event: { readonly data: unknown }) => void): unknown
  on(event: 'close', listener: () => void): unknown
  postMessage(message: string | null): void
  start(): void
  close(): void
}

/**
 * A channel over a message port: one JSON text a message, and `null` for a goodbye, since a port's own closing may
 * come late. The port queues without bound; the lab's streams bound themselves by what the window acknowledges.
 */
export function messagePortChannel(port: EventPort): PausableChannel {
  const inbox = new Inbox()
  const held: unknown[] = []
  let isPaused = false
  let isOpen = true
  const end = (): void => {
    if (!isOpen) return
    isOpen = false
    port.close()
    inbox.close()
  }
  port.on('message', ({ data }) => {
    if (typeof data !== 'string') {
      end()
      return
    }
    let message: unknown
    try {
      message = JSON.parse(data)
    } catch {
      end() // not our protocol
      return
    }
    if (isPaused) held.push(message)
    else inbox.receive(message)
  })
  port.on('close', end)
  port.start()
  return {
    send: (message) => {
      if (isOpen) port.postMessage(JSON.stringify(message))
    },
    onMessage: inbox.listen,
    onClose: inbox.onClose,
    close: () => {
      if (isOpen) port.postMessage(null)
      end()
    },
    writable: true,
    drained: () => Promise.resolve(),
    pause: () => {
      isPaused = true
    },
    resume: () => {
      isPaused = false
      while (!isPaused && held.length > 0) inbox.receive(held.shift())
    },
  }
}
