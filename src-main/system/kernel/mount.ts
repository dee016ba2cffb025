import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { checked, libcFunction, SystemCallError } from './libc.ts'

/** Values of `mount(2)`'s flags. */
export const mountFlags = {
  readOnly: 0x1,
  noSuid: 0x2,
  noDevices: 0x4,
  noExec: 0x8,
  remount: 0x20,
  noAccessTime: 0x400,
  noDirectoryAccessTime: 0x800,
  bind: 0x1000,
  move: 0x2000,
  recursive: 0x4000,
  private: 0x40000,
  slave: 0x80000,
  relativeAccessTime: 0x200000,
} as const

export const unmountFlags = { detach: 0x2, noFollow: 0x8 } as const

const SYS_mount_setattr = 442 // the same number on every architecture that Linux 5.12 knows but alpha
const AT_FDCWD = -100
const AT_RECURSIVE = 0x8000
const MOUNT_ATTR_RDONLY = 1n

const libcMount = libcFunction('mount', 'int', ['str', 'str', 'str', 'ulong', 'str'])
const libcUmount2 = libcFunction('umount2', 'int', ['str', 'int'])
const syscall5 = libcFunction('syscall', 'long', ['long', 'long', 'str', 'long', 'void *', 'size_t'])

export function mount(
  source: string | null,
  target: string,
  type: string | null,
  flags = 0,
  data: string | null = null,
): void {
  checked('mount', () => libcMount(source, target, type, flags, data), `${type ?? source ?? ''} on ${target}`)
}

export function umount2(target: string, flags = 0): void {
  checked('umount2', () => libcUmount2(target, flags), target)
}

/**
 * Makes every mount at and below `path` read-only in this mount namespace. `path` must be a mount point.
 * Kernels before 5.12 lack mount_setattr: there each mount is remounted for itself.
 */
export function mountSetattrRecursiveReadOnly(path: string): void {
  const attributes = Buffer.alloc(32)
  attributes.writeBigUInt64LE(MOUNT_ATTR_RDONLY, 0)
  try {
    checked(
      'mount_setattr',
      () => syscall5(SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE, attributes, attributes.length),
      path,
    )
  } catch (error) {
    if (!(error instanceof SystemCallError) || error.errno !== constants.errno.ENOSYS) throw error
    remountReadOnlyOneByOne(path)
  }
}

/** The way for kernels without mount_setattr; exported for its test. */
export function remountReadOnlyOneByOne(path: string): void {
  for (const { target, flags } of mountsBelow(readFileSync('/proc/thread-self/mountinfo', 'utf8'), path)) {
    mount(null, target, null, mountFlags.remount | mountFlags.bind | mountFlags.readOnly | flags)
  }
}

const optionFlags = new Map<string, number>([
  ['nosuid', mountFlags.noSuid],
  ['nodev', mountFlags.noDevices],
  ['noexec', mountFlags.noExec],
  ['noatime', mountFlags.noAccessTime],
  ['nodiratime', mountFlags.noDirectoryAccessTime],
  ['relatime', mountFlags.relativeAccessTime],
])

/**
 * The mounts at and below `path` in the text of /proc/self/mountinfo, with the flags that a remount must
 * repeat: in a user namespace a remount that drops one of them is refused.
 */
export function mountsBelow(mountInfo: string, path: string): { target: string; flags: number }[] {
  const prefix = path.endsWith('/') ? path : `${path}/`
  const mounts = new Map<string, number>()
  for (const line of mountInfo.split('\n')) {
    const fields = line.split(' ')
    const target = fields[4]?.replace(/\\([0-7]{3})/g, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 8)),
    )
    if (target === undefined || (target !== path && !target.startsWith(prefix))) continue
    let flags = 0
    for (const option of (fields[5] ?? '').split(',')) flags |= optionFlags.get(option) ?? 0
    // Of mounts stacked on one target only the topmost, named last, can be reached.
    mounts.set(target, flags)
  }
  return [...mounts].map(([target, flags]) => ({ target, flags }))
}
