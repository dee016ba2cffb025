import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'

/** The checkout. */
export const root = join(import.meta.dirname, '../..')

export interface Result {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A command that goes on by itself. */
export interface Running {
  /** Waits until the output holds the text; rejects when the command ends or ten seconds pass without it. */
  says(text: string | RegExp): Promise<void>
  /** What it has printed on standard output so far. */
  output(): string
  /** Asks the command to end (SIGINT, so that tcpdump writes what it has). */
  stop(): Promise<Result>
  readonly ended: Promise<Result>
}

export interface Lab {
  readonly name: string
  /** Of the user who runs it. */
  readonly uid: number
  /** Runs a command in `client`, `node/NAME` or `pod/NAME`. */
  exec(target: string, ...argv: string[]): Promise<Result>
  /** Like exec, for a command that is to run while something else happens. */
  start(target: string, ...argv: string[]): Running
  /** Like run, for a command that goes on until it is stopped. */
  launch(...cliArgs: string[]): Running
  /** Any `chainwalk` command on this lab: `run('get', 'pod', '-o', 'json')`. */
  run(...cliArgs: string[]): Promise<Result>
  /** Applies manifests given as text; rejects when they are refused. */
  apply(yaml: string): Promise<void>
  /** Ends the lab; the second call does nothing. */
  down(): Promise<void>
}

export type LabUser = 'root' | 'learner'

export interface LabOptions {
  /** Manifests, relative to the checkout or absolute. */
  readonly files?: readonly string[]
  readonly workers?: number
  /** `learner` is an ordinary user. The user who runs the tests by default. */
  readonly as?: LabUser
  /** More words for `chainwalk up`. */
  readonly more?: readonly string[]
}

const isRoot = process.getuid?.() === 0
/** Bounds every command, so that a fault of the lab fails a test and does not hang it. */
const COMMAND_MS = 30_000
let serial = 0

/** An ordinary user without any rights; the kernel needs no account for one. */
const LEARNER_ID = 54321

/** The words before a command that make it run as the user. */
function runAs(user: LabUser): string[] {
  if (user === 'root' || !isRoot) return []
  const ids = [`--reuid=${LEARNER_ID}`, `--regid=${LEARNER_ID}`, '--clear-groups']
  return ['setpriv', ...ids, 'env', 'HOME=/nonexistent', 'USER=learner']
}

/** How a user starts `chainwalk`, and what to clean up afterwards. */
export interface Program {
  /** The words before the command's own. */
  readonly words: readonly string[]
  readonly folder: string
  readonly cleanUp: () => void
}

export function programFor(user: LabUser): Program {
  const before = runAs(user)
  const copy = before.length > 0 ? copyForOthers() : undefined
  // The window's tests build into a folder of their own.
  const folder = copy ?? process.env['CHAINWALK_PROGRAM'] ?? root
  return {
    words: [...before, process.execPath, join(folder, 'lab-scripts/chainwalk.mjs')],
    folder,
    cleanUp: () => {
      if (copy) rmSync(copy, { recursive: true, force: true })
    },
  }
}

/**
 * Why no lab can run here as that user; undefined where it can. Tests skip for it, but in CI they run and fail:
 * `describe.skipIf(whyNoLab())('…')`.
 */
export function whyNoLab(user: LabUser = isRoot ? 'root' : 'learner'): string | undefined {
  if (process.env['CI']) return undefined
  if (user === 'root' && !isRoot) return 'needs root'
  const [program = '', ...args] = [
    ...runAs(user),
    ...['unshare', ...(user === 'root' ? [] : ['--user', '--map-root-user'])],
    ...['--net', '--mount', '--pid', '--fork', 'true'],
  ]
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  return status === 0 ? undefined : (error?.message ?? stderr.trim())
}

/** Starts a lab with a name of its own. Whoever starts it calls `down`, best in afterAll. */
export async function startLab(options: LabOptions = {}): Promise<Lab> {
  serial += 1
  const name = `test-${process.pid}-${serial}`
  const user = options.as ?? (isRoot ? 'root' : 'learner')
  const { words, folder: home, cleanUp } = programFor(user)
  const [program = '', ...before] = words

  const cli = (command = '', ...rest: string[]): ChildProcess =>
    spawn(program, [...before, command, '--name', name, ...rest], { cwd: home, stdio: 'pipe' })
  const run = (...cliArgs: string[]): Promise<Result> => {
    const child = cli(...cliArgs)
    child.stdin?.end()
    return follow(child, COMMAND_MS).ended
  }
  const runOrFail = async (what: Promise<Result>): Promise<void> => {
    const { code, stdout, stderr } = await what
    if (code !== 0) throw new Error(`chainwalk ended with ${code}:\n${stdout}${stderr}`)
  }

  const files = (options.files ?? []).flatMap((file) => ['-f', readable(resolve(root, file), home)])
  const workers = options.workers === undefined ? [] : ['--workers', String(options.workers)]
  try {
    await runOrFail(run('up', '--detach', ...workers, ...files, ...(options.more ?? [])))
  } catch (error) {
    cleanUp()
    throw error
  }

  let ending: Promise<void> | undefined
  return {
    name,
    uid: user === 'learner' && isRoot ? LEARNER_ID : (process.getuid?.() ?? 0),
    run,
    exec: (target, ...argv) => run('exec', target, '--', ...argv),
    start: (target, ...argv) => {
      const child = cli('exec', target, '--', ...argv)
      child.stdin?.end()
      return follow(child)
    },
    launch: (...cliArgs) => {
      const child = cli(...cliArgs)
      child.stdin?.end()
      return follow(child)
    },
    apply: (yaml) => {
      const child = cli('apply', '-f', '-')
      child.stdin?.end(yaml)
      return runOrFail(follow(child, COMMAND_MS).ended)
    },
    down: () => {
      ending ??= runOrFail(run('down')).finally(cleanUp)
      return ending
    },
  }
}

/** The built program as another user may read it, laid out like an installed package: it never rebuilds itself. */
function copyForOthers(): string {
  const copy = mkdtempSync(join(tmpdir(), 'chainwalk-test-'))
  chmodSync(copy, 0o755)
  const packages = ['koffi', '@koromix', 'node-pty', '@lydell'].map((name) => `node_modules/${name}`)
  const built = process.env['CHAINWALK_PROGRAM'] ?? root
  for (const part of ['out', 'lab-scripts', 'package.json'])
    cpSync(join(built, part), join(copy, part), { recursive: true, dereference: true })
  for (const part of packages)
    cpSync(join(root, part), join(copy, part), { recursive: true, dereference: true })
  return copy
}

/** The file itself, or where another user has to read it, a copy in that user's folder. */
function readable(file: string, folder: string): string {
  if (folder === root) return file
  const copy = join(folder, basename(file))
  copyFileSync(file, copy)
  return copy
}

function follow(child: ChildProcess, limitMs?: number): Running {
  let stdout = ''
  let stderr = ''
  const listeners = new Set<() => void>()
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    for (const listener of listeners) listener()
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    for (const listener of listeners) listener()
  })
  child.stdin?.on('error', () => undefined) // a command may end without reading its input
  const timer = limitMs === undefined ? undefined : setTimeout(() => child.kill(), limitMs)
  const ended = new Promise<Result>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (code === null)
        reject(new Error(`${child.spawnargs.join(' ')} was ended by ${signal}\n${stdout}${stderr}`))
      else resolve({ code, stdout, stderr })
    })
  })
  ended.catch(() => undefined) // told to whoever awaits it
  return {
    ended,
    output: () => stdout,
    says: (text) =>
      new Promise((resolve, reject) => {
        const fail = (why: string): void => {
          settle()
          reject(new Error(`${why} without saying ${text}:\n${stdout}${stderr}`))
        }
        const patience = setTimeout(() => fail('ten seconds passed'), 10_000)
        const settle = (): void => {
          clearTimeout(patience)
          listeners.delete(look)
        }
        const look = (): void => {
          const output = stdout + stderr
          if (!(typeof text === 'string' ? output.includes(text) : text.test(output))) return
          settle()
          resolve()
        }
        listeners.add(look)
        look()
        ended.then(
          () => fail('it ended'),
          () => fail('it broke'),
        )
      }),
    stop: () => {
      child.kill('SIGINT')
      return ended
    },
  }
}
