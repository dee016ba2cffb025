/** The one seam between the lab and whatever shows it: a duplex stream of JSON-safe messages. */
export interface Channel {
  send(message: unknown): void
  /** One listener; messages that come before it is set are kept for it. */
  onMessage(listener: (message: unknown) => void): void
  /** Called once when the other end is gone; at once if it is gone already. */
  onClose(listener: () => void): void
  close(): void
  /** False while the other end reads more slowly than this one writes. */
  readonly writable: boolean
  /** Resolves when `writable` is true again, or the channel has closed. */
  drained(): Promise<void>
}

/** Hands messages to one listener and closing to many, keeping what comes before they are set. */
export class Inbox {
  #listener: ((message: unknown) => void) | undefined
  #waiting: unknown[] = []
  #closers: (() => void)[] = []
  #closed = false

  readonly receive = (message: unknown): void => {
    if (this.#listener) this.#listener(message)
    else this.#waiting.push(message)
  }

  readonly listen = (listener: (message: unknown) => void): void => {
    this.#listener = listener
    for (const message of this.#waiting.splice(0)) listener(message)
  }

  readonly onClose = (listener: () => void): void => {
    if (this.#closed) listener()
    else this.#closers.push(listener)
  }

  readonly close = (): void => {
    if (this.#closed) return
    this.#closed = true
    for (const closer of this.#closers.splice(0)) closer()
  }
}

/** Two joined ends in memory. Messages pass through JSON, as on a wire, so every transport behaves alike. */
export function channelPair(): [Channel, Channel] {
  const inboxes = [new Inbox(), new Inbox()] as const
  let open = true
  const end = (mine: Inbox, theirs: Inbox): Channel => ({
    send: (message) => {
      const copy: unknown = JSON.parse(JSON.stringify(message))
      if (open)
        void Promise.resolve().then(() => {
          theirs.receive(copy)
        })
    },
    onMessage: mine.listen,
    onClose: mine.onClose,
    close: () => {
      if (!open) return
      open = false
      mine.close()
      void Promise.resolve().then(theirs.close)
    },
    writable: true,
    drained: () => Promise.resolve(),
  })
  return [end(inboxes[0], inboxes[1]), end(inboxes[1], inboxes[0])]
}
