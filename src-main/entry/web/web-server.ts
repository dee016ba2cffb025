import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { type PausableChannel, pipeChannels } from '../../system/channel/pipe-channels.ts'
import { webSocketChannel } from '../../system/channel/web-socket-channel.ts'
import { Access, type Admission, type AskedRequest } from './access.ts'
import { peerUid } from './peer-uid.ts'
import { readSite, securityHeaders } from './site.ts'

/** A larger message is no manifest of a person's. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024

export interface WebServerOptions {
  /** The built window. */
  readonly folder: string
  /** 0 for a free one. */
  readonly port: number
  /** A new channel to the lab, one for each page. */
  readonly openLab: () => Promise<PausableChannel>
}

export interface WebServer {
  /** With the token that lets a browser in. */
  readonly link: string
  createOneTimeLink(): string
  close(): Promise<void>
}

/** Serves the window and the lab behind it on the loopback interface. Rejects with the system's error, e.g. EADDRINUSE. */
export async function startWebServer({ folder, port, openLab }: WebServerOptions): Promise<WebServer> {
  const server = createServer({ requestTimeout: 10_000 })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const access = new Access((server.address() as AddressInfo).port)
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  })

  // Asked while the connection is young: the kernel forgets whose it was when it ends.
  const uids = new WeakMap<Duplex, number | undefined>()
  server.on('connection', (socket: Socket) => uids.set(socket, peerUid(socket)))
  const asked = ({ method = '', url: target = '', headers, socket }: IncomingMessage): AskedRequest => ({
    method,
    target,
    headers,
    uid: uids.get(socket),
  })

  server.on('request', (request, response) => {
    const admission = access.admitRequest(asked(request))
    void answer(folder, request, response, admission).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined)
    })
  })
  server.on('upgrade', (request, socket, head) => {
    const admission = access.admitUpgrade(asked(request))
    if (admission.verdict === 'refused') refuseUpgrade(socket, admission)
    else
      sockets.handleUpgrade(request, socket, head, (opened) => {
        void joinLab(opened, openLab)
      })
  })

  return {
    link: access.link,
    createOneTimeLink: () => access.createOneTimeLink(),
    close: async () => {
      for (const socket of sockets.clients) socket.terminate()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function answer(
  folder: string,
  request: IncomingMessage,
  response: ServerResponse,
  admission: Admission,
): Promise<void> {
  const connect = [`ws://${request.headers.host}`]
  switch (admission.verdict) {
    case 'admitted': {
      const [path = ''] = (request.url ?? '').split('?')
      const { status, headers, body } = await readSite(folder, path, connect)
      response.writeHead(status, { ...headers, 'content-length': body.length })
      response.end(request.method === 'HEAD' ? undefined : body)
      return
    }
    case 'redeemed':
      response.writeHead(303, {
        ...securityHeaders([]),
        'set-cookie': admission.cookie,
        'cache-control': 'no-store',
        location: '/',
      })
      response.end()
      return
    case 'refused':
      response.writeHead(admission.status, {
        ...securityHeaders([]),
        'content-type': 'text/plain; charset=utf-8',
        'cache-control': 'no-store',
        connection: 'close', // what else the request brings is not read
        ...(admission.status === 405 ? { allow: 'GET, HEAD' } : {}),
      })
      response.end(request.method === 'HEAD' ? undefined : `Chainwalk: ${admission.reason}.\n`)
      return
    default:
      admission satisfies never
  }
}

function refuseUpgrade(socket: Duplex, { status, reason }: Extract<Admission, { verdict: 'refused' }>): void {
  socket.on('error', () => undefined) // whoever asked may have gone already
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\n\r\nChainwalk: ${reason}.\n`,
  )
}

async function joinLab(socket: WebSocket, openLab: () => Promise<PausableChannel>): Promise<void> {
  const page = webSocketChannel(socket)
  try {
    pipeChannels(page, await openLab())
  } catch {
    socket.close(1011, 'the lab does not answer') // the page says so and tries again
  }
}
