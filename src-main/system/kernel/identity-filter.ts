import { checked, libcFunction, loadKoffi } from './libc.ts'

// struct seccomp_data: nr at 0, arch at 4. Classic BPF: code, jump if true, jump if false, operand.
const BPF_LOAD_WORD = 0x20
const BPF_JUMP_IF_EQUAL = 0x15
const BPF_RETURN = 0x06
const SECCOMP_RET_ALLOW = 0x7fff0000
const SECCOMP_RET_ERRNO_0 = 0x00050000

const PR_SET_SECCOMP = 22
const SECCOMP_MODE_FILTER = 2

/** The numbers of setuid, setgid, setgroups, setresuid and setresgid. */
const architectures: Partial<Record<NodeJS.Architecture, { audit: number; calls: readonly number[] }>> = {
  x64: { audit: 0xc000003e, calls: [105, 106, 116, 117, 119] },
  arm64: { audit: 0xc00000b7, calls: [146, 144, 159, 147, 149] },
}

const prctl = libcFunction('prctl', 'int', ['int', 'ulong', 'ulong', 'ulong', 'ulong'])

/** The filter's instructions (8 bytes each), or undefined for an architecture whose numbers are not known here. */
export function buildIdentityFilter(architecture: NodeJS.Architecture): Uint8Array | undefined {
  const numbers = architectures[architecture]
  if (!numbers) return undefined
  const { audit, calls } = numbers
  const program: readonly (readonly [code: number, ifTrue: number, ifFalse: number, operand: number])[] = [
    [BPF_LOAD_WORD, 0, 0, 4],
    [BPF_JUMP_IF_EQUAL, 0, calls.length + 1, audit],
    [BPF_LOAD_WORD, 0, 0, 0],
    ...calls.map((call, at) => [BPF_JUMP_IF_EQUAL, calls.length - at, 0, call] as const),
    [BPF_RETURN, 0, 0, SECCOMP_RET_ALLOW],
    [BPF_RETURN, 0, 0, SECCOMP_RET_ERRNO_0],
  ]
  const bytes = Buffer.alloc(program.length * 8)
  program.forEach(([code, ifTrue, ifFalse, operand], i) => {
    bytes.writeUInt16LE(code, i * 8)
    bytes.writeUInt8(ifTrue, i * 8 + 2)
    bytes.writeUInt8(ifFalse, i * 8 + 3)
    bytes.writeUInt32LE(operand, i * 8 + 4)
  })
  return bytes
}

/**
 * Answers the calls that change a process's user or groups with 0, without doing them, for this thread and the
 * children that it will have. In a user namespace that knows one user the kernel refuses them, and tools that drop
 * their rights, such as tcpdump, give up; there is nobody else to become there, so they go on as they are. Needs
 * CAP_SYS_ADMIN in the user namespace, which spares set-user-id programs from no_new_privs. It cannot be taken back.
 */
export function ignoreIdentityChanges(): { installed: true } | { installed: false; reason: string } {
  const filter = buildIdentityFilter(process.arch)
  if (!filter) return { installed: false, reason: `no filter for the architecture ${process.arch}` }
  const koffi = loadKoffi()
  // struct sock_fprog: length, padding, pointer; both architectures are 64 bit.
  const program = Buffer.alloc(16)
  program.writeUInt16LE(filter.length / 8, 0)
  program.writeBigUInt64LE(koffi.address(filter), 8)
  checked(
    'prctl',
    () => prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, koffi.address(program), 0, 0),
    'PR_SET_SECCOMP',
  )
  return { installed: true }
}
