import { closeSync, constants, openSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { checked, libcFunction } from './libc.ts'
import { mount, mountFlags } from './mount.ts'

/** Values of the CLONE_* flags that `unshare` and `setns` take. */
export const cloneFlags = {
  fileSystemStruct: 0x200,
  mount: 0x20000,
  cgroup: 0x2000000,
  uts: 0x4000000,
  ipc: 0x8000000,
  user: 0x10000000,
  pid: 0x20000000,
  net: 0x40000000,
} as const

const libcUnshare = libcFunction('unshare', 'int', ['int'])
const libcSetns = libcFunction('setns', 'int', ['int', 'int'])
const libcFchdir = libcFunction('fchdir', 'int', ['int'])
const libcSethostname = libcFunction('sethostname', 'int', ['void *', 'size_t'])

/** Moves the calling thread into new namespaces; other threads stay. */
export function unshare(flags: number): void {
  checked('unshare', () => libcUnshare(flags), `0x${flags.toString(16)}`)
}

/** Moves the calling thread into the namespace behind `fd`; `type` is one of cloneFlags, or 0 for any. */
export function setns(fd: number, type: number): void {
  checked('setns', () => libcSetns(fd, type), `fd ${fd}`)
}

export function sethostname(name: string): void {
  const bytes = Buffer.from(name)
  checked('sethostname', () => libcSethostname(bytes, bytes.length), name)
}

/** An open namespace: it lives as long as this, a process or socket in it, or a mount of it. */
export class NamespaceFd {
  readonly fd: number
  #open = true

  constructor(fd: number) {
    this.fd = fd
  }

  get isOpen(): boolean {
    return this.#open
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    closeSync(this.fd)
  }
}

/** Opens a namespace file such as /proc/thread-self/ns/net. Node opens files with O_CLOEXEC: no child inherits it. */
export function openNamespaceFd(path: string): NamespaceFd {
  return new NamespaceFd(openSync(path, constants.O_RDONLY))
}

export interface Namespaces {
  readonly net?: NamespaceFd
  readonly uts?: NamespaceFd
  readonly mount?: NamespaceFd
}

type Kind = keyof Namespaces

const kinds = {
  net: { flag: cloneFlags.net, path: '/proc/thread-self/ns/net' },
  uts: { flag: cloneFlags.uts, path: '/proc/thread-self/ns/uts' },
  mount: { flag: cloneFlags.mount, path: '/proc/thread-self/ns/mnt' },
} as const satisfies Record<Kind, { flag: number; path: string }>

/** Where this thread is now. The first entry of each kind is the home that the thread started from. */
const current: { net?: NamespaceFd; uts?: NamespaceFd; mount?: NamespaceFd } = {}

function currentNamespace(kind: Kind): NamespaceFd {
  const known = current[kind]
  if (known) return known
  const home = openNamespaceFd(kinds[kind].path)
  try {
    // A user namespace's root may leave a namespace that it does not own, but not come back: ask before leaving.
    setns(home.fd, kinds[kind].flag)
  } catch (error) {
    home.close()
    throw new Error(`this process could not come back to its ${kind} namespace: unshare that one too`, {
      cause: error,
    })
  }
  current[kind] = home
  return home
}

/**
 * Forgets which namespaces are home. Call it after a plain `unshare` or `setns` that is meant to last, outside
 * of any window.
 */
export function forgetHomeNamespaces(): void {
  for (const kind of ['net', 'uts', 'mount'] as const) {
    current[kind]?.close()
    delete current[kind]
  }
}

/**
 * A mount namespace can only be entered by a thread that shares its root and working directory with no other; each
 * thread that this one starts (node-pty's, for one) shares them again. `process.chdir` moves the main thread alone
 * from then on: relative paths in asynchronous fs calls keep the old working directory. Children follow the main
 * thread.
 */
function ownFileSystemStruct(): void {
  if (!isMainThread) throw new Error('mount namespaces can be entered on the main thread only')
  unshare(cloneFlags.fileSystemStruct)
}

/** Back to where the thread was; what was started meanwhile may share its file system struct by now. */
function returnTo(kind: Kind, before: NamespaceFd): void {
  if (kind === 'mount') ownFileSystemStruct()
  setns(before.fd, kinds[kind].flag)
  current[kind] = before
}

// The order in which they are entered; they are left in the opposite one.
const entryOrder = ['net', 'uts', 'mount'] as const

/**
 * Runs `work` with the calling thread inside the given namespaces and comes back, also when it throws.
 * Windows may be nested. What `work` opens, spawns or listens on belongs to those namespaces afterwards too.
 * `work` must be synchronous: setns moves the thread, and everything else would run in there meanwhile.
 */
export function inNamespaces<T>(namespaces: Namespaces, work: () => T): T {
  const workingDirectory = namespaces.mount ? openWorkingDirectory() : undefined
  const entered: { kind: Kind; before: NamespaceFd }[] = []
  try {
    for (const kind of entryOrder) {
      const namespace = namespaces[kind]
      if (!namespace) continue
      if (!namespace.isOpen) throw new Error(`this ${kind} namespace is closed`)
      const before = currentNamespace(kind)
      setns(namespace.fd, kinds[kind].flag)
      current[kind] = namespace
      entered.push({ kind, before })
    }
    const result = work()
    if (isThenable(result)) {
      throw new Error('work in a namespace must be synchronous, but it returned a promise')
    }
    return result
  } finally {
    leave(entered)
    if (workingDirectory !== undefined) returnToDirectory(workingDirectory)
  }
}

/** Goes back the way it came, as far as can be: one failure does not leave the thread in the others too. */
function leave(entered: readonly { kind: Kind; before: NamespaceFd }[]): void {
  const failures: unknown[] = []
  for (const { kind, before } of entered.toReversed()) {
    try {
      if (!before.isOpen) throw new Error(`the ${kind} namespace to come back to was closed meanwhile`)
      returnTo(kind, before)
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'the thread is stuck in a namespace')
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

const O_PATH = 0o10000000

function openWorkingDirectory(): number {
  ownFileSystemStruct()
  return openSync('.', O_PATH | constants.O_DIRECTORY)
}

// Entering a mount namespace leaves the thread at its root directory.
function returnToDirectory(fd: number): void {
  try {
    checked('fchdir', () => libcFchdir(fd))
  } finally {
    closeSync(fd)
  }
}

/** Runs `prepare` in a namespace of `kind` that is new, and comes back with it. */
function createNamespace(kind: Kind, prepare: () => void): NamespaceFd {
  const workingDirectory = kind === 'mount' ? openWorkingDirectory() : undefined
  let created: NamespaceFd | undefined
  try {
    const before = currentNamespace(kind)
    unshare(kinds[kind].flag)
    try {
      created = openNamespaceFd(kinds[kind].path)
      current[kind] = created
      const result: unknown = prepare()
      if (isThenable(result)) throw new Error('a namespace must be prepared synchronously')
      return created
    } finally {
      leave([{ kind, before }])
    }
  } catch (error) {
    created?.close()
    throw error
  } finally {
    if (workingDirectory !== undefined) returnToDirectory(workingDirectory)
  }
}

/** A new, empty network namespace; `prepare`, when given, runs inside it first (sysctls, say). */
export function createNetworkNamespace(prepare: () => void = () => undefined): NamespaceFd {
  return createNamespace('net', prepare)
}

export function createUtsNamespace(hostname: string): NamespaceFd {
  return createNamespace('uts', () => sethostname(hostname))
}

/**
 * A copy of the current mount namespace whose later changes stay its own. `prepare` runs inside it, such as
 * mounting a fresh sysfs on /sys: it shows the network namespace that the thread is in at that moment.
 */
export function createMountNamespace(prepare: () => void): NamespaceFd {
  return createNamespace('mount', () => {
    mount(null, '/', null, mountFlags.recursive | mountFlags.private)
    prepare()
  })
}
