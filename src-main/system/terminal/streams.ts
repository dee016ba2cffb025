import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { type IPty, spawn as spawnPty } from 'node-pty'
import { LabError } from '../../contract/errors.ts'
import type { TerminalSize } from '../../contract/lab-contract.ts'
import type { Client } from '../../contract/rpc.ts'
import type { Where } from '../command/run-command.ts'

/** Output that the client has not dealt with yet; above the mark the source is paused, below half it goes on. */
const HIGH_WATER = 256 * 1024

interface Stream {
  readonly client: Client
  write(data: string): void
  end(): void
  resize(size: TerminalSize): void
  kill(signal: string): void
  pause(): void
  resume(): void
  unacked: number
}

export interface SpawnOptions {
  readonly argv: readonly string[]
  readonly where: Where
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** The running commands and terminals of a lab, each belonging to the client that started it. */
export class Streams {
  #streams = new Map<number, Stream>()
  #last = 0

  /** A command with pipes; data is base64. */
  startCommand(client: Client, options: SpawnOptions, stdin: boolean): number {
    const [file = '', ...args] = options.argv
    const child: ChildProcess = options.where(() =>
      spawn(file, args, {
        stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
        cwd: options.cwd,
        env: { ...options.env },
        detached: true, // a group of its own, so that a signal reaches what it started, too
      }),
    )
    const outputs = [child.stdout, child.stderr]
    const id = this.#add({
      client,
      write: (data) => child.stdin?.write(Buffer.from(data, 'base64')),
      end: () => child.stdin?.end(),
      resize: () => undefined,
      kill: (signal) => {
        signalGroup(child.pid, signal)
      },
      pause: () => {
        for (const output of outputs) output?.pause()
      },
      resume: () => {
        for (const output of outputs) output?.resume()
      },
      unacked: 0,
    })
    for (const [channel, output] of [
      ['stdout', child.stdout],
      ['stderr', child.stderr],
    ] as const)
      output?.on('data', (data: Buffer) => {
        this.#sent(id, data.length)
        client.emit('streams/data', { stream: id, channel, data: data.toString('base64') })
      })
    child.stdin?.on('error', () => undefined) // the command ended without reading all of it
    child.once('error', (error: NodeJS.ErrnoException) => {
      const said = error.code === 'ENOENT' ? `${file}: command not found` : `${file}: ${error.message}`
      client.emit('streams/data', {
        stream: id,
        channel: 'stderr',
        data: Buffer.from(`${said}\n`).toString('base64'),
      })
      this.#ended(id, error.code === 'ENOENT' ? 127 : 126, null)
    })
    child.once('close', (code, signal) => {
      this.#ended(id, code ?? 128 + signalNumber(signal), signal)
    })
    return id
  }

  /** A pseudo-terminal; data is text. */
  openTerminal(client: Client, options: SpawnOptions, size: TerminalSize): number {
    const [file = '', ...args] = options.argv
    const pty: IPty = options.where(() =>
      spawnPty(file, args, {
        name: 'xterm-256color',
        cols: size.cols,
        rows: size.rows,
        cwd: options.cwd,
        env: { ...options.env },
      }),
    )
    const id = this.#add({
      client,
      write: (data) => {
        pty.write(data)
      },
      end: () => {
        pty.write('\u0004')
      },
      resize: ({ cols, rows }) => {
        pty.resize(cols, rows)
      },
      kill: (signal) => {
        signalGroup(pty.pid, signal)
      },
      pause: () => {
        pty.pause()
      },
      resume: () => {
        pty.resume()
      },
      unacked: 0,
    })
    pty.onData((data) => {
      this.#sent(id, data.length)
      client.emit('streams/data', { stream: id, channel: 'terminal', data })
    })
    pty.onExit(({ exitCode, signal }) => {
      this.#ended(id, signal ? 128 + signal : exitCode, null)
    })
    return id
  }

  write(id: number, data: string): void {
    this.#find(id).write(data)
  }

  end(id: number): void {
    this.#find(id).end()
  }

  resize(id: number, size: TerminalSize): void {
    this.#find(id).resize(size)
  }

  kill(id: number, signal: string): void {
    this.#streams.get(id)?.kill(signal) // one that has just ended needs no killing
  }

  ack(id: number, amount: number): void {
    const stream = this.#streams.get(id)
    if (!stream) return
    const before = stream.unacked
    stream.unacked = Math.max(0, before - amount)
    if (before > HIGH_WATER / 2 && stream.unacked <= HIGH_WATER / 2) stream.resume()
  }

  #add(stream: Stream): number {
    this.#last += 1
    const id = this.#last
    this.#streams.set(id, stream)
    stream.client.onGone(() => {
      if (this.#streams.delete(id)) {
        stream.resume() // let it see the signal's effect
        stream.kill('SIGHUP')
      }
    })
    return id
  }

  #find(id: number): Stream {
    const stream = this.#streams.get(id)
    if (!stream) throw new LabError('not-found', `stream ${id} has ended`)
    return stream
  }

  #sent(id: number, amount: number): void {
    const stream = this.#streams.get(id)
    if (!stream) return
    stream.unacked += amount
    if (stream.unacked > HIGH_WATER) stream.pause()
  }

  #ended(id: number, code: number, signal: string | null): void {
    const stream = this.#streams.get(id)
    if (this.#streams.delete(id)) stream?.client.emit('streams/exit', { stream: id, code, signal })
  }
}

function signalGroup(pid: number | undefined, signal: string): void {
  if (!pid) return
  try {
    process.kill(-pid, signal as NodeJS.Signals)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const signalNumber = (signal: NodeJS.Signals | null): number =>
  signal ? (constants.signals[signal] ?? 0) : 0
