import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect as connectSocket, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  MessageChannel as NodeMessageChannel,
  type MessagePort as NodeMessagePort,
} from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { WebSocketServer, WebSocket as WsSocket } from 'ws'
import { type Channel, channelPair } from '../../src-main/contract/channel.ts'
import { LabError } from '../../src-main/contract/errors.ts'
import { connect, type Handlers, serve } from '../../src-main/contract/rpc.ts'
import { type EventPort, messagePortChannel } from '../../src-main/system/channel/message-port-channel.ts'
import { type PausableChannel, pipeChannels } from '../../src-main/system/channel/pipe-channels.ts'
import { streamChannel } from '../../src-main/system/channel/stream-channel.ts'
import { webSocketChannel } from '../../src-main/system/channel/web-socket-channel.ts'
import * as page from '../../src-renderer/connect-lab.ts'

interface Transport {
  readonly lab: Channel
  readonly viewer: Channel
  /** The viewer is gone from one moment to the next, as when its process is killed. */
  die(): void
  close(): Promise<void>
}

type UnixTransport = Transport & { readonly viewer: PausableChannel }

interface PageTransport {
  readonly inEntry: PausableChannel
  readonly inPage: Channel
  die(): void
  close(): Promise<void>
}

const transports: Record<string, () => Promise<Transport>> = {
  memory: () => {
    const [lab, viewer] = channelPair()
    return Promise.resolve({
      lab,
      viewer,
      die: viewer.close,
      close: () => {
        viewer.close()
        return Promise.resolve()
      },
    })
  },
  'Unix socket': openUnixSocket,
  'WebSocket, through the web entry': () => openBehind(openWebSocket),
  'message port, through the desktop entry': () => openBehind(openMessagePort),
}

async function openUnixSocket(): Promise<UnixTransport> {
  const folder = mkdtempSync(join(tmpdir(), 'chainwalk-rpc-'))
  const path = join(folder, 'lab.sock')
  const server = createServer()
  const accepted = new Promise<Channel>((resolve) => {
    server.once('connection', (socket) => resolve(streamChannel(socket, socket)))
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  const socket = connectSocket(path)
  const viewer = streamChannel(socket, socket)
  return {
    lab: await accepted,
    viewer,
    die: () => socket.destroy(),
    close: async () => {
      viewer.close()
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true })
    },
  }
}

/** As both entries stand: the page's own channel, joined to a Unix socket of the lab. */
async function openBehind(openPage: () => Promise<PageTransport>): Promise<Transport> {
  const [lab, entry] = [await openUnixSocket(), await openPage()]
  pipeChannels(entry.inEntry, lab.viewer)
  return {
    lab: lab.lab,
    viewer: entry.inPage,
    die: entry.die,
    close: async () => {
      await entry.close()
      await lab.close()
    },
  }
}

