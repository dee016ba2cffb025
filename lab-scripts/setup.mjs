#!/usr/bin/env node
// Makes a fresh clone ready: node packages, and the system tools that a lab runs. Needs nothing but Node itself.
//   node lab-scripts/setup.mjs           what `npm start` needs
//   node lab-scripts/setup.mjs --test    also what the tests need
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const forTests = process.argv.includes('--test')

/** Which commands a lab runs, the package that brings each, and how packages are installed, by package manager. */
const systemTools = JSON.parse(readFileSync(join(root, 'lab-scripts/system-tools.json'), 'utf8'))

/** Ordinary users often lack the sbin folders in their PATH. */
const PATHS = [...(process.env.PATH ?? '').split(':'), '/usr/local/sbin', '/usr/sbin', '/sbin']

const has = (command) =>
  PATHS.some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

const say = (text) => process.stderr.write(`${text}\n`)

function run(argv, options = {}) {
  const [file, ...args] = argv
  const { status, error } = spawnSync(file, args, { cwd: root, stdio: ['ignore', 2, 2], ...options })
  return error ? 127 : (status ?? 1)
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  say(`Chainwalk needs Node.js 20.19 or newer; this is ${process.versions.node}. See https://nodejs.org/`)
  process.exit(3)
}

/** npm writes node_modules/.package-lock.json last: older than the lock file, or missing, means not up to date. */
function nodePackagesMissing() {
  const mark = join(root, 'node_modules/.package-lock.json')
  return !existsSync(mark) || statSync(mark).mtimeMs < statSync(join(root, 'package-lock.json')).mtimeMs
}

function installNodePackages() {
  if (!nodePackagesMissing()) return
  say('Installing node packages …')
  const status = run(['npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error'])
  if (status !== 0) {
    say('npm ci failed (its own message stands above). Is the network reachable? Then try again.')
    process.exit(1)
  }
}

function installSystemTools() {
  const missing = systemTools.tools.filter(({ commands }) => !commands.every(has))
  if (missing.length === 0) return
  const names = missing.flatMap(({ commands }) => commands.filter((command) => !has(command)))
  const manager = Object.keys(systemTools.install).find((name) => has(systemTools.install[name][0]))
  if (!manager) {
    say(`Missing: ${names.join(', ')}. Install them with your distribution's package manager.`)
    process.exit(3)
  }
  const packages = missing.map((tool) => tool.packages[manager])
  if (installAsRoot(manager, packages)) return
  say(
    `Missing: ${names.join(', ')}. Install with:\n\n  sudo ${installCommand(manager, packages).join(' ')}\n`,
  )
  process.exit(3)
}

const installCommand = (manager, packages) => [...systemTools.install[manager], ...packages]

function installAsRoot(manager, packages) {
  if (process.getuid?.() !== 0) return false
  say(`Installing ${packages.join(', ')} …`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  if (manager === 'apt') run(['apt-get', 'update', '-qq'], { env })
  return run(installCommand(manager, packages), { env }) === 0
}

/** A browser and a font for the window's tests; without them these are skipped (in CI they fail). */
function installTestTools() {
  if (process.env.CHROMIUM) return
  const missing = systemTools.testTools.filter(({ files }) => !files.every(existsSync))
  if (missing.length === 0) return
  const packages = missing.map((tool) => tool.packages.apt)
  if (has('apt-get') && installAsRoot('apt', packages)) return
  say(
    `Missing for the tests of the window: ${packages.join(', ')} (Debian's names), or set CHROMIUM to a browser.`,
  )
}

checkNode()
installNodePackages()
installSystemTools()
if (forTests) installTestTools()
if (forTests && process.getuid?.() !== 0)
  say('Not root: the tests that need root, or a second user, are skipped with a reason.')
