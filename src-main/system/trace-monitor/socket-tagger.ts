import { readlinkSync } from 'node:fs'
import type { Where } from '../command/run-command.ts'
import { loadKoffi } from '../kernel/libc.ts'
import { close, setsockopt, socket, socketLevels } from '../kernel/socket.ts'
import {
  answerWithSocket,
  letCallContinue,
  receiveSocketCall,
  type SocketCall,
  takeDescriptor,
} from './seccomp-notify.ts'

const SO_PRIORITY = 12
const SOCK_CLOEXEC = 0o2000000

/**
 * Makes the internet sockets of one command and all that it starts, so that their packets carry a priority by which
 * nft tells them from all others of the host; on the next host they no longer do. The kernel asks here for each
 * socket. Ends when no process of the command is left: its sockets could not be made without it.
 */
export function tagSockets(
  where: Where,
  launcher: { readonly processId: number; readonly listener: number },
  priority: number,
): void {
  const listener = takeDescriptor(launcher.processId, launcher.listener)
  const home = where(() => readlinkSync('/proc/thread-self/ns/net'))
  const onReadable = (): void => {
    let call = receiveSocketCall(listener)
    while (call !== undefined && call !== 'ended') {
      answer(call)
      call = receiveSocketCall(listener)
    }
    if (call !== 'ended') return
    poll.close()
    close(listener)
  }
  const answer = (call: SocketCall): void => {
    const fd = isAtHome(call.processId) ? makeSocket(where, call, priority) : undefined
    if (fd === undefined) {
      letCallContinue(listener, call) // into the kernel's own refusal, or a namespace of the command's own
      return
    }
    if (!answerWithSocket(listener, call, fd, (call.type & SOCK_CLOEXEC) !== 0))
      letCallContinue(listener, call)
    close(fd)
  }
  const isAtHome = (processId: number): boolean => {
    try {
      return readlinkSync(`/proc/${processId}/ns/net`) === home
    } catch {
      return false // it has just been killed
    }
  }
  const poll = loadKoffi().node.poll(listener, { readable: true }, onReadable)
  poll.unref()
}

function makeSocket(
  where: Where,
  { family, type, protocol }: SocketCall,
  priority: number,
): number | undefined {
  try {
    const fd = where(() => socket(family, type, protocol))
    setsockopt(fd, socketLevels.socket, SO_PRIORITY, priority)
    return fd
  } catch {
    return undefined
  }
}
