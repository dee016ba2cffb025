import { checked, libcFunction, loadKoffi } from '../kernel/libc.ts'

// struct seccomp_data: nr at 0, arch at 4, args from 16. Classic BPF: code, jump if true, jump if false, operand.
const BPF_LOAD_WORD = 0x20
const BPF_JUMP_IF_EQUAL = 0x15
const BPF_RETURN = 0x06
const SECCOMP_RET_ALLOW = 0x7fff0000
const SECCOMP_RET_USER_NOTIF = 0x7fc00000
const SECCOMP_SET_MODE_FILTER = 1
const SECCOMP_FILTER_FLAG_NEW_LISTENER = 8
const AF_INET = 2
const AF_INET6 = 10

interface Numbers {
  readonly audit: number
  readonly socket: number
  readonly seccomp: number
}
const architectures: Partial<Record<NodeJS.Architecture, Numbers>> = {
  x64: { audit: 0xc000003e, socket: 41, seccomp: 317 },
  arm64: { audit: 0xc00000b7, socket: 198, seccomp: 277 },
}
/** The same on all architectures. */
const SYS_pidfd_open = 434
const SYS_pidfd_getfd = 438

const syscall = libcFunction('syscall', 'long', ['long', 'ulong', 'ulong', 'ulong'])
const libcIoctl = libcFunction('ioctl', 'int', ['int', 'ulong', 'void *'])
const libcPoll = libcFunction('poll', 'int', ['void *', 'ulong', 'int'])

/**
 * From now on this thread, and what it becomes and starts, has its calls of socket(AF_INET and AF_INET6) answered by
 * whoever holds the returned descriptor. Undefined for an architecture that is not known here. Cannot be taken back.
 */
export function installSocketFilter(): number | undefined {
  const numbers = architectures[process.arch]
  if (!numbers) return undefined
  const program: readonly (readonly [code: number, ifTrue: number, ifFalse: number, operand: number])[] = [
    [BPF_LOAD_WORD, 0, 0, 4],
    [BPF_JUMP_IF_EQUAL, 0, 5, numbers.audit],
    [BPF_LOAD_WORD, 0, 0, 0],
    [BPF_JUMP_IF_EQUAL, 0, 3, numbers.socket],
    [BPF_LOAD_WORD, 0, 0, 16],
    [BPF_JUMP_IF_EQUAL, 2, 0, AF_INET],
    [BPF_JUMP_IF_EQUAL, 1, 0, AF_INET6],
    [BPF_RETURN, 0, 0, SECCOMP_RET_ALLOW],
    [BPF_RETURN, 0, 0, SECCOMP_RET_USER_NOTIF],
  ]
  const filter = Buffer.alloc(program.length * 8)
  program.forEach(([code, ifTrue, ifFalse, operand], i) => {
    filter.writeUInt16LE(code, i * 8)
    filter.writeUInt8(ifTrue, i * 8 + 2)
    filter.writeUInt8(ifFalse, i * 8 + 3)
    filter.writeUInt32LE(operand, i * 8 + 4)
  })
  const koffi = loadKoffi()
  // struct sock_fprog: length, padding, pointer; both architectures are 64 bit.
  const fprog = Buffer.alloc(16)
  fprog.writeUInt16LE(program.length, 0)
  fprog.writeBigUInt64LE(koffi.address(filter), 8)
  return checked('seccomp', () =>
    syscall(numbers.seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, koffi.address(fprog)),
  )
}

/** A descriptor of our own for descriptor `fd` of another process. */
export function takeDescriptor(processId: number, fd: number): number {
  const process = checked('pidfd_open', () => syscall(SYS_pidfd_open, processId, 0, 0))
  try {
    return checked('pidfd_getfd', () => syscall(SYS_pidfd_getfd, process, fd, 0))
  } finally {
    libcClose(process)
  }
}

const libcClose = libcFunction('close', 'int', ['int'])

export interface SocketCall {
  readonly id: bigint
  /** As this process's pid namespace has it. */
  readonly processId: number
  readonly family: number
  /** With SOCK_CLOEXEC and SOCK_NONBLOCK. */
  readonly type: number
  readonly protocol: number
}

const SECCOMP_IOCTL_NOTIF_RECV = 0xc0502100
const SECCOMP_IOCTL_NOTIF_SEND = 0xc0182101
const SECCOMP_IOCTL_NOTIF_ADDFD = 0x40182103
const SECCOMP_USER_NOTIF_FLAG_CONTINUE = 1
const SECCOMP_ADDFD_FLAG_SEND = 2
const POLLIN = 1

/** The next call that waits for an answer; undefined where there is none, `ended` where nobody is left to make one. */
export function receiveSocketCall(listener: number): SocketCall | 'ended' | undefined {
  // Receiving blocks when nothing waits: ask first.
  const poll = Buffer.alloc(8)
  poll.writeInt32LE(listener, 0)
  poll.writeInt16LE(POLLIN, 4)
  checked('poll', () => libcPoll(poll, 1, 0))
  const events = poll.readInt16LE(6)
  if (events === 0) return undefined
  if (!(events & POLLIN)) return 'ended'
  const call = Buffer.alloc(80)
  if (Number(libcIoctl(listener, SECCOMP_IOCTL_NOTIF_RECV, call)) < 0) return undefined // the caller was killed
  return {
    id: call.readBigUInt64LE(0),
    processId: call.readUInt32LE(8),
    family: call.readUInt32LE(32),
    type: call.readUInt32LE(40),
    protocol: call.readUInt32LE(48),
  }
}

/** Answers the call with this socket, of which the caller gets a descriptor. False where it could not be given. */
export function answerWithSocket(
  listener: number,
  { id }: SocketCall,
  fd: number,
  isCloseOnExec: boolean,
): boolean {
  const answer = Buffer.alloc(24)
  answer.writeBigUInt64LE(id, 0)
  answer.writeUInt32LE(SECCOMP_ADDFD_FLAG_SEND, 8)
  answer.writeUInt32LE(fd, 12)
  answer.writeUInt32LE(isCloseOnExec ? 0o2000000 : 0, 20)
  return Number(libcIoctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, answer)) >= 0
}

/** Lets the call go on as if nobody had looked. */
export function letCallContinue(listener: number, { id }: SocketCall): void {
  const answer = Buffer.alloc(24)
  answer.writeBigUInt64LE(id, 0)
  answer.writeUInt32LE(SECCOMP_USER_NOTIF_FLAG_CONTINUE, 20)
  libcIoctl(listener, SECCOMP_IOCTL_NOTIF_SEND, answer) // fails where the caller has been killed meanwhile
}
