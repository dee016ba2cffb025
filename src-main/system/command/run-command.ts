import { type ChildProcess, spawn } from 'node:child_process'
import { LabError } from '../../contract/errors.ts'

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs `work` where the child is to be born, e.g. inside a node's namespaces; the fork happens within. */
export type Where = <T>(work: () => T) => T

const here: Where = (work) => work()

export interface CommandOptions {
  /** A promise lets the command start up meanwhile; where it rejects, the command is killed and rejects, too. */
  readonly input?: string | Promise<string>
  readonly where?: Where
  /** The command is killed and fails after this time; no limit by default. */
  readonly timeoutMs?: number
}

/** Runs a command to its end with LC_ALL=C. Only a command that cannot be started or runs out of time rejects. */
export function runCommand(argv: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const [file = '', ...args] = argv
  return new Promise((resolve, reject) => {
    const child: ChildProcess = (options.where ?? here)(() =>
      spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, LC_ALL: 'C' } }),
    )
    let late = false
    const timer = options.timeoutMs
      ? setTimeout(() => {
          late = true
          child.kill('SIGKILL')
        }, options.timeoutMs)
      : undefined
    const out = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
    child.stdout?.on('data', (data: Buffer) => out.stdout.push(data))
    child.stderr?.on('data', (data: Buffer) => out.stderr.push(data))
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      reject(
        error.code === 'ENOENT'
          ? new LabError('unavailable', `${file} is not installed (run \`chainwalk doctor\`)`)
          : new LabError('command-failed', `${argv.join(' ')}: ${error.message}`),
      )
    })
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      if (late)
        reject(new LabError('command-failed', `${argv.join(' ')}: no end after ${options.timeoutMs} ms`))
      else
        resolve({
          code: code ?? (signal ? 128 : 1),
          stdout: Buffer.concat(out.stdout).toString(),
          stderr: Buffer.concat(out.stderr).toString(),
        })
    })
    child.stdin?.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') reject(error) // a command may end without reading its input
    })
    Promise.resolve(options.input).then(
      (input = '') => child.stdin?.end(input),
      (error: unknown) => {
        child.kill('SIGKILL')
        reject(error)
      },
    )
  })
}

/** As runCommand, but a failure of the command rejects with its argv, exit status and stderr. */
export async function runOrFail(argv: readonly string[], options: CommandOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await runCommand(argv, options)
  if (code !== 0)
    throw new LabError(
      'command-failed',
      `${argv.join(' ')} ended with ${code}: ${stderr.trim() || stdout.trim()}`,
    )
  return stdout
}
