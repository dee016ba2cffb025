import type { Channel } from './channel.ts'
import { type ErrorCode, LabError } from './errors.ts'
import type { EventName, Events, RequestName, Requests } from './lab-contract.ts'

type Wire =
  | { readonly t: 'request'; readonly id: number; readonly name: string; readonly params: unknown }
  | { readonly t: 'result'; readonly id: number; readonly result: unknown }
  | { readonly t: 'error'; readonly id: number; readonly error: WireError }
  | { readonly t: 'event'; readonly name: string; readonly data: unknown }

interface WireError {
  readonly code: ErrorCode
  readonly message: string
  readonly details?: unknown
}

/** What a handler knows of the client that asks: a way to send it events, and to learn that it has gone. */
export interface Client {
  emit<E extends EventName>(name: E, data: Events[E]): void
  onGone(listener: () => void): void
  readonly channel: Channel
}

export type Handlers = {
  readonly [R in RequestName]: (
    params: Requests[R]['params'],
    client: Client,
  ) => Requests[R]['result'] | Promise<Requests[R]['result']>
}

function toWireError(error: unknown): WireError {
  if (error instanceof LabError)
    return {
      code: error.code,
      message: error.message,
      ...(error.details === undefined ? {} : { details: error.details }),
    }
  return {
    code: 'internal',
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  }
}

function isWire(message: unknown): message is Wire {
  return typeof message === 'object' && message !== null && 't' in message
}

/** Answers the requests that come over one channel. A malformed message closes it. */
export function serve(channel: Channel, handlers: Handlers): Client {
  const client: Client = {
    emit: (name, data) => {
      channel.send({ t: 'event', name, data } satisfies Wire)
    },
    onGone: channel.onClose,
    channel,
  }
  const answer = async (id: number, name: string, params: unknown): Promise<void> => {
    try {
      const handler = Object.hasOwn(handlers, name) ? handlers[name as RequestName] : undefined
      if (!handler) throw new LabError('bad-input', `no request is named ${JSON.stringify(name)}`)
      const result = await (handler as (params: unknown, client: Client) => unknown)(params, client)
      channel.send({ t: 'result', id, result: result ?? null } satisfies Wire)
    } catch (error) {
      channel.send({ t: 'error', id, error: toWireError(error) } satisfies Wire)
    }
  }
  channel.onMessage((message) => {
    if (!isWire(message) || message.t !== 'request' || typeof message.id !== 'number') channel.close()
    else void answer(message.id, message.name, message.params)
  })
  return client
}

export interface LabConnection {
  request<R extends RequestName>(name: R, params: Requests[R]['params']): Promise<Requests[R]['result']>
  /** Returns the function that stops listening. */
  on<E extends EventName>(name: E, listener: (data: Events[E]) => void): () => void
  onClose(listener: () => void): void
  close(): void
}

/** The asking end. Requests still open when the channel closes fail with the code `closed`. */
export function connect(channel: Channel): LabConnection {
  const open = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  const listeners = new Map<string, Set<(data: unknown) => void>>()
  let last = 0
  let closed = false
  channel.onMessage((message) => {
    if (!isWire(message)) return
    switch (message.t) {
      case 'result':
        open.get(message.id)?.resolve(message.result)
        open.delete(message.id)
        break
      case 'error': {
        const { code, message: text, details } = message.error
        open.get(message.id)?.reject(new LabError(code, text, details))
        open.delete(message.id)
        break
      }
      case 'event':
        for (const listener of listeners.get(message.name) ?? []) listener(message.data)
        break
      case 'request':
        break
      default:
        message satisfies never
    }
  })
  channel.onClose(() => {
    closed = true
    for (const { reject } of open.values()) reject(new LabError('closed', 'the lab has ended'))
    open.clear()
  })
  return {
    request: (name, params) =>
      new Promise((resolve, reject) => {
        if (closed) {
          reject(new LabError('closed', 'the lab has ended'))
          return
        }
        last += 1
        open.set(last, { resolve: resolve as (value: unknown) => void, reject })
        channel.send({ t: 'request', id: last, name, params } satisfies Wire)
      }),
    on: (name, listener) => {
      const set = listeners.get(name) ?? new Set()
      listeners.set(name, set)
      set.add(listener as (data: unknown) => void)
      return () => {
        set.delete(listener as (data: unknown) => void)
      }
    },
    onClose: channel.onClose,
    close: () => {
      channel.close()
    },
  }
}
