// `npm run bench [-- [--full] NAME…]`: builds the program and the benches as the program is built, then runs them.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { build } from 'vite'

const root = join(import.meta.dirname, '../..')
const { status } = spawnSync(process.execPath, [join(root, 'lab-scripts/chainwalk.mjs'), '--version'], {
  stdio: ['ignore', 'ignore', 'inherit'],
})
if (status !== 0) process.exit(status ?? 1)

await build({
  root,
  configFile: false,
  logLevel: 'warn',
  build: {
    target: 'node20.19',
    ssr: join(import.meta.dirname, 'run.ts'),
    outDir: join(root, 'out/bench'),
    emptyOutDir: true,
    rollupOptions: { output: { entryFileNames: 'run.js', chunkFileNames: '[name].js' } },
  },
  ssr: { noExternal: ['yaml', 'ipaddr.js'] },
})
await import(join(root, 'out/bench/run.js'))
