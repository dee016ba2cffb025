import { join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  app,
  BrowserWindow,
  dialog,
  ipcMain,
  Menu,
  MessageChannelMain,
  protocol,
  screen,
  session,
  type WebContents,
} from 'electron'
import { messagePortChannel } from '../../system/channel/message-port-channel.ts'
import { type PausableChannel, pipeChannels } from '../../system/channel/pipe-channels.ts'
import { exitStatusOf } from '../cli/exit-status.ts'
import { describeError } from '../describe-error.ts'
import { packageRoot } from '../start-lab.ts'
import { readSite } from '../web/site.ts'
import { openWindowLab, type WindowLab } from '../window-lab.ts'
import { buildMenu } from './menu.ts'
import { menuActions } from './menu-actions.ts'
import { MIN_SIZE, readBounds, writeBounds } from './window-bounds.ts'

const HOME = 'app://chainwalk/'
const VIEWS = ['Path', 'Topology', 'Rules', 'Trace', 'Manifests']
/** Copying a rule, and full screen for the projector. */
const PERMISSIONS = new Set(['clipboard-sanitized-write', 'fullscreen'])

/** The page's end of each window's channel; a page that asks again has been loaded anew. */
const pages = new Map<WebContents, PausableChannel>()
const boundsFile = (): string => join(app.getPath('userData'), 'window.json')

async function joinPage(contents: WebContents, lab: Promise<WindowLab>): Promise<void> {
  pages.get(contents)?.close()
  const { port1, port2 } = new MessageChannelMain()
  const page = messagePortChannel(port1)
  pages.set(contents, page)
  contents.postMessage('chainwalk-port', null, [port2])
  try {
    pipeChannels(page, await (await lab).openChannel())
  } catch {
    page.close() // the page says that the lab is gone, and tries again
  }
}

function openWindow(): void {
  const remembered = readBounds(
    boundsFile(),
    screen.getAllDisplays().map((display) => display.workArea),
  )
  const window = new BrowserWindow({
    width: 1440,
    height: 900,
    ...remembered,
    minWidth: MIN_SIZE.width,
    minHeight: MIN_SIZE.height,
    show: false,
    backgroundColor: '#0f1419',
    webPreferences: {
      preload: join(import.meta.dirname, '../preload/preload.cjs'),
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      spellcheck: false,
    },
  })
  const contents = window.webContents
  const leave = (): void => {
    pages.get(contents)?.close()
    pages.delete(contents)
  }
  window.once('ready-to-show', () => {
    window.show()
  })
  window.on('close', () => {
    writeBounds(boundsFile(), window.getNormalBounds())
  })
  contents.setWindowOpenHandler(() => ({ action: 'deny' }))
  contents.on('will-frame-navigate', (event) => {
    if (event.url !== HOME) event.preventDefault()
  })
  contents.on('will-attach-webview', (event) => {
    event.preventDefault()
  })
  contents.on('render-process-gone', leave)
  contents.once('destroyed', leave)
  window.loadURL(HOME).catch((error: unknown) => {
    if (!window.isDestroyed()) dialog.showErrorBox('Chainwalk', describeError(error)) // else closed while it loaded
  })
}

function start(): void {
  // What Chromium would say in the middle of its own log.
  if (process.getuid?.() === 0 && !app.commandLine.hasSwitch('no-sandbox')) {
    console.error('chainwalk: the desktop window does not run as root; take `chainwalk serve`')
    app.exit(1)
    return
  }
  app.enableSandbox()
  protocol.registerSchemesAsPrivileged([
    { scheme: 'app', privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ])
  if (!app.requestSingleInstanceLock()) {
    app.quit() // the first one shows itself
    return
  }
  const lab = openWindowLab(labOptions())
  lab.catch(async (error: unknown) => {
    await app.whenReady()
    dialog.showErrorBox('Chainwalk cannot start its lab', describeError(error))
    app.exit(exitStatusOf(error))
  })
  app.on('second-instance', () => {
    const [first] = BrowserWindow.getAllWindows()
    if (first?.isMinimized()) first.restore()
    first?.focus()
  })
  app.on('will-quit', (event) => {
    event.preventDefault()
    void lab
      .then((opened) => opened.close())
      .finally(() => {
        app.exit(0)
      })
  })
  void app.whenReady().then(() => {
    show(lab)
  })
}

function show(lab: Promise<WindowLab>): void {
  const folder = join(packageRoot(), 'out/renderer')
  protocol.handle('app', async ({ url }) => {
    const { host, pathname } = new URL(url)
    const { status, headers, body } = await readSite(folder, host === 'chainwalk' ? pathname : '')
    return new Response(new Uint8Array(body), { status, headers })
  })
  const { defaultSession } = session
  defaultSession.setPermissionRequestHandler((_contents, permission, decide) => {
    decide(PERMISSIONS.has(permission))
  })
  defaultSession.setPermissionCheckHandler((_contents, permission) => PERMISSIONS.has(permission))
  ipcMain.on('chainwalk-open-lab', ({ sender, senderFrame }) => {
    if (senderFrame?.url === HOME) void joinPage(sender, lab)
  })
  const actions = menuActions({
    lab,
    openWindow,
    tell: (window, command) => {
      pages.get(window.webContents)?.send(command)
    },
  })
  Menu.setApplicationMenu(buildMenu(actions, VIEWS, { withDevTools: !app.isPackaged }))
  openWindow()
}

/** The words of `chainwalk serve`, among Chromium's own. */
function labOptions(): Parameters<typeof openWindowLab>[0] {
  const { values } = parseArgs({
    args: process.argv.slice(app.isPackaged ? 1 : 2),
    strict: false,
    options: {
      file: { type: 'string', short: 'f', multiple: true },
      name: { type: 'string', default: 'lab' },
      workers: { type: 'string' },
      'demo-traffic': { type: 'boolean' },
    },
  })
  const { file, name, workers } = values as { file?: string[]; name: string; workers?: string }
  return {
    name,
    attachment: 'auto',
    backend: 'auto',
    demoTraffic: values['demo-traffic'] === true,
    ...(file ? { file } : {}),
    ...(workers === undefined ? {} : { workers }),
  }
}

start()
