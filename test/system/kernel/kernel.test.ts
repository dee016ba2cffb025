import { isMainThread } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { buildIdentityFilter } from '../../../src-main/system/kernel/identity-filter.ts'
import { errnoName, libcFunction, SystemCallError } from '../../../src-main/system/kernel/libc.ts'
import { mount, mountsBelow } from '../../../src-main/system/kernel/mount.ts'
import {
  addressFamilies,
  bind,
  close,
  getsockopt,
  internetSocketAddress,
  listen,
  receive,
  receiveFlags,
  socket,
  socketLevels,
  socketOptions,
  socketTypes,
} from '../../../src-main/system/kernel/socket.ts'

function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

describe('system calls', () => {
  test('that fail say which, on what, and why', () => {
    const error = thrownBy(() => mount('none', '/no/such/place', 'tmpfs'))
    expect(error).toBeInstanceOf(SystemCallError)
    // EPERM for an ordinary user: mount asks for the privilege only after it has found the place.
    expect(error).toMatchObject({ syscall: 'mount', code: 'ENOENT', errno: 2 })
    expect(String(error)).toBe(
      'SystemCallError: mount tmpfs on /no/such/place: No such file or directory (ENOENT)',
    )
  })

  test('have names for their errors', () => {
    expect([1, 11, 95, 105, 524].map(errnoName)).toEqual([
      'EPERM',
      'EAGAIN',
      expect.any(String),
      'ENOBUFS',
      'errno 524',
    ])
  })

  test('of the C library are declared when they are called', () => {
    const missing = libcFunction('no_such_function', 'int', [])
    expect(() => missing()).toThrow('no_such_function')
  })

  test('run on the main thread of a test', () => {
    expect(isMainThread).toBe(true)
  })
})

describe('sockets', () => {
  test('listen where they were bound', () => {
    const fd = socket(addressFamilies.inet, socketTypes.stream)
    try {
      bind(fd, internetSocketAddress('127.0.0.1', 0))
      listen(fd)
      expect(getsockopt(fd, socketLevels.socket, socketOptions.receiveBuffer)).toBeGreaterThan(0)
      expect(thrownBy(() => receive(fd, Buffer.alloc(8)))).toMatchObject({
        syscall: 'recv',
        code: 'ENOTCONN',
      })
    } finally {
      close(fd)
    }
    expect(thrownBy(() => close(-1))).toMatchObject({ syscall: 'close', code: 'EBADF' })
  })

  test('that have nothing to read give nothing', () => {
    const fd = socket(addressFamilies.inet, socketTypes.datagram)
    try {
      expect(receive(fd, Buffer.alloc(8), receiveFlags.dontWait)).toBeUndefined()
    } finally {
      close(fd)
    }
  })

  test('have addresses in network order', () => {
    expect(Buffer.from(internetSocketAddress('10.244.1.7', 8080)).toString('hex')).toBe(
      '02001f900af401070000000000000000',
    )
    expect(Buffer.from(internetSocketAddress('fd00::7', 80)).toString('hex')).toBe(
      `0a00005000000000fd00${'00'.repeat(13)}0700000000`,
    )
  })
})

describe('the identity filter', () => {
  /** Runs the filter's instructions on a call, as the kernel's interpreter would. */
  const answer = (filter: Buffer, architecture: number, call: number): number => {
    let value = 0
    for (let at = 0; ; at += 1) {
      const operand = filter.readUInt32LE(at * 8 + 4)
      switch (filter.readUInt16LE(at * 8)) {
        case 0x20:
          value = operand === 4 ? architecture : call
          break
        case 0x15:
          at += filter.readUInt8(at * 8 + (value === operand ? 2 : 3))
          break
        default:
          return operand
      }
    }
  }

  test.each([
    ['x64', 0xc000003e, { setuid: 105, setgid: 106, setgroups: 116, setresuid: 117, setresgid: 119 }],
    ['arm64', 0xc00000b7, { setuid: 146, setgid: 144, setgroups: 159, setresuid: 147, setresgid: 149 }],
  ] as const)('for %s answers these calls with 0 and lets all others through', (name, audit, calls) => {
    const filter = Buffer.from(buildIdentityFilter(name) ?? [])
    const answered = Array.from({ length: 500 }, (_, call) => call).filter(
      (call) => answer(filter, audit, call) === 0x50000,
    )
    expect(answered).toEqual(Object.values(calls).sort((a, b) => a - b))
    // The same numbers mean other calls to a 32-bit program.
    expect(answer(filter, 0x40000003, calls.setuid)).toBe(0x7fff0000)
  })

  test('does not exist for other architectures', () => {
    expect(buildIdentityFilter('riscv64')).toBeUndefined()
  })
})

describe('mountinfo', () => {
  const text = [
    '21 1 254:0 / / rw,relatime - ext4 /dev/vda rw',
    '22 21 0:20 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw',
    '30 21 0:40 / /data\\040of\\040it rw,noatime,nodiratime - tmpfs none rw',
    '31 30 0:41 / /data\\040of\\040it/inner ro,nodev shared:3 - tmpfs none rw',
    '32 21 0:42 / /database rw - tmpfs none rw',
    '33 30 0:43 / /data\\040of\\040it/inner rw,noexec - tmpfs none rw',
    '',
  ].join('\n')

  test('names the mounts below a place with the flags that a remount must keep', () => {
    expect(mountsBelow(text, '/data of it')).toEqual([
      { target: '/data of it', flags: 0x400 | 0x800 },
      { target: '/data of it/inner', flags: 0x8 },
    ])
    expect(mountsBelow(text, '/').map(({ target }) => target)).toHaveLength(5)
    expect(mountsBelow(text, '/proc')).toEqual([{ target: '/proc', flags: 0x2 | 0x4 | 0x8 | 0x200000 }])
    expect(mountsBelow(text, '/nowhere')).toEqual([])
  })
})
