import { checked, libcFunction, loadKoffi } from './libc.ts'

// struct seccomp_data: nr at 0, arch at 4. Classic BPF: code, jump if true, jump if false, operand.
const BPF_LOAD_WORD = 0x20
const BPF_JUMP_IF_EQUAL = 0x15
const BPF_RETURN = 0x06
const SECCOMP_RET_ALLOW = 0x7fff0000
const SECCOMP_RET_ERRNO_0 = 0x00050000

const PR_SET_SECCOMP = 22
const SECCOMP_MODE_FILTER = 2

const architectures: Partial<Record<NodeJS.Architecture, { audit: number; setgroups: number }>> = {
  x64: { audit: 0xc000003e, setgroups: 116 },
  arm64: { audit: 0xc00000b7, setgroups: 159 },
}

const prctl = libcFunction('prctl', 'int', ['int', 'ulong', 'ulong', 'ulong', 'ulong'])

/** The filter's instructions (8 bytes each), or undefined for an architecture whose numbers are not known here. */
export function buildSetgroupsFilter(architecture: NodeJS.Architecture): Uint8Array | undefined {
  const numbers = architectures[architecture]
  if (!numbers) return undefined
  const program: readonly (readonly [code: number, ifTrue: number, ifFalse: number, operand: number])[] = [
    [BPF_LOAD_WORD, 0, 0, 4],
    [BPF_JUMP_IF_EQUAL, 0, 3, numbers.audit],
    [BPF_LOAD_WORD, 0, 0, 0],
    [BPF_JUMP_IF_EQUAL, 0, 1, numbers.setgroups],
    [BPF_RETURN, 0, 0, SECCOMP_RET_ERRNO_0],
    [BPF_RETURN, 0, 0, SECCOMP_RET_ALLOW],
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
 * Answers setgroups with 0, without doing it, for this thread and the children that it will have: tools such
 * as tcpdump give up in a user namespace, where the kernel refuses that call. Needs CAP_SYS_ADMIN in the user
 * namespace, which spares set-user-id programs from no_new_privs. It cannot be taken back.
 */
export function allowSetgroupsNoop(): { installed: true } | { installed: false; reason: string } {
  const filter = buildSetgroupsFilter(process.arch)
  if (!filter) return { installed: false, reason: `no setgroups filter for the architecture ${process.arch}` }
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
