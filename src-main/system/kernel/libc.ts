import { createRequire } from 'node:module'
import { constants } from 'node:os'
import type { Koffi, KoffiCall, KoffiLibrary } from './koffi-types.ts'

let koffi: Koffi | undefined
let library: KoffiLibrary | undefined

/**
 * The FFI module, loaded on first use. Its binary is asked for by name first: the JavaScript that otherwise finds
 * it costs 10 ms of every process's start and gives nothing that is used here. Where that fails (another C
 * library, another package manager's layout), `koffi` finds it.
 */
export function loadKoffi(): Koffi {
  if (koffi) return koffi
  const require = createRequire(import.meta.url)
  try {
    koffi = require(`@koromix/koffi-linux-${process.arch}/linux_${process.arch}/koffi.node`) as Koffi
  } catch {
    koffi = require('koffi') as Koffi
  }
  return koffi
}

type CType = 'int' | 'uint' | 'long' | 'ulong' | 'size_t' | 'str' | 'void *' | 'uint64_t'

/**
 * Declares a function of the C library; the symbol is looked up at the first call. The result keeps the
 * C meaning (-1 and errno): wrap it in `checked`.
 */
export function libcFunction(name: string, result: CType, parameters: readonly CType[]): KoffiCall {
  let call: KoffiCall | undefined
  return (...values) => {
    if (!call) {
      library ??= loadKoffi().load(null)
      call = library.func(name, result, parameters)
    }
    return call(...values)
  }
}

const strerror = libcFunction('strerror', 'str', ['int'])
const errnoNames = new Map<number, string>()

/** The name of an errno value: `EPERM`; numbers without a name read `errno 524`. */
export function errnoName(errno: number): string {
  if (errnoNames.size === 0) {
    // Later names are aliases (EWOULDBLOCK, EOPNOTSUPP beside ENOTSUP): the first stays.
    for (const [name, value] of Object.entries(constants.errno)) {
      if (!errnoNames.has(value)) errnoNames.set(value, name)
    }
  }
  return errnoNames.get(errno) ?? `errno ${errno}`
}

/** `File exists (EEXIST)` */
export function describeErrno(errno: number): string {
  return `${strerror(errno)} (${errnoName(errno)})`
}

/** A system call that failed: which, with what errno, on what. */
export class SystemCallError extends Error {
  override readonly name: string = 'SystemCallError'
  readonly syscall: string
  readonly errno: number
  /** The errno's name, such as `EPERM`. */
  readonly code: string

  constructor(syscall: string, errno: number, detail = '') {
    super(`${syscall}${detail ? ` ${detail}` : ''}: ${describeErrno(errno)}`)
    this.syscall = syscall
    this.errno = errno
    this.code = errnoName(errno)
  }
}

/** errno of the last call made through `libcFunction` on this thread. */
export function lastErrno(): number {
  return loadKoffi().errno()
}

/** Turns -1 into a SystemCallError; calls again what a signal interrupted. */
export function checked(syscall: string, call: () => unknown, detail?: string): number {
  for (;;) {
    const result = Number(call())
    if (result !== -1) return result
    const errno = lastErrno()
    if (errno !== constants.errno.EINTR) throw new SystemCallError(syscall, errno, detail)
  }
}
