// A stand-in for the parts of Electron that Chainwalk uses, with a Chromium page for a window. It is not Electron: the
// preload shares the page's world, there are no native windows, and the scheme app:// is shown as https://*.invalid.
// What a test has to do from outside comes over Node's IPC: {menu: ['File', 'Quit']}, {dialogs: {open, save}}; what the
// program would show a person goes back the same way.
import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { chromium } from 'playwright-core'

const isRoot = process.getuid?.() === 0
const schemes = new Map()
const windows = new Set()
let menu = []
let answers = {}
let context

const tell = (message) => process.send?.(message)

process.on('message', (message) => {
  if (message.dialogs) answers = message.dialogs
  if (message.menu) pick(message.menu)
  if (message.close) for (const window of windows) window.close()
})

function pick(path) {
  let items = menu
  let item
  for (const label of path) {
    item = items.find((each) => each.label?.replace('&', '') === label)
    if (!item) throw new Error(`the menu has no ${path.join(' > ')}`)
    items = item.submenu ?? []
  }
  item.click(item, [...windows].at(-1), {})
}

class App extends EventEmitter {
  isPackaged = false
  commandLine = { hasSwitch: (name) => name === 'no-sandbox' && isRoot }
  isSandboxed = false
  isEnding = false
  enableSandbox = () => {
    this.isSandboxed = true
  }
  requestSingleInstanceLock = () => true
  getPath = () => process.env['CHAINWALK_USER_DATA']
  #ready

  whenReady = () => {
    this.#ready ??= startChromium()
    return this.#ready
  }

  quit = () => {
    let isPrevented = false
    const event = { preventDefault: () => (isPrevented = true) }
    for (const name of ['before-quit', 'will-quit']) this.emit(name, event)
    if (!isPrevented) this.exit(0)
  }

  exit = (code = 0) => {
    this.isEnding = true
    void (async () => {
      await context?.close()
      process.exit(code)
    })()
  }
}

/** In its default context, which alone a second client (the test) can see, on a port for that client. */
async function startChromium() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  context = await chromium.launchPersistentContext(join(app.getPath('userData'), 'chromium'), {
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell',
    chromiumSandbox: !isRoot,
    args: [
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      `--remote-debugging-port=${port}`,
    ],
    viewport: null,
  })
  tell({ devTools: `http://127.0.0.1:${port}` })
}

export const app = new App()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => app.quit())

export const ipcMain = new EventEmitter()

const permissions = {}
export const session = {
  defaultSession: {
    setPermissionRequestHandler: (handler) => {
      permissions.request = handler
    },
    setPermissionCheckHandler: (handler) => {
      permissions.check = handler
    },
  },
}

export const protocol = {
  registerSchemesAsPrivileged: (list) => {
    for (const { scheme, privileges } of list) schemes.set(scheme, { privileges })
  },
  handle: (scheme, handler) => {
    schemes.get(scheme).handler = handler
  },
}

export const screen = {
  getAllDisplays: () => [{ workArea: { x: 0, y: 0, width: 1920, height: 1080 } }],
}

export const shell = {
  openPath: (path) => {
    tell({ opened: path })
    return Promise.resolve('')
  },
}

export const dialog = {
  showErrorBox: (title, text) => tell({ error: { title, text } }),
  showMessageBox: (_window, box) => {
    tell({ box })
    return Promise.resolve({ response: 0 })
  },
  showOpenDialog: () => Promise.resolve({ filePaths: answers.open ?? [] }),
  showSaveDialog: (_window, { defaultPath }) => {
    tell({ saveAs: defaultPath })
    return Promise.resolve({ filePath: answers.save })
  },
}

export const Menu = {
  buildFromTemplate: (template) => template,
  setApplicationMenu: (template) => {
    menu = template
    tell({ menu: JSON.parse(JSON.stringify(template)) })
  },
}

/** Node's ports, with Electron's shape of event. */
class MainPort extends EventEmitter {
  constructor(port) {
    super()
    this.port = port
    port.on('close', () => this.emit('close'))
  }
  start = () => void this.port.on('message', (data) => this.emit('message', { data }))
  postMessage = (message) => this.port.postMessage(message)
  close = () => this.port.close()
}

export class MessageChannelMain {
  constructor() {
    const { port1, port2 } = new MessageChannel()
    this.port1 = new MainPort(port1)
    this.port2 = new MainPort(port2)
  }
}

