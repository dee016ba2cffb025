import type { Events, Requests } from '../../contract/lab-contract.ts'
import type { LabConnection } from '../../contract/rpc.ts'

/** Output is acknowledged in steps of this size: bytes of a command, characters of a terminal. */
const ACK_STEP = 32 * 1024

export interface CommandEnd {
  readonly code: number
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

interface RunningStream {
  readonly stream: number
  readonly ended: Promise<CommandEnd>
  /** Stops listening. */
  readonly leave: () => void
}

/**
 * Starts something that has a stream, and hears all of it: the stream's number comes with the answer, but its first
 * output may come along with that, or before.
 */
async function followStream(
  lab: LabConnection,
  start: () => Promise<{ stream: number }>,
  onData: (pump: OutputPump, event: Events['streams/data']) => void,
): Promise<RunningStream> {
  const early: (() => void)[] = []
  let known: { readonly stream: number; readonly pump: OutputPump } | undefined
  const whenKnown = (work: () => void): void => {
    if (known) work()
    else early.push(work)
  }
  const stops: (() => void)[] = []
  const ended = new Promise<CommandEnd>((resolve, reject) => {
    stops.push(
      lab.on('streams/data', (event) =>
        whenKnown(() => {
          if (known && event.stream === known.stream) onData(known.pump, event)
        }),
      ),
      lab.on('streams/exit', (event) =>
        whenKnown(() => {
          if (event.stream === known?.stream) resolve({ code: event.code })
        }),
      ),
    )
    lab.onClose(() => reject(new Error('the lab ended while the command ran')))
  })
  ended.catch(() => undefined) // told to whoever awaits it
  const leave = (): void => {
    for (const stop of stops) stop()
  }
  try {
    const { stream } = await start()
    known = { stream, pump: new OutputPump(lab, stream) }
    for (const work of early) work()
    return { stream, ended, leave }
  } catch (error) {
    leave()
    throw error
  }
}

/** Follows a stream that sends text to be printed; it is ended by other means. */
export async function followOutput(
  lab: LabConnection,
  start: () => Promise<{ stream: number }>,
  stdout: Sink,
): Promise<{ readonly ended: Promise<CommandEnd> }> {
  return await followStream(lab, start, (pump, { data: text }) => {
    const data = Buffer.from(text, 'base64')
    pump.pass(stdout, data, data.length)
  })
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
  const running = await followStream(
    lab,
    () => start({ target, argv, stdin: io.stdin !== undefined }),
    (pump, { channel, data: text }) => {
      const data = Buffer.from(text, 'base64')
      pump.pass(channel === 'stderr' ? io.stderr : io.stdout, data, data.length)
    },
  )
  const { stream } = running
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
    return await running.ended
  } finally {
    for (const signal of signals) process.off(signal, forward)
    running.leave()
    stdin?.pause()
  }
}

/** Runs a command to its end and keeps what it printed. */
export async function captureInLab(
  lab: LabConnection,
  target: string,
  argv: readonly string[],
  start?: Parameters<typeof runInLab>[4],
): Promise<{ code: number; stdout: string; stderr: string }> {
  const out: Buffer[] = []
  const errors: Buffer[] = []
  const keep = (pieces: Buffer[]): Sink => ({
    write: (data) => pieces.push(data) > 0,
    once: () => undefined,
  })
  const { code } = await runInLab(lab, target, argv, { stdout: keep(out), stderr: keep(errors) }, start)
  return { code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(errors).toString() }
}

/** An interactive shell in the lab on this terminal. Needs stdin to be a terminal. */
export async function openShell(lab: LabConnection, target: string): Promise<CommandEnd> {
  const { stdin, stdout } = process
  const size = () => ({ cols: stdout.columns || 80, rows: stdout.rows || 24 })
  const running = await followStream(
    lab,
    () => lab.request('terminals/open', { target, size: size() }),
    (pump, { data }) => pump.pass(stdout, Buffer.from(data), data.length),
  )
  const { stream } = running
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
    return await running.ended
  } finally {
    running.leave()
    stdin.setRawMode(false)
    stdin.pause()
    stdout.off('resize', resize)
  }
}
