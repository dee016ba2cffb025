import { join } from 'node:path'
import { packageRoot } from '../../start-lab.ts'
import { hasDisplay, openBrowser } from '../../web/open-browser.ts'
import { startWebServer, type WebServer } from '../../web/web-server.ts'
import { openWindowLab, type WindowLab, type WindowLabOptions } from '../../window-lab.ts'
import { CommandFailure, EXIT } from '../exit-status.ts'

export interface ServeOptions extends WindowLabOptions {
  readonly port?: string
  readonly open: boolean
}

/** Tried first, so that a browser finds its remembered pane sizes again. */
const USUAL_PORT = 8470

export async function serve(options: ServeOptions): Promise<void> {
  const port = options.port === undefined ? undefined : parsePort(options.port)
  const lab = await openWindowLab(options)
  try {
    const server = await startServer(lab, port)
    try {
      await show(lab, server, options.open)
    } finally {
      await server.close()
    }
  } finally {
    await lab.close()
  }
  console.error(
    lab.isOurs
      ? `lab "${lab.name}" has ended`
      : `the window has ended; the lab goes on: chainwalk down --name ${lab.name}`,
  )
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new CommandFailure(EXIT.usage, `--port ${text}: must be a number up to 65535 (0: a free one)`)
  return port
}

async function startServer(lab: WindowLab, port: number | undefined): Promise<WebServer> {
  const folder = join(packageRoot(), 'out/renderer')
  const openLab = (): ReturnType<WindowLab['openChannel']> => lab.openChannel()
  try {
    return await startWebServer({ folder, port: port ?? USUAL_PORT, openLab })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (port === undefined && code === 'EADDRINUSE') return startWebServer({ folder, port: 0, openLab })
    if (code === 'EADDRINUSE')
      throw new CommandFailure(
        EXIT.failed,
        `port ${port} is in use; choose another --port, or none for a free one`,
      )
    if (code === 'EACCES')
      throw new CommandFailure(EXIT.failed, `port ${port} is reserved for root; choose one from 1024 on`)
    throw error
  }
}

/** Goes on until somebody ends it, or the lab goes. */
async function show(lab: WindowLab, server: WebServer, mayOpen: boolean): Promise<void> {
  const asked = new Promise<undefined>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => {
        resolve(undefined)
      })
  })
  process.stdout.write(`${server.link}\n`)
  console.error(
    `lab "${lab.name}" is ${lab.isOurs ? 'running' : 'joined'}: open the link in a browser; end with Ctrl-C`,
  )
  if (mayOpen && hasDisplay()) openBrowser(server.createOneTimeLink())
  const lastWords = await Promise.race([asked, lab.ended])
  if (lastWords) throw new CommandFailure(EXIT.failed, `the lab ended by itself:\n${lastWords}`)
}