async function openWebSocket(): Promise<PageTransport> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await new Promise((resolve) => server.once('listening', resolve))
  const accepted = new Promise<WsSocket>((resolve) => server.once('connection', resolve))
  const socket = new WsSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/lab`)
  await new Promise((resolve) => socket.once('open', resolve))
  return {
    inEntry: webSocketChannel(await accepted),
    inPage: page.webSocketChannel(socket as unknown as WebSocket),
    die: () => socket.terminate(),
    close: async () => {
      socket.terminate()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function openMessagePort(): Promise<PageTransport> {
  const { port1, port2 } = new NodeMessageChannel()
  return Promise.resolve({
    inEntry: messagePortChannel(asElectronPort(port1)),
    inPage: page.messagePortChannel(port2 as unknown as MessagePort),
    die: () => port2.close(),
    close: () => {
      port2.close()
      return Promise.resolve()
    },
  })
}

/** Electron wraps what comes in an event, Node hands over the value itself. */
function asElectronPort(port: NodeMessagePort): EventPort {
  return {
    on: (event: 'message' | 'close', listener: (event: { readonly data: unknown }) => void) =>
      event === 'message'
        ? port.on('message', (data: unknown) => listener({ data }))
        : port.on('close', listener as () => void),
    postMessage: (message) => port.postMessage(message),
    start: () => port.start(),
    close: () => port.close(),
  }
}

/** Handlers of which a test sets the ones that it asks for. */
const only = (handlers: Partial<Handlers>): Handlers => handlers as Handlers

describe.each(Object.entries(transports))('the contract over %s', (_name, open) => {
  const using = async (
    handlers: Partial<Handlers>,
    work: (viewer: ReturnType<typeof connect>, transport: Transport) => Promise<void>,
  ): Promise<void> => {
    const transport = await open()
    serve(transport.lab, only(handlers))
    try {
      await work(connect(transport.viewer), transport)
    } finally {
      await transport.close()
    }
  }

  test('answers a request with its result, each request with its own', async () => {
    await using(
      {
        'rules/diff': async ({ node, from, to }) => {
          await new Promise((resolve) => setTimeout(resolve, from)) // the first asked answers last
          return { node, added: from, removed: to, text: 'ü "quoted"\nline two' }
        },
      },
      async (viewer) => {
        const answers = await Promise.all([
          viewer.request('rules/diff', { node: 'a', from: 30, to: 1 }),
          viewer.request('rules/diff', { node: 'b', from: 1, to: 2 }),
        ])
        expect(answers.map(({ node, removed }) => [node, removed])).toEqual([
          ['a', 1],
          ['b', 2],
        ])
        expect(answers[0]?.text).toBe('ü "quoted"\nline two')
      },
    )
  })

  test('carries an error with code, message and details', async () => {
    await using(
      {
        'lab/status': () => {
          throw new LabError('conflict', 'taken', { by: 'another' })
        },
      },
      async (viewer) => {
        const failure = viewer.request('lab/status', {})
        await expect(failure).rejects.toBeInstanceOf(LabError)
        await expect(failure).rejects.toMatchObject({
          code: 'conflict',
          message: 'taken',
          details: { by: 'another' },
        })
      },
    )
  })

  test('a handler that breaks is an internal error, and the next request still works', async () => {
    let calls = 0
    await using(
      {
        'lab/stop': () => {
          calls += 1
          if (calls === 1) throw new TypeError('broken')
          return null
        },
      },
      async (viewer) => {
        await expect(viewer.request('lab/stop', {})).rejects.toMatchObject({ code: 'internal' })
        await expect(viewer.request('lab/stop', {})).resolves.toBeNull()
      },
    )
  })

  test('an unknown request is bad input', async () => {
    await using({}, async (viewer) => {
      await expect(viewer.request('lab/status', {})).rejects.toMatchObject({ code: 'bad-input' })
      await expect(viewer.request('toString' as 'lab/status', {})).rejects.toMatchObject({
        code: 'bad-input',
      })
    })
  })

  test('events arrive in order, and a listener that stopped hears no more', async () => {
    await using(
      {
        'lab/stop': (_params, client) => {
          for (let done = 0; done < 500; done += 1)
            client.emit('lab/progress', { text: 'x', done, total: 500 })
          return null
        },
      },
      async (viewer) => {
        const heard: number[] = []
        const stop = viewer.on('lab/progress', ({ done }) => heard.push(done))
        await viewer.request('lab/stop', {})
        expect(heard).toEqual(Array.from({ length: 500 }, (_, n) => n))
        stop()
        await viewer.request('lab/stop', {})
        expect(heard).toHaveLength(500)
      },
    )
  })

  test('what is still asked when the lab goes fails as closed, and so does what is asked later', async () => {
    await using({ 'lab/status': () => new Promise(() => undefined) }, async (viewer, transport) => {
      const open = viewer.request('lab/status', {})
      const gone = new Promise<void>((resolve) => viewer.onClose(resolve))
      transport.lab.close()
      await expect(open).rejects.toMatchObject({ code: 'closed' })
      await gone
      await expect(viewer.request('lab/status', {})).rejects.toMatchObject({ code: 'closed' })
    })
  })

  test('a client that goes is noticed once', async () => {
    let gone = 0
    await using(
      {
        'lab/stop': (_params, client) => {
          client.onGone(() => {
            gone += 1
          })
          return null
        },
      },
      async (viewer) => {
        await viewer.request('lab/stop', {})
        viewer.close()
        viewer.close()
        await expect.poll(() => gone).toBe(1)
      },
    )
  })

  test('a client that dies without a word is noticed', async () => {
    let gone = 0
    await using(
      {
        'lab/stop': (_params, client) => {
          client.onGone(() => {
            gone += 1
          })
          return null
        },
      },
      async (viewer, transport) => {
        await viewer.request('lab/stop', {})
        transport.die()
        await expect.poll(() => gone).toBe(1)
      },
    )
  })

  test('something that is no request closes the channel', async () => {
    await using({}, async (viewer, transport) => {
      const gone = new Promise<void>((resolve) => viewer.onClose(resolve))
      transport.viewer.send({ hello: 'world' })
      await gone
    })
  })
})
