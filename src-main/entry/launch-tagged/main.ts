import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { checked, lastErrno, libcFunction, loadKoffi } from '../../system/kernel/libc.ts'
import { installSocketFilter } from '../../system/trace-monitor/seccomp-notify.ts'

// node launch-tagged.cjs FILE COMMAND…: has its sockets made by the lab, then becomes the command. Through FILE it tells
// the lab `PID LISTENER`, or `-` where it cannot, and waits until the lab has taken the file away.
const [file = '', ...argv] = process.argv.slice(2)
const SIGPIPE = 13
const ENOENT = 2
const F_SETFD = 2

function install(): string {
  try {
    const listener = installSocketFilter()
    return listener === undefined ? '-' : `${process.pid} ${listener}`
  } catch {
    return '-'
  }
}

writeFileSync(`${file}.new`, install())
renameSync(`${file}.new`, file)
const pause = new Int32Array(new SharedArrayBuffer(4))
while (existsSync(file)) Atomics.wait(pause, 0, 0, 1)

const koffi = loadKoffi()
const words = argv.map((word) => Buffer.from(`${word}\0`))
const pointers = Buffer.alloc(8 * (words.length + 1))
words.forEach((word, at) => {
  pointers.writeBigUInt64LE(koffi.address(word), at * 8)
})
// Node closes these on exec.
for (const fd of [0, 1, 2]) libcFunction('fcntl', 'int', ['int', 'int', 'int'])(fd, F_SETFD, 0)
// Node ignores it, and a command would inherit that.
libcFunction('signal', 'ulong', ['int', 'ulong'])(SIGPIPE, 0)
libcFunction('unsetenv', 'int', ['str'])('ELECTRON_RUN_AS_NODE')
try {
  checked('execvp', () => libcFunction('execvp', 'int', ['str', 'void *'])(argv[0], pointers))
} catch (error) {
  const isMissing = lastErrno() === ENOENT
  process.stderr.write(isMissing ? `${argv[0]}: command not found\n` : `${String(error)}\n`)
  process.exitCode = isMissing ? 127 : 126
}
