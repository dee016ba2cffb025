import { parseIpAddress } from './ip-address.ts'
import { checked, lastErrno, libcFunction, SystemCallError } from './libc.ts'

export const addressFamilies = { unix: 1, inet: 2, inet6: 10, netlink: 16, packet: 17 } as const
export const socketTypes = { stream: 1, datagram: 2, raw: 3 } as const

const SOCK_NONBLOCK = 0o4000
const SOCK_CLOEXEC = 0o2000000

/** Levels and names of the socket options used in the lab (Linux, all architectures but mips, parisc, sparc). */
export const socketLevels = { socket: 1, ip: 0, tcp: 6, ipv6: 41, netlink: 270 } as const
export const socketOptions = {
  reuseAddress: 2,
  receiveBuffer: 8,
  receiveTimeout: 20,
  sendTimeout: 21,
  receiveBufferForce: 33,
} as const

const libcSocket = libcFunction('socket', 'int', ['int', 'int', 'int'])
const libcBind = libcFunction('bind', 'int', ['int', 'void *', 'uint'])
const libcConnect = libcFunction('connect', 'int', ['int', 'void *', 'uint'])
const libcListen = libcFunction('listen', 'int', ['int', 'int'])
const libcGetsockopt = libcFunction('getsockopt', 'int', ['int', 'int', 'int', 'void *', 'void *'])
const libcSetsockopt = libcFunction('setsockopt', 'int', ['int', 'int', 'int', 'void *', 'uint'])
const libcSend = libcFunction('send', 'long', ['int', 'void *', 'size_t', 'int'])
const libcRecv = libcFunction('recv', 'long', ['int', 'void *', 'size_t', 'int'])
const libcClose = libcFunction('close', 'int', ['int'])

/** Opens a socket in the calling thread's network namespace, where it stays. No child inherits it. */
export function socket(family: number, type: number, protocol = 0, { isBlocking = true } = {}): number {
  const flags = SOCK_CLOEXEC | (isBlocking ? 0 : SOCK_NONBLOCK)
  return checked('socket', () => libcSocket(family, type | flags, protocol))
}

export function bind(fd: number, address: Uint8Array): void {
  checked('bind', () => libcBind(fd, address, address.length))
}

export function connect(fd: number, address: Uint8Array): void {
  checked('connect', () => libcConnect(fd, address, address.length))
}

export function listen(fd: number, backlog = 511): void {
  checked('listen', () => libcListen(fd, backlog))
}

export function setsockopt(fd: number, level: number, option: number, value: number | Uint8Array): void {
  let bytes = value
  if (typeof bytes === 'number') bytes = new Uint8Array(Int32Array.of(bytes).buffer)
  checked('setsockopt', () => libcSetsockopt(fd, level, option, bytes, bytes.length), `option ${option}`)
}

/** An option whose value is an int. */
export function getsockopt(fd: number, level: number, option: number): number {
  const value = new Int32Array(1)
  const length = Uint32Array.of(4)
  checked('getsockopt', () => libcGetsockopt(fd, level, option, value, length), `option ${option}`)
  return value[0] ?? 0
}

export function send(fd: number, bytes: Uint8Array, length = bytes.length): number {
  return checked('send', () => libcSend(fd, bytes, length, 0))
}

export const receiveFlags = { dontWait: 0x40, trueLength: 0x20 } as const

const EINTR = 4
const EAGAIN = 11

/** Bytes received into `buffer`; undefined when nothing is there (or the receive timeout passed). */
export function receive(fd: number, buffer: Uint8Array, flags = 0): number | undefined {
  for (;;) {
    const received = Number(libcRecv(fd, buffer, buffer.length, flags))
    if (received >= 0) return received
    const errno = lastErrno()
    if (errno === EAGAIN) return undefined
    if (errno !== EINTR) throw new SystemCallError('recv', errno)
  }
}

/** Not repeated after EINTR: Linux has freed the descriptor by then. */
export function close(fd: number): void {
  if (Number(libcClose(fd)) === -1) {
    const errno = lastErrno()
    if (errno !== EINTR) throw new SystemCallError('close', errno, `fd ${fd}`)
  }
}

/** A `struct sockaddr_in` or, for an IPv6 address, `struct sockaddr_in6`. */
export function internetSocketAddress(host: string, port: number): Uint8Array {
  const { family, bytes } = parseIpAddress(host)
  const address = new Uint8Array(family === 4 ? 16 : 28)
  const view = new DataView(address.buffer)
  // The family is in host order, as koffi supports little-endian hosts only.
  view.setUint16(0, family === 4 ? addressFamilies.inet : addressFamilies.inet6, true)
  view.setUint16(2, port)
  address.set(bytes, family === 4 ? 4 : 8)
  return address
}
