import { accessSync, constants } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell'

/** Why no window can be shown here; in CI the tests run all the same, and fail. */
export function whyNoBrowser(): string | undefined {
  if (process.env['CI']) return undefined
  try {
    accessSync(executablePath, constants.X_OK)
    return undefined
  } catch {
    return `${executablePath} is missing: apt install chromium-headless-shell, or set CHROMIUM`
  }
}

/** Quiet: it asks nothing of the network for itself. */
const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export function launchBrowser(): Promise<Browser> {
  // As root Chromium has no sandbox of its own to offer.
  return chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0, args: FLAGS })
}

/** Everything that must not happen in a page, as it happens. `origin` is the only place that it may ask. */
export function watchProblems(page: Page, origin: string): string[] {
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      problems.push(`console ${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => problems.push(`page error: ${error.stack ?? error.message}`))
  page.on('crash', () => problems.push('the page crashed'))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) problems.push(`asked outside: ${url}`)
  })
  return problems
}