/** What a sandboxed preload gets: a `require` that knows 'electron' alone. Runs in the page. */
function installPreload(source) {
  const heard = new Map()
  const ports = new Map()
  window.__fromMain = (channel, id) => {
    const { port1, port2 } = new MessageChannel()
    ports.set(id, port1)
    port1.onmessage = ({ data }) => window.__toPort(id, data)
    for (const listener of heard.get(channel) ?? []) listener({ ports: [port2] })
  }
  window.__fromPort = (id, data) => ports.get(id)?.postMessage(data)
  const electron = {
    contextBridge: {
      exposeInMainWorld: (name, api) => {
        for (const value of Object.values(api))
          if (typeof value !== 'function') throw new Error('only functions cross the bridge of this stand-in')
        Object.defineProperty(window, name, { value: Object.freeze({ ...api }), enumerable: true })
      },
    },
    ipcRenderer: {
      send: (channel) => void window.__toMain(channel),
      on: (channel, listener) => heard.set(channel, [...(heard.get(channel) ?? []), listener]),
    },
  }
  const require = (name) => {
    if (name === 'electron') return electron
    throw new Error(`module not found: ${name}`)
  }
  new Function('require', 'exports', 'process', 'global', source)(require, {}, undefined, undefined)
}

const shown = (url) => url.replace(/^app:\/\/([^/]+)/, 'https://$1.invalid')
const real = (url) => url.replace(/^https:\/\/([^/]+)\.invalid/, 'app://$1')

class WebContents extends EventEmitter {
  #page
  #ports = new Map()
  #queue = Promise.resolve()

  async attach(page, preload) {
    this.#page = page
    const url = () => real(page.url())
    await page.exposeBinding('__toMain', ({ frame }, channel) => {
      const isMain = frame === page.mainFrame()
      ipcMain.emit(channel, {
        sender: this,
        senderFrame: isMain ? { url: url() } : { url: real(frame.url()) },
      })
    })
    await page.exposeBinding('__toPort', (_source, id, data) => this.#ports.get(id)?.port.postMessage(data))
    await page.addInitScript(`(${installPreload})(${JSON.stringify(readFileSync(preload, 'utf8'))})`)
    await page.route('**', (route) => this.#answer(route))
    page.on('framenavigated', (frame) => {
      // The ports of the page before it are gone.
      if (frame === page.mainFrame()) for (const port of this.#ports.values()) port.close()
    })
    page.on('popup', (popup) => {
      if (this.windowOpenHandler?.({ url: popup.url() }).action !== 'allow') void popup.close()
    })
    page.once('close', () => this.emit('destroyed'))
  }

  async #answer(route) {
    const request = route.request()
    const url = real(request.url())
    const { protocol: scheme } = new URL(url)
    if (request.isNavigationRequest()) {
      let isPrevented = false
      if (this.#page.url() !== 'about:blank')
        this.emit('will-frame-navigate', { url, preventDefault: () => (isPrevented = true) })
      if (isPrevented) return route.abort('aborted')
    }
    const handler = schemes.get(scheme.slice(0, -1))?.handler
    if (!handler) return route.continue()
    const response = await handler({ url, method: request.method() })
    return route.fulfill({
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: Buffer.from(await response.arrayBuffer()),
    })
  }

  setWindowOpenHandler(handler) {
    this.windowOpenHandler = handler
  }

  postMessage(channel, _message, [port]) {
    const id = `${Math.random()}`
    this.#ports.set(id, port)
    const run = (work) => {
      this.#queue = this.#queue.then(work).catch(() => undefined) // the page may have gone
    }
    run(() => this.#page.evaluate(([name, given]) => window.__fromMain(name, given), [channel, id]))
    port.on('message', ({ data }) => {
      run(() => this.#page.evaluate(([given, text]) => window.__fromPort(given, text), [id, data]))
    })
    port.start()
  }

  reload() {
    void this.#page.reload()
  }
}

export class BrowserWindow extends EventEmitter {
  static getAllWindows = () => [...windows]
  webContents = new WebContents()
  #options
  #page

  constructor(options) {
    super()
    this.#options = options
    windows.add(this)
    const { webPreferences, ...rest } = options
    tell({ window: { ...rest, webPreferences }, isSandboxed: app.isSandboxed, schemes: [...schemes] })
  }

  show() {}
  focus() {}
  isMinimized = () => false
  isDestroyed = () => app.isEnding || this.#page?.isClosed() === true
  getNormalBounds() {
    const { x = 0, y = 0, width, height } = this.#options
    return { x, y, width, height }
  }

  close() {
    this.emit('close')
    void this.#page?.close()
  }

  async loadURL(url) {
    const { preload, sandbox, contextIsolation, nodeIntegration } = this.#options.webPreferences
    if (!sandbox || !contextIsolation || nodeIntegration) throw new Error('unsafe webPreferences')
    if (!preload.endsWith('.cjs')) throw new Error('a sandboxed preload must be CommonJS')
    const { width, height } = this.#options
    this.#page = await context.newPage()
    await this.#page.setViewportSize({ width, height })
    await this.webContents.attach(this.#page, preload)
    this.#page.once('close', () => {
      windows.delete(this)
      this.emit('closed')
      if (windows.size === 0) app.quit()
    })
    await this.#page.goto(shown(url))
    this.emit('ready-to-show')
  }
}
