import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CACHE_SUFFIX, codeCaches, loadProgram } from '../load-program.ts'

// node make-code-cache.cjs PROGRAM ARGUMENT…: runs a built program and writes the code caches of all that it loaded;
// part of a build. The shared chunks do nothing by themselves and are loaded all.
const [program = '', ...args] = process.argv.slice(2)
const file = join(__dirname, `${program}.cjs`)
process.argv.splice(1, process.argv.length, file, ...args)
process.on('exit', () => {
  for (const [path, cache] of codeCaches()) writeFileSync(path + CACHE_SUFFIX, cache)
})
const chunks = join(__dirname, 'chunks')
for (const name of readdirSync(chunks)) if (name.endsWith('.cjs')) loadProgram(join(chunks, name))
loadProgram(file)
