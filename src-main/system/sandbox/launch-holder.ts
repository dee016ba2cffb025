import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, type Server } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { LabError } from '../../contract/errors.ts'
import { findLab, HOLDER_MARK } from './find-labs.ts'
import { sandboxCommand, sandboxEnvironment } from './sandbox-command.ts'

export interface HolderOptions {
  readonly name: string
  /** The holder's program, an ES module that Node runs. */
  readonly program: string
  /** Read by the holder; JSON-safe. */
  readonly settings: unknown
  /** The lab goes on when this process ends. */
  readonly detached: boolean
}

export interface Holder {
  readonly process: ChildProcess
  /** The contract is spoken over these, as over the socket. */
  readonly input: Writable
  readonly output: Readable
  /** Resolves with what the holder wrote to stderr when its sandbox has ended. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>
}

/** Starts a lab's holder in a sandbox of its own. Fails with `conflict` where a lab of that name is running. */
export async function launchHolder(options: HolderOptions): Promise<Holder> {
  const lock = await takeName(options.name)
  const [file = '', ...args] = sandboxCommand(
    [options.program, HOLDER_MARK, options.name, JSON.stringify(options.settings)],
    { endsWithParent: !options.detached },
  )
  const child = spawn(file, args, {
    // The inherited lock keeps the lab's name taken for as long as anything of the lab lives.
    stdio: ['pipe', 'pipe', 'pipe', lock.fd],
    detached: options.detached,
    env: sandboxEnvironment(),
  })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-64 * 1024)
  })
  const ended = new Promise<Awaited<Holder['ended']>>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'ENOENT'
          ? new LabError('unavailable', `${file} (package util-linux) is not installed`)
          : error,
      )
    })
    child.once('close', (code, signal) => {
      resolve({ code, signal, stderr })
    })
  })
  await lock.release()
  return { process: child, input: child.stdin as Writable, output: child.stdout as Readable, ended }
}

/**
 * Holds the lab's name against a second start: an abstract Unix socket, which the kernel frees with its last
 * holder, so that no lock file can be left over.
 */
async function takeName(name: string): Promise<{ fd: number; release: () => Promise<void> }> {
  const uid = process.getuid?.() ?? 0
  const server: Server = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(`\0chainwalk/${uid}/${name}`, resolve)
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    const pid = findLab(name)?.pid
    throw new LabError(
      'conflict',
      `a lab named "${name}" is already running${pid ? ` (process ${pid})` : ''}; ` +
        `end it with \`chainwalk down --name ${name}\` or take another --name`,
    )
  }
  const handle = (server as unknown as { _handle: { fd: number } })._handle
  return {
    fd: handle.fd,
    release: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
      }),
  }
}
