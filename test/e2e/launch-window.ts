import { type ChildProcess, spawn } from 'node:child_process'
import type { Page } from 'playwright-core'
import { type Lab, type LabOptions, programFor, startLab, whyNoLab } from '../lab/chainwalk.ts'
import { launchBrowser, watchProblems, whyNoBrowser } from './browser.ts'

export interface WindowOptions extends Pick<LabOptions, 'files' | 'workers' | 'more'> {
  /** A request a second to every Service. */
  readonly demoTraffic?: boolean
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'dark' | 'light'
}

/** A lab of its own with its window in a real browser. */
export interface LabWindow {
  readonly page: Page
  /** Runs commands in the lab, as in test/lab. */
  readonly lab: Lab
  /** Console errors and warnings, page errors, requests to elsewhere, breaches of the content security policy. */
  readonly problems: string[]
  readonly server: WebEntry
  /** Ends browser, server and lab, whatever became of them. */
  close(): Promise<void>
}

/** Why no window of a lab can be opened here: `describe.skipIf(whyNoWindow())('…')`. */
export function whyNoWindow(): string | undefined {
  return whyNoLab() ?? whyNoBrowser()
}

const HTTP_SERVER = 'lab-scripts/manifests/http-server.yaml'
const SHOWN_WITHIN_MS = 15_000

/** Resolves when the window shows the lab's name. The http-server example is applied unless `files` says otherwise. */
export async function launchWindow(options: WindowOptions = {}): Promise<LabWindow> {
  const { files = [HTTP_SERVER], workers, more } = options
  const ends: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end()
  }
  try {
    const lab = await startLab({
      files,
      ...(workers === undefined ? {} : { workers }),
      ...(more ? { more } : {}),
    })
    ends.push(() => lab.down())
    const server = await startServe([
      ...['--name', lab.name],
      ...(options.demoTraffic ? ['--demo-traffic'] : []),
    ])
    ends.push(() => server.stop())
    const browser = await launchBrowser()
    ends.push(() => browser.close())
    const page = await browser.newPage({
      viewport: options.viewport ?? { width: 1440, height: 900 },
      colorScheme: options.colorScheme ?? 'dark',
    })
    page.setDefaultTimeout(SHOWN_WITHIN_MS)
    const problems = watchProblems(page, server.origin)
    await page.goto(server.link)
    await page.getByText(lab.name).first().waitFor()
    return { page, lab, problems, server, close }
  } catch (error) {
    await close()
    throw error
  }
}

export interface WebEntry {
  readonly link: string
  readonly origin: string
  readonly token: string
  readonly process: ChildProcess
  /** What it wrote to stderr until now. */
  said(): string
  /** Resolves with the exit status. */
  readonly ended: Promise<number | null>
  /** Ctrl-C. */
  stop(): Promise<number | null>
}

/** Runs `chainwalk serve` on a free port until it has printed its link. */
export function startServe(args: readonly string[]): Promise<WebEntry> {
  const { words, folder } = programFor(process.getuid?.() === 0 ? 'root' : 'learner')
  return startServer([...words, 'serve', '--no-open', '--port', '0', ...args], { cwd: folder })
}

/** The same for any command that ends up serving. */
export async function startServer(
  [program = '', ...words]: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<WebEntry> {
  const child = spawn(program, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', resolve)
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const link = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const found = /^(http:\/\/\S+)\n/m.exec(stdout)?.[1]
      if (found) resolve(found)
    })
    child.once('error', reject)
    child.once('close', (code) => {
      reject(new Error(`${words.join(' ')} ended with ${code}:\n${stdout}${stderr}`))
    })
  })
  const { origin, searchParams } = new URL(link)
  return {
    link,
    origin,
    token: searchParams.get('token') ?? '',
    process: child,
    said: () => stderr,
    ended,
    stop: () => {
      child.kill('SIGINT')
      return ended
    },
  }
}
