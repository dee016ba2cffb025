import { nfnetlinkGroups } from '../netlink/nfnetlink.ts'
import { openNetlinkSocket } from '../netlink/socket.ts'
import { type NetlinkWatch, watchNetlink } from '../netlink/watch.ts'
import { TRACE_MESSAGE } from './decode-trace.ts'

export interface TraceWatcher {
  /** A message for `decodeTraceEvent`, in the order in which the kernel made them; good during the call only. */
  onEvent(buffer: Buffer, start: number, end: number): void
  /** The kernel had to drop events: some packets' ways have holes from here on. */
  onOverrun(): void
  onError(error: Error): void
}

/** An ordinary user gets less of it (net.core.rmem_max). */
const RECEIVE_BUFFER_BYTES = 64 * 1024 * 1024

/** Follows the trace events of the calling thread's network namespace, of packets that somebody switched tracing on for. */
export function watchTrace(watcher: TraceWatcher): NetlinkWatch {
  const socket = openNetlinkSocket('netfilter', {
    isBlocking: false,
    receiveBufferBytes: RECEIVE_BUFFER_BYTES,
  })
  socket.join(nfnetlinkGroups.trace)
  return watchNetlink(socket, {
    onMessage(buffer, start, end, type) {
      if (type === TRACE_MESSAGE) watcher.onEvent(buffer, start, end)
    },
    onOverrun: () => watcher.onOverrun(),
    onError: (error) => watcher.onError(error),
  })
}
