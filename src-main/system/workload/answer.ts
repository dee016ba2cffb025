import type { IncomingMessage } from 'node:http'

export interface ServerIdentity {
  readonly pod: string
  readonly namespace: string
  readonly node: string
}

interface Seen {
  readonly pod: string
  readonly namespace: string
  readonly node: string
  /** The client as this pod saw it: after whatever NAT lay on the way. */
  readonly peer: { readonly address: string; readonly port: number }
  readonly local: { readonly address: string; readonly port: number }
  readonly request: { readonly method: string; readonly path: string; readonly version: string }
  readonly headers: Readonly<Record<string, string | readonly string[]>>
}

function describeRequest(identity: ServerIdentity, request: IncomingMessage): Seen {
  const { socket } = request
  return {
    pod: identity.pod,
    namespace: identity.namespace,
    node: identity.node,
    peer: { address: socket.remoteAddress ?? '', port: socket.remotePort ?? 0 },
    local: { address: socket.localAddress ?? '', port: socket.localPort ?? 0 },
    request: {
      method: request.method ?? '',
      path: request.url ?? '',
      version: `HTTP/${request.httpVersion}`,
    },
    headers: Object.fromEntries(
      Object.entries(request.headers).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value]],
      ),
    ),
  }
}

const wantsJson = (request: IncomingMessage): boolean =>
  (request.headers.accept ?? '').includes('application/json') ||
  /^\/json(\?|$)|[?&]format=json(&|$)/.test(request.url ?? '')

/** What a pod's HTTP server says: JSON where the client asks for it (Accept, /json or ?format=json), else text. */
export function answerHttp(
  identity: ServerIdentity,
  request: IncomingMessage,
): { type: string; body: string } {
  const seen = describeRequest(identity, request)
  if (wantsJson(request)) return { type: 'application/json', body: `${JSON.stringify(seen)}\n` }
  const lines = [
    ['pod', seen.namespace === 'default' ? seen.pod : `${seen.namespace}/${seen.pod}`],
    ['node', seen.node],
    ['peer', `${seen.peer.address}:${seen.peer.port}`],
    ['local', `${seen.local.address}:${seen.local.port}`],
    ['request', `${seen.request.method} ${seen.request.path} ${seen.request.version}`],
    ...Object.entries(seen.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
  ]
  return {
    type: 'text/plain; charset=utf-8',
    body: `${lines.map(([name = '', value = '']) => `${name.padEnd(10)} ${value}`).join('\n')}\n`,
  }
}
