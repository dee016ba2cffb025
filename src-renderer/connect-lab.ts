import { type Channel, Inbox } from '../src-main/contract/channel.ts'
import { isMenuCommand, type MenuCommand } from '../src-main/contract/menu-command.ts'
import { connect, type LabConnection } from '../src-main/contract/rpc.ts'

/** What the desktop's preload adds to the page, and nothing else: it asks for a message port to the lab. */
declare global {
  interface Window {
    /** The port comes as a window message whose data is `chainwalk-port`: ports cannot pass the context bridge. */
    readonly chainwalkDesktop?: { openLab(): void }
  }
}

const menuListeners = new Set<(command: MenuCommand) => void>()

/** Hears what is picked in the desktop's menu. Returns the function that stops listening. */
export function onMenu(listener: (command: MenuCommand) => void): () => void {
  menuListeners.add(listener)
  return () => {
    menuListeners.delete(listener)
  }
}

export function webSocketChannel(socket: WebSocket): Channel {
  const inbox = new Inbox()
  socket.addEventListener('message', ({ data }) => inbox.receive(JSON.parse(data as string)))
  socket.addEventListener('close', inbox.close)
  return {
    send: (message) => {
      if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message))
    },
    onMessage: inbox.listen,
    onClose: inbox.onClose,
    close: () => {
      socket.close()
      inbox.close()
    },
    writable: true,
    drained: () => Promise.resolve(),
  }
}

/** Messages travel as JSON text, and `null` is the other end's goodbye, which is surer than a port's own closing. */
export function messagePortChannel(port: MessagePort): Channel {
  const inbox = new Inbox()
  let isOpen = true
  const end = (): void => {
    isOpen = false
    port.close()
    inbox.close()
  }
  port.onmessage = ({ data }) => {
    if (data === null) end()
    else inbox.receive(JSON.parse(data as string))
  }
  port.addEventListener('close', end)
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
  }
}

/** Takes the menu's commands out of what comes, and hands the rest on. */
export function withoutMenu(channel: Channel, hear: (command: MenuCommand) => void): Channel {
  return {
    ...channel,
    onMessage: (listener) => {
      channel.onMessage((message) => {
        if (isMenuCommand(message)) hear(message)
        else listener(message)
      })
    },
  }
}

function askForPort(desktop: NonNullable<Window['chainwalkDesktop']>): Promise<MessagePort> {
  return new Promise((resolve) => {
    const take = ({ source, data, ports: [port] }: MessageEvent): void => {
      if (source !== window || data !== 'chainwalk-port' || !port) return
      window.removeEventListener('message', take)
      resolve(port)
    }
    window.addEventListener('message', take)
    desktop.openLab()
  })
}

/** Opens a connection to the lab over whatever this window has. Rejects when nobody answers. */
export async function connectLab(): Promise<LabConnection> {
  if (window.chainwalkDesktop) {
    const channel = messagePortChannel(await askForPort(window.chainwalkDesktop))
    return connect(
      withoutMenu(channel, (command) => {
        for (const listener of menuListeners) listener(command)
      }),
    )
  }
  const socket = new WebSocket(`ws://${location.host}/lab`)
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true })
    socket.addEventListener('error', () => reject(new Error('the lab does not answer')), { once: true })
  })
  return connect(webSocketChannel(socket))
}
