import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createUserData,
  launchShell,
  type MenuItem,
  runCli,
  SHOWN_ORIGIN,
  type ShellWindow,
  startShell,
} from './launch-shell.ts'
import { whyNoWindow } from './launch-window.ts'

const HTTP_SERVER = 'lab-scripts/manifests/http-server.yaml'

describe.skipIf(whyNoWindow())('the desktop entry, on a stand-in for Electron', () => {
  const name = `shell-${process.pid}`
  const userData = createUserData()
  let shell: ShellWindow
  beforeAll(async () => {
    shell = await launchShell(name, ['-f', HTTP_SERVER], userData.folder)
  })
  afterAll(async () => {
    await shell?.close()
    userData.remove()
  })

  test('the window is sandboxed, isolated and without Node; so is the whole app', async () => {
    const { window, isSandboxed, schemes } = await shell.told((message) => message.window)
    expect(window?.webPreferences).toMatchObject({
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
    })
    expect(isSandboxed).toBe(true)
    expect(schemes).toMatchObject([['app', { privileges: { standard: true, secure: true } }]])
    expect(schemes?.[0]?.[1].privileges).not.toHaveProperty('bypassCSP')
  })

  test('the page gets one function, and shows the lab without a fault', async () => {
    const given = await shell.page.evaluate(() => ({
      bridge: Object.entries(window.chainwalkDesktop ?? {}).map(([key, value]) => [key, typeof value]),
      node: ['require', 'process', 'Buffer', 'module'].filter((each) => each in window),
    }))
    expect(given).toEqual({ bridge: [['openLab', 'function']], node: [] })
    expect(shell.problems).toEqual([])
  })

  test('its files come under the same policy as in a browser', async () => {
    const response = await shell.page.reload()
    const headers = response?.headers() ?? {}
    expect(headers['content-security-policy']).toContain("default-src 'self'; script-src 'self';")
    expect(headers['content-security-policy']).toContain("connect-src 'self';")
    expect(headers['x-content-type-options']).toBe('nosniff')
    const missing = await shell.page.evaluate(async () => (await fetch('/%2e%2e/package.json')).status)
    expect(missing).toBe(404)
    shell.problems.splice(0) // the console says so of every 404
  })

  test('a reload joins the same lab again', async () => {
    await shell.page.reload()
    await shell.page.getByText(name).first().waitFor()
    expect(shell.problems).toEqual([])
  })

  test('the page can neither go elsewhere nor open a window', async () => {
    await shell.page.evaluate(() => {
      location.href = 'https://example.invalid/'
    })
    await shell.page.evaluate(() => {
      window.open('https://example.invalid/', '_blank')
    })
    await shell.page.waitForTimeout(300)
    expect(shell.page.url()).toBe(`${SHOWN_ORIGIN}/`)
    expect(
      shell.page
        .context()
        .pages()
        .filter((page) => page.url().includes('example')),
    ).toEqual([])
    shell.problems.splice(0)
  })

  test('the menu leaves the keys of a shell alone', async () => {
    const { menu = [] } = await shell.told((message) => message.menu)
    const items = (list: readonly MenuItem[]): MenuItem[] =>
      list.flatMap((item) => [item, ...items(item.submenu ?? [])])
    const taken = items(menu).filter(
      ({ accelerator = '', registerAccelerator, role }) =>
        (/^(Ctrl|CmdOrCtrl)\+[^+]$/i.test(accelerator) && registerAccelerator !== false) ||
        ['reload', 'close', 'quit', 'copy', 'paste', 'cut', 'selectAll', 'undo'].includes(role ?? ''),
    )
    expect(taken).toEqual([])
  })

  test('an export is saved where the person says', async () => {
    const file = join(userData.folder, 'rules.txt')
    shell.answerDialogs({ save: file })
    shell.pick('File', 'Save Export', 'iptables-save text…')
    await shell.told((message) => message.saveAs === `${name}.rules`)
    await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toContain('KUBE-SERVICES')
  })

  test('a bundle is loaded into the lab; what is none is refused in words', async () => {
    const bundle = join(userData.folder, 'two.chainwalk')
    const { code, stderr } = runCli('export', '--name', name, '--format', 'bundle', '-o', bundle)
    expect(code, stderr).toBe(0)
    runCli('delete', 'service', 'http-svc', '--name', name)
    shell.answerDialogs({ open: [bundle] })
    shell.pick('File', 'Open Bundle…')
    await expect
      .poll(() => runCli('get', 'svc', '--name', name).stdout, { timeout: 15_000 })
      .toMatch(/^http-svc /m)
    const text = join(userData.folder, 'plain.yaml')
    writeFileSync(text, 'kind: Pod\n')
    shell.answerDialogs({ open: [text] })
    shell.pick('File', 'Open Bundle…')
    const { error } = await shell.told((message) => message.error)
    expect(error?.text).toContain('plain.yaml is no bundle')
  })

  test('the doctor speaks of this machine', async () => {
    shell.pick('Help', 'Doctor…')
    const { box } = await shell.told((message) => message.box)
    expect(box?.detail).toMatch(/kernel/i)
  })

  test('the place of the window is remembered, and quitting ends the lab', async () => {
    shell.pick('File', 'New Window')
    await expect.poll(() => shell.messages.filter((message) => message.window).length).toBe(2)
    expect(runCli('status', '--name', name).code).toBe(0)
    shell.closeWindows()
    expect(await shell.ended).toBe(0)
    expect(JSON.parse(readFileSync(join(userData.folder, 'window.json'), 'utf8'))).toMatchObject({
      width: 1440,
      height: 900,
    })
    const { code, stderr } = runCli('status', '--name', name)
    expect(stderr).toContain('no lab named')
    expect(code).toBe(1)
  })

  test('a lab that cannot start is said in a dialog, with the status of the command line', async () => {
    const refused = startShell(['--name', name, '-f', 'no-such-file.yaml'], userData.folder)
    const code = await refused.ended
    expect(refused.messages.find((message) => message.error)?.error?.text).toContain(
      'no-such-file.yaml: no such file',
    )
    expect(code).toBe(2)
  })
})
