#!/usr/bin/env node
// `npm start`: a lab in its window. The desktop window where Electron and a display are to be had, else a browser page.
//   npm start -- [--web] [-f FILE]… [--workers N] [--name LAB]      the words of `chainwalk serve`
// Without -f the http-server example is applied, with some traffic, so that there is something to see.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildWhatIsOld, root } from './build.mjs'

/** Electron that ends with a failure sooner than this has not shown a window: a browser page has to do. */
const STARTED_AFTER_MS = 5000

const given = process.argv.slice(2)
const wantsWeb = given.includes('--web')
const words = given.filter((word) => word !== '--web')
if (!words.some((word) => /^(-f.*|--file(=.*)?)$/.test(word)))
  words.unshift('-f', join(root, 'lab-scripts/manifests/http-server.yaml'), '--demo-traffic')

const say = (text) => process.stderr.write(`${text}\n`)

/** The program, or undefined where it is not installed. */
function findElectron() {
  const folder = join(root, 'node_modules/electron')
  const named = join(folder, 'path.txt')
  const program = join(folder, 'dist', existsSync(named) ? readFileSync(named, 'utf8').trim() : 'electron')
  return existsSync(program) ? program : undefined
}

/** Electron's own installer; the npm package comes without the program. */
function installElectron() {
  const installer = join(root, 'node_modules/electron/install.js')
  if (!existsSync(installer)) return undefined
  say(
    'Fetching Electron for the desktop window, once (about 120 MB; Ctrl-C, then `npm start -- --web`, to do without) …',
  )
  const { signal } = spawnSync(process.execPath, [installer], { stdio: ['ignore', 'ignore', 'pipe'] })
  if (signal === 'SIGINT') process.exit(130)
  return findElectron()
}

/** Why there can be no desktop window here, in words; undefined where there can. */
function whyNoDesktop() {
  if (wantsWeb) return 'a browser page was asked for'
  if (process.getuid?.() === 0)
    return "root has no desktop window (Chromium's sandbox needs an ordinary user)"
  if (!process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return 'there is no display'
  return undefined
}

/** Resolves with the exit status, or with undefined where no window came up. */
function runElectron(program) {
  const began = Date.now()
  // Set for the lab's own processes only: here it would make Electron a plain Node.
  const { ELECTRON_RUN_AS_NODE: _, ...env } = process.env
  const child = spawn(program, [root, ...words], { stdio: ['ignore', 'inherit', 'pipe'], env })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said = (said + text).slice(-4000)
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  return new Promise((resolve) => {
    child.once('error', () => resolve(undefined))
    child.once('close', (code, signal) => {
      const isBroken = code === null ? signal !== 'SIGINT' && signal !== 'SIGTERM' : code > 3
      if (code !== 0) process.stderr.write(said)
      resolve(isBroken && Date.now() - began < STARTED_AFTER_MS ? undefined : (code ?? 1))
    })
  })
}

async function openDesktop() {
  const program = findElectron() ?? installElectron()
  if (!program) return 'Electron could not be fetched'
  const status = await runElectron(program)
  if (status !== undefined) process.exit(status)
  return 'Electron does not run on this machine'
}

buildWhatIsOld({ withWindow: true })
const why = whyNoDesktop() ?? (await openDesktop())
say(`No desktop window: ${why}. The same window in a browser:`)
process.argv = [process.argv[0], join(root, 'lab-scripts/chainwalk.mjs'), 'serve', ...words]
await import(join(root, 'out/main/cli.cjs'))
