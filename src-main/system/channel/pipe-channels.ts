import type { Channel } from '../../contract/channel.ts'

/** A channel that can leave what comes in where it is, so that its sender notices. */
export interface PausableChannel extends Channel {
  pause(): void
  resume(): void
}

/** Joins two channels: what one receives the other sends, and they end together. A slow reader slows its writer. */
export function pipeChannels(a: PausableChannel, b: PausableChannel): void {
  forward(a, b)
  forward(b, a)
}

function forward(from: PausableChannel, to: PausableChannel): void {
  from.onMessage((message) => {
    to.send(message)
    if (to.writable) return
    from.pause()
    void to.drained().then(from.resume)
  })
  from.onClose(() => {
    to.close()
  })
}
