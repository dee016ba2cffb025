import type { Requests } from '../../contract/lab-contract.ts'
import type { LabConnection } from '../../contract/rpc.ts'

/** Output is acknowledged in steps of this size: bytes of a command, characters of a terminal. */
const ACK_STEP = 32 * 1024

export interface CommandEnd {
  readonly code: number
}

function deferredEnd() {
  let resolve: (end: CommandEnd) => void = () => undefined
  let reject: (error: Error) => void = () => undefined
  const promise = new Promise<CommandEnd>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

interface Sink {
  write(data: Buffer): boolean
  once(event: 'drain', listener: () => void): unknown
}

/** Passes a stream's output on, acknowledging only what the sink has taken. */
class OutputPump {
  #pending = 0
  readonly #lab: LabConnection
  readonly #stream: number

  constructor(lab: LabConnection, stream: number) {
    this.#lab = lab
    this.#stream = stream
  }

  pass(sink: Sink, data: Buffer, amount: number): void {
    if (sink.write(data)) this.#took(amount)
    else sink.once('drain', () => this.#took(amount))
  }

  #took(amount: number): void {
    this.#pending += amount
    if (this.#pending < ACK_STEP) return
    void this.#lab
      .request('streams/ack', { stream: this.#stream, amount: this.#pending })
      .catch(() => undefined)
    this.#pending = 0
  }
}

/** Runs a command in the lab with this process's stdin (where it is not a terminal), stdout and stderr. */
export async function runInLab(
  lab: LabConnection,
  target: string,
  argv: readonly string[],
  io: { stdin?: NodeJS.ReadStream; stdout: Sink; stderr: Sink },
  start: (params: Requests['exec/start']['params']) => Promise<{ stream: number }> = (params) =>
    lab.request('exec/start', params),
): Promise<CommandEnd> {
  const ended = deferredEnd()
  const early: (() => void)[] = []
  let pump: OutputPump | undefined
  let stream = -1
  // The stream's number comes with the answer; what comes before it waits.
  const whenStarted = (work: () => void): void => {
    if (pump) work()
    else early.push(work)
  }
  const stopListening = [
    lab.on('streams/data', (event) => {
      whenStarted(() => {
        if (event.stream !== stream) return
        const data = Buffer.from(event.data, 'base64')
        pump?.pass(event.channel === 'stderr' ? io.stderr : io.stdout, data, data.length)
      })
    }),
    lab.on('streams/exit', (event) => {
      whenStarted(() => {
        if (event.stream === stream) ended.resolve({ code: event.code })
      })
    }),
  ]
  lab.onClose(() => {
    ended.reject(new Error('the lab ended while the command ran'))
  })
  const started = await start({ target, argv, stdin: io.stdin !== undefined })
  stream = started.stream
  pump = new OutputPump(lab, stream)
  for (const work of early) work()
  const { stdin } = io
  if (stdin) {
    stdin.on('data', (data: Buffer) => {
      stdin.pause()
      lab
        .request('streams/write', { stream, data: data.toString('base64') })
        .then(() => stdin.resume())
        .catch(() => undefined) // the command ended; its exit status is on the way
    })
    stdin.on('end', () => void lab.request('streams/end', { stream }).catch(() => undefined))
  }
  const forward = (signal: NodeJS.Signals): void => {
    void lab.request('streams/kill', { stream, signal }).catch(() => undefined)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const
  for (const signal of signals) process.on(signal, forward)
  try {
    return await ended.promise
  } finally {
    for (const signal of signals) process.off(signal, forward)
    for (const stop of stopListening) stop()
    stdin?.pause()
  }
}

/** Runs a command to its end and keeps what it printed. */
export async function captureInLab(
  lab: LabConnection,
  target: string,
  argv: readonly string[],
): Promise<{ code: number; stdout: string; stderr: string }> {
  const out: Buffer[] = []
  const errors: Buffer[] = []
  const keep = (pieces: Buffer[]): Sink => ({
    write: (data) => pieces.push(data) > 0,
    once: () => undefined,
  })
  const { code } = await runInLab(lab, target, argv, { stdout: keep(out), stderr: keep(errors) })
  return { code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(errors).toString() }
}

/** An interactive shell in the lab on this terminal. Needs stdin to be a terminal. */
export async function openShell(lab: LabConnection, target: string): Promise<CommandEnd> {
  const { stdin, stdout } = process
  const size = () => ({ cols: stdout.columns || 80, rows: stdout.rows || 24 })
  const ended = deferredEnd()
  const { stream } = await lab.request('terminals/open', { target, size: size() })
  const pump = new OutputPump(lab, stream)
  lab.on('streams/data', (event) => {
    if (event.stream === stream) pump.pass(stdout, Buffer.from(event.data), event.data.length)
  })
  lab.on('streams/exit', (event) => {
    if (event.stream === stream) ended.resolve({ code: event.code })
  })
  lab.onClose(() => {
    ended.reject(new Error('the lab ended'))
  })
  const resize = (): void =>
    void lab.request('streams/resize', { stream, size: size() }).catch(() => undefined)
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  stdin.on(
    'data',
    (data: string) => void lab.request('streams/write', { stream, data }).catch(() => undefined),
  )
  stdout.on('resize', resize)
  try {
    return await ended.promise
  } finally {
    stdin.setRawMode(false)
    stdin.pause()
    stdout.off('resize', resize)
  }
}
