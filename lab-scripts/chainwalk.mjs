#!/usr/bin/env node
import { spawnSync } from 'node:child_process'
// The `chainwalk` command in a checkout: builds what is out of date, then runs it.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const built = join(root, 'out/main/cli.js')

/** The newest change among the sources, as milliseconds. */
function newest(folder) {
  let time = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    time = Math.max(time, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs)
  }
  return time
}

function build() {
  if (!existsSync(join(root, 'node_modules/electron-vite'))) {
    const { status } = spawnSync(process.execPath, [join(root, 'lab-scripts/setup.mjs')], {
      stdio: 'inherit',
    })
    if (status !== 0) process.exit(status ?? 1)
  }
  const vite = join(root, 'node_modules/electron-vite/bin/electron-vite.js')
  const { status, stdout, stderr } = spawnSync(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0) {
    process.stderr.write(`${stdout}${stderr}\nThe build failed.\n`)
    process.exit(1)
  }
}

// An installed package has no sources beside it, and is always up to date.
const sources = join(root, 'src-main')
if (existsSync(sources) && !(existsSync(built) && statSync(built).mtimeMs >= newest(sources))) build()
await import(built)
