// Builds the program in a checkout when its sources are newer than what was built last.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** What each built file is made of. */
const PARTS = {
  'out/main/cli.cjs': ['src-main'],
  'out/renderer/index.html': ['src-renderer', 'src-main/contract', 'src-main/domain'],
}

/** The newest change below a folder, as milliseconds. */
function newest(folder) {
  let time = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    time = Math.max(time, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs)
  }
  return time
}

function isOutOfDate(built) {
  const file = join(root, built)
  const builtMs = existsSync(file) ? statSync(file).mtimeMs : 0
  return PARTS[built].some((folder) => newest(join(root, folder)) > builtMs)
}

/** Makes sure of the command line, and of the window where that is wanted. Ends the process when the build fails. */
export function buildWhatIsOld({ withWindow }) {
  // An installed package has no sources beside it, and is always up to date.
  if (!existsSync(join(root, 'src-main'))) return
  if (!isOutOfDate('out/main/cli.cjs') && !(withWindow && isOutOfDate('out/renderer/index.html'))) return
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
  if (status === 0) return
  process.stderr.write(`${stdout}${stderr}\nThe build failed.\n`)
  process.exit(1)
}
