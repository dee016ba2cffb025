/** The part of koffi used here; its own declarations say `any` where these say what is meant. */

export type KoffiCall = (...values: unknown[]) => unknown

export interface KoffiLibrary {
  func(name: string, result: string, parameters: readonly string[]): KoffiCall
}

export interface KoffiPollEvents {
  readonly readable?: boolean
  readonly writable?: boolean
}

/** `status` is 0 or libuv's negative error number; an error stops the poll. */
export type KoffiPollCallback = (status: number) => void

/** A libuv poll handle on a file descriptor: level triggered, on the event loop of this thread. */
export interface KoffiPollHandle {
  start(events: KoffiPollEvents, callback: KoffiPollCallback): void
  stop(): void
  close(): void
  ref(): void
  unref(): void
}

export interface Koffi {
  readonly version: string
  readonly node: {
    poll(fd: number, events: KoffiPollEvents, callback: KoffiPollCallback): KoffiPollHandle
  }
  load(path: string | null): KoffiLibrary
  errno(): number
  address(value: unknown): bigint
}
