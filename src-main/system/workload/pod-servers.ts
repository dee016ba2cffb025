import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import { answerHttp, type ServerIdentity } from './answer.ts'

/** A socket that already stands in the pod's namespace. */
export interface OpenSocket {
  readonly protocol: 'TCP' | 'UDP'
  readonly fd: number
}

export interface PodServers {
  /** Stops listening and ends what is open, as a deleted pod does. */
  close(): void
}

/** One HTTP parser for all pods of a lab: sockets are handed to it with the identity of the pod they belong to. */
const identities = new WeakMap<Socket, ServerIdentity>()
let sharedHttp: HttpServer | undefined

function httpForAllPods(): HttpServer {
  sharedHttp ??= createHttpServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const identity = identities.get(request.socket)
    if (!identity) throw new Error('a request came over a socket of no pod')
    request.resume() // a body is of no interest, but must be read
    const { type, body } = answerHttp(identity, request)
    response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
    response.end(request.method === 'HEAD' ? undefined : body)
  })
  return sharedHttp
}

/** Serves a pod's sockets from this process: HTTP on TCP, echo on UDP. Errors of a single peer end that peer only. */
export function servePod(identity: ServerIdentity, sockets: readonly OpenSocket[]): PodServers {
  const servers: Server[] = []
  const open = new Set<Socket>()
  const udp: UdpSocket[] = []
  for (const { protocol, fd } of sockets) {
    if (protocol === 'TCP') {
      const server = createServer((socket) => {
        identities.set(socket, identity)
        open.add(socket)
        socket.once('close', () => open.delete(socket))
        socket.on('error', () => socket.destroy())
        httpForAllPods().emit('connection', socket)
      })
      server.listen({ fd })
      servers.push(server)
    } else {
      const socket = createSocket('udp4')
      socket.on('message', (message, peer) => {
        socket.send(message, peer.port, peer.address)
      })
      // An ICMP answer to an echo of ours is the peer's affair.
      socket.on('error', () => undefined)
      socket.bind({ fd })
      udp.push(socket)
    }
  }
  return {
    close: () => {
      for (const server of servers) server.close()
      for (const socket of open) socket.destroy()
      for (const socket of udp) socket.close()
    },
  }
}
