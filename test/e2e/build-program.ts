import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/**
 * Builds the program into a folder of this run's own, laid out like an installed package, so that nobody who builds
 * meanwhile pulls it away from under a running lab. `remove` takes it away again.
 */
export function buildProgram(): { readonly folder: string; readonly remove: () => void } {
  removeLeftOvers()
  const folder = join(root, `out/e2e-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  for (const part of ['package.json', 'lab-scripts', 'README.md'])
    if (existsSync(join(root, part))) cpSync(join(root, part), join(folder, part), { recursive: true })
  const vite = join(root, 'node_modules/electron-vite/bin/electron-vite.js')
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [vite, 'build', '--outDir', join(folder, 'out'), '--logLevel', 'warn'],
    { cwd: root, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`the build failed:\n${stdout}${stderr}`)
  return {
    folder,
    remove: () => {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Of runs that were killed. */
function removeLeftOvers(): void {
  if (!existsSync(join(root, 'out'))) return
  for (const name of readdirSync(join(root, 'out'))) {
    const pid = /^e2e-(\d+)$/.exec(name)?.[1]
    if (pid && !existsSync(`/proc/${pid}`)) rmSync(join(root, 'out', name), { recursive: true, force: true })
  }
}

/** For vitest: one build for all files of the run. */
export default function setup(): () => void {
  const { folder, remove } = buildProgram()
  process.env['CHAINWALK_PROGRAM'] = folder
  return remove
}
