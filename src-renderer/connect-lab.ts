import { type Channel, Inbox } from '../src-main/contract/channel.ts'
import { connect, type LabConnection } from '../src-main/contract/rpc.ts'

/** What the Electron preload hands over: one message port to the lab, and nothing else. */
declare global {
  interface Window {
    readonly chainwalkPort?: Promise<MessagePort>
  }
}

function webSocketChannel(socket: WebSocket): Channel {
  const inbox = new Inbox()
  socket.addEventListener('message', ({ data }) => inbox.receive(JSON.parse(data as string)))
  socket.addEventListener('close', inbox.close)
  return {
    send: (message) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
    },
    onMessage: inbox.listen,
    onClose: inbox.onClose,
    close: () => socket.close(),
    writable: true,
    drained: () => Promise.resolve(),
  }
}

/** Messages that travel as JSON text, and `null` for the other end's goodbye: a port does not say that it closed. */
export function messagePortChannel(port: MessagePort): Channel {
  const inbox = new Inbox()
  port.onmessage = ({ data }) => {
    if (data === null) inbox.close()
    else inbox.receive(JSON.parse(data as string))
  }
  return {
    send: (message) => port.postMessage(JSON.stringify(message)),
    onMessage: inbox.listen,
    onClose: inbox.onClose,
    close: () => {
      port.postMessage(null)
      port.close()
      inbox.close()
    },
    writable: true,
    drained: () => Promise.resolve(),
  }
}

/** Opens a connection to the lab over whatever this window has. Rejects when nobody answers. */
export async function connectLab(): Promise<LabConnection> {
  if (window.chainwalkPort) return connect(messagePortChannel(await window.chainwalkPort))
  const socket = new WebSocket(`ws://${location.host}/lab`)
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true })
    socket.addEventListener('error', () => reject(new Error('the lab does not answer')), { once: true })
  })
  return connect(webSocketChannel(socket))
}
