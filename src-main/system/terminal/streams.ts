import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { IPty } from 'node-pty'
import { LabError } from '../../contract/errors.ts'
import type { Events, TerminalInfo, TerminalSize } from '../../contract/lab-contract.ts'
import type { Client } from '../../contract/rpc.ts'
import type { Where } from '../command/run-command.ts'
import { openTerminalScreen, type TerminalScreen } from './terminal-screen.ts'

/** Output that the client has not dealt with yet; above the mark the source is paused, below half it goes on. */
const HIGH_WATER = 256 * 1024

interface Stream {
  /** Whoever is shown the output. */
  readonly clients: Set<Client>
  /** Only of terminals that outlive their clients. */
  readonly kept?: KeptTerminal
  write(data: string): void
  end(): void
  resize(size: TerminalSize): void
  kill(signal: string): void
  pause(): void
  resume(): void
  /** By client; the slowest one holds the source back. */
  readonly unacked: Map<Client, number>
}

export interface SpawnOptions {
  readonly argv: readonly string[]
  readonly where: Where
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** What the command says beside its output is of no interest. */
  readonly hidesErrors?: true
}

interface KeptTerminal {
  readonly target: string
  readonly hostname: string
  readonly screen: TerminalScreen
}

/** The running commands and terminals of a lab; they end with the client that started them, unless they are kept. */
export class Streams {
  readonly #terminalsChanged: () => void
  #streams = new Map<number, Stream>()
  #last = 0

  constructor(terminalsChanged: () => void) {
    this.#terminalsChanged = terminalsChanged
  }

  /** A command with pipes; data is base64. */
  startCommand(client: Client, options: SpawnOptions, stdin: boolean): number {
    const [file = '', ...args] = options.argv
    const child: ChildProcess = options.where(() =>
      spawn(file, args, {
        stdio: [stdin ? 'pipe' : 'ignore', 'pipe', options.hidesErrors ? 'ignore' : 'pipe'],
        cwd: options.cwd,
        env: { ...options.env },
        detached: true, // a group of its own, so that a signal reaches what it started, too
      }),
    )
    const outputs = [child.stdout, child.stderr]
    const id = this.#add({
      clients: new Set([client]),
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
      unacked: new Map(),
    })
    for (const [channel, output] of [
      ['stdout', child.stdout],
      ['stderr', child.stderr],
    ] as const)
      output?.on('data', (data: Buffer) => {
        this.#send(id, { channel, data: data.toString('base64') }, data.length)
      })
    child.stdin?.on('error', () => undefined) // the command ended without reading all of it
    child.once('error', (error: NodeJS.ErrnoException) => {
      const said = error.code === 'ENOENT' ? `${file}: command not found` : `${file}: ${error.message}`
      this.#send(id, { channel: 'stderr', data: Buffer.from(`${said}\n`).toString('base64') }, 0)
      this.#ended(id, error.code === 'ENOENT' ? 127 : 126, null)
    })
    child.once('close', (code, signal) => {
      this.#ended(id, code ?? 128 + signalNumber(signal), signal)
    })
    return id
  }

  /** A pseudo-terminal; data is text. */
  async openTerminal(
    client: Client,
    options: SpawnOptions,
    size: TerminalSize,
    keep?: { readonly target: string; readonly hostname: string },
  ): Promise<number> {
    const [file = '', ...args] = options.argv
    const { spawn: spawnPty } = await import('node-pty')
    const kept = keep && { ...keep, screen: await openTerminalScreen(size) }
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
      clients: new Set([client]),
      ...(kept ? { kept } : {}),
      write: (data) => {
        pty.write(data)
      },
      end: () => {
        pty.write('\u0004')
      },
      resize: (wanted) => {
        pty.resize(wanted.cols, wanted.rows)
        kept?.screen.resize(wanted)
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
      unacked: new Map(),
    })
    pty.onData((data) => {
      kept?.screen.write(data)
      this.#send(id, { channel: 'terminal', data }, data.length)
    })
    pty.onExit(({ exitCode, signal }) => {
      this.#ended(id, signal ? 128 + signal : exitCode, null)
    })
    if (kept) this.#terminalsChanged()
    return id
  }

  /** The kept terminals, oldest first. */
  terminals(): TerminalInfo[] {
    return [...this.#streams].flatMap(([stream, { kept }]) =>
      kept ? [{ stream, target: kept.target, hostname: kept.hostname }] : [],
    )
  }

  /** Shows a kept terminal to one more client; returns what draws its screen. */
  async attach(client: Client, id: number, size: TerminalSize): Promise<string> {
    const stream = this.#find(id)
    if (!stream.kept) throw new LabError('not-found', `stream ${id} is no terminal that is kept`)
    stream.resize(size)
    const screen = await stream.kept.screen.draw()
    stream.clients.add(client)
    this.#releaseWhenGone(id, stream, client)
    return screen
  }

  has(id: number): boolean {
    return this.#streams.has(id)
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

  ack(client: Client, id: number, amount: number): void {
    const stream = this.#streams.get(id)
    if (!stream) return
    stream.unacked.set(client, Math.max(0, (stream.unacked.get(client) ?? 0) - amount))
    if (mostUnacked(stream) <= HIGH_WATER / 2) stream.resume()
  }

  #add(stream: Stream): number {
    this.#last += 1
    const id = this.#last
    this.#streams.set(id, stream)
    for (const client of stream.clients) this.#releaseWhenGone(id, stream, client)
    return id
  }

  #releaseWhenGone(id: number, stream: Stream, client: Client): void {
    client.onGone(() => {
      stream.clients.delete(client)
      stream.unacked.delete(client)
      if (mostUnacked(stream) <= HIGH_WATER / 2) stream.resume()
      if (stream.clients.size > 0 || stream.kept || !this.#streams.delete(id)) return
      stream.kill('SIGHUP')
    })
  }

  #find(id: number): Stream {
    const stream = this.#streams.get(id)
    if (!stream) throw new LabError('not-found', `stream ${id} has ended`)
    return stream
  }

  #send(id: number, piece: Omit<Events['streams/data'], 'stream'>, amount: number): void {
    const stream = this.#streams.get(id)
    if (!stream) return
    for (const client of stream.clients) {
      stream.unacked.set(client, (stream.unacked.get(client) ?? 0) + amount)
      client.emit('streams/data', { stream: id, ...piece })
    }
    if (mostUnacked(stream) > HIGH_WATER) stream.pause()
  }

  #ended(id: number, code: number, signal: string | null): void {
    const stream = this.#streams.get(id)
    if (!stream || !this.#streams.delete(id)) return
    for (const client of stream.clients) client.emit('streams/exit', { stream: id, code, signal })
    if (!stream.kept) return
    stream.kept.screen.close()
    this.#terminalsChanged()
  }
}

const mostUnacked = ({ unacked }: Stream): number => Math.max(0, ...unacked.values())

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
