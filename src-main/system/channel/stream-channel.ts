import type { Readable, Writable } from 'node:stream'
import { Inbox } from '../../contract/channel.ts'
import type { PausableChannel } from './pipe-channels.ts'

/** A line longer than this is no message of ours: the channel closes instead of filling the memory. */
const MAX_LINE_CHARACTERS = 256 * 1024 * 1024

/** A channel over a pair of byte streams (a socket, or a child's pipes): one JSON message a line. */
export function streamChannel(input: Readable, output: Writable): PausableChannel {
  const inbox = new Inbox()
  let pieces: string[] = []
  let held = 0
  let open = true
  let writable = true
  const waiting: (() => void)[] = []

  const wake = (): void => {
    writable = true
    for (const resume of waiting.splice(0)) resume()
  }
  const close = (): void => {
    if (!open) return
    open = false
    output.end()
    input.destroy()
    wake()
    inbox.close()
  }
  const take = (line: string): void => {
    if (line.trim() === '') return
    let message: unknown
    try {
      message = JSON.parse(line)
    } catch {
      close() // not our protocol
      return
    }
    inbox.receive(message)
  }

  input.setEncoding('utf8')
  input.on('data', (text: string) => {
    let from = 0
    for (let at = text.indexOf('\n'); at !== -1 && open; at = text.indexOf('\n', from)) {
      pieces.push(text.slice(from, at))
      take(pieces.join(''))
      pieces = []
      held = 0
      from = at + 1
    }
    const rest = text.slice(from)
    held += rest.length
    if (held > MAX_LINE_CHARACTERS) close()
    else if (rest) pieces.push(rest)
  })
  // A peer that dies shows as an error or an end on either stream; each means the same.
  for (const stream of [input, output]) stream.on('error', close)
  input.on('end', close)
  input.on('close', close)
  output.on('drain', wake)

  return {
    send: (message) => {
      if (open) writable = output.write(`${JSON.stringify(message)}\n`)
    },
    onMessage: inbox.listen,
    onClose: inbox.onClose,
    close,
    get writable() {
      return writable
    },
    drained: () =>
      writable || !open
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push(resolve)
          }),
    pause: () => {
      input.pause()
    },
    resume: () => {
      input.resume()
    },
  }
}
