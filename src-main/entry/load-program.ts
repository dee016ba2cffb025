import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Script } from 'node:vm'

/** What V8 made of `FILE`, beside it; a build makes it, see entry/code-cache. */
export const CACHE_SUFFIX = '.cache'

interface LoadedFile {
  readonly script: Script
  readonly exports: unknown
}

type Require = (name: string) => unknown
type FileFunction = (
  exports: unknown,
  require: Require,
  module: { exports: unknown },
  filename: string,
  dirname: string,
) => void

const requirePackage = createRequire(__filename)
const loaded = new Map<string, LoadedFile>()

/**
 * Loads a built CommonJS file, and those of ours that it requires, as Node does but with V8's code cache: a program
 * starts in half the time. V8 refuses by itself a cache of other code, another version or other flags, and compiles.
 */
export function loadProgram(file: string): unknown {
  const known = loaded.get(file)
  if (known) return known.exports
  const folder = dirname(file)
  const script = new Script(
    // A build makes all files ASCII, see ascii-sources in electron.vite.config.ts.
    `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, 'latin1')}\n})`,
    { filename: file, cachedData: readCache(file) },
  )
  const module = { script, exports: {} }
  loaded.set(file, module)
  const run = script.runInThisContext() as FileFunction
  const require: Require = (name) =>
    name.startsWith('.') ? loadProgram(join(folder, name)) : requirePackage(name)
  run(module.exports, require, module, file, folder)
  return module.exports
}

/** Code caches of all that has been loaded, with what has run until now compiled, by file. */
export function codeCaches(): Map<string, Buffer> {
  return new Map([...loaded].map(([file, { script }]) => [file, script.createCachedData()]))
}

function readCache(file: string): Buffer | undefined {
  try {
    return readFileSync(file + CACHE_SUFFIX)
  } catch {
    return undefined // a build that could not make one
  }
}
