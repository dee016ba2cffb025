import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { programFor, root } from '../lab/chainwalk.ts'
import { watchProblems } from './browser.ts'

/** What the stand-in for Electron tells of what the program asked of it. */
export interface ShellMessage {
  readonly window?: {
    readonly width: number
    readonly height: number
    readonly x?: number
    readonly y?: number
    readonly webPreferences: Readonly<Record<string, unknown>>
  }
  readonly isSandboxed?: boolean
  readonly schemes?: readonly (readonly [
    string,
    { readonly privileges: Readonly<Record<string, boolean>> },
  ])[]
  readonly devTools?: string
  readonly error?: { readonly title: string; readonly text: string }
  readonly box?: { readonly message: string; readonly detail: string }
  readonly opened?: string
  readonly saveAs?: string
  readonly menu?: readonly MenuItem[]
}

export interface MenuItem {
  readonly label?: string
  readonly role?: string
  readonly accelerator?: string
  readonly registerAccelerator?: boolean
  readonly submenu?: readonly MenuItem[]
}

export interface Shell {
  readonly messages: readonly ShellMessage[]
  /** Waits for a message; rejects when the program ends without it. */
  told(is: (message: ShellMessage) => unknown): Promise<ShellMessage>
  pick(...path: string[]): void
  /** What the next file dialogs answer. */
  answerDialogs(answers: { readonly open?: readonly string[]; readonly save?: string }): void
  closeWindows(): void
  readonly ended: Promise<number | null>
  readonly process: ChildProcess
  said(): string
}

export interface ShellWindow extends Shell {
  readonly page: Page
  readonly problems: string[]
  close(): Promise<void>
}

const SHOWN_WITHIN_MS = 15_000

/** The origin that the stand-in shows for app://chainwalk/. */
export const SHOWN_ORIGIN = 'https://chainwalk.invalid'

/** The built desktop entry under Node, with the stand-in for Electron. */
export function startShell(args: readonly string[], userData: string): Shell {
  const folder = process.env['CHAINWALK_PROGRAM'] ?? root
  const shim = join(import.meta.dirname, '../electron-shim/register.mjs')
  const child = spawn(process.execPath, ['--import', shim, join(folder, 'out/main/electron.cjs'), ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, CHAINWALK_USER_DATA: userData },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  const messages: ShellMessage[] = []
  const waiting = new Set<() => void>()
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', resolve)
  })
  child.on('message', (message) => {
    messages.push(message as ShellMessage)
    for (const look of waiting) look()
  })
  return {
    messages,
    ended,
    process: child,
    said: () => said,
    told: (is) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = messages.find(is)
          if (!found) return
          waiting.delete(look)
          resolve(found)
        }
        waiting.add(look)
        look()
        void ended.then((code) => {
          reject(new Error(`the shell ended with ${code}:\n${said}`))
        })
      }),
    pick: (...path) => child.send({ menu: path }),
    answerDialogs: (dialogs) => child.send({ dialogs }),
    closeWindows: () => child.send({ close: true }),
  }
}

/** Resolves when the first window shows the lab's name. */
export async function launchShell(
  name: string,
  args: readonly string[],
  userData: string,
): Promise<ShellWindow> {
  const shell = startShell(['--name', name, ...args], userData)
  let browser: Browser | undefined
  const close = async (): Promise<void> => {
    await browser?.close()
    shell.process.kill('SIGTERM')
    await shell.ended
  }
  try {
    const { devTools = '' } = await shell.told((message) => message.devTools)
    browser = await chromium.connectOverCDP(devTools)
    const [context] = browser.contexts()
    if (!context) throw new Error('the browser has no window')
    const page = await firstWindow(context, shell)
    const problems = watchProblems(page, SHOWN_ORIGIN)
    page.setDefaultTimeout(SHOWN_WITHIN_MS)
    await page.getByText(name).first().waitFor()
    return { ...shell, page, problems, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Its page is there before its address is. */
async function firstWindow(context: BrowserContext, { ended, said }: Shell): Promise<Page> {
  let code: number | null | undefined
  void ended.then((status) => {
    code = status
  })
  for (const late = Date.now() + SHOWN_WITHIN_MS; Date.now() < late && code === undefined; await sleep(50)) {
    const page = context.pages().find((each) => each.url().startsWith(SHOWN_ORIGIN))
    if (page) return page
  }
  throw new Error(
    `no window came (${code === undefined ? 'still running' : `ended with ${code}`}):\n${said()}`,
  )
}

/** A folder for what the desktop remembers. */
export function createUserData(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'chainwalk-shell-'))
  return {
    folder,
    remove: () => {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Any `chainwalk` command, from the same build. */
export function runCli(...args: string[]): { code: number | null; stdout: string; stderr: string } {
  const { words, folder } = programFor(process.getuid?.() === 0 ? 'root' : 'learner')
  const [program = '', ...before] = words
  const { status, stdout, stderr } = spawnSync(program, [...before, ...args], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 20_000,
  })
  return { code: status, stdout, stderr }
}
