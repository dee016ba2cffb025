import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'electron-vite'
import type { Plugin } from 'vite'

/** Each program with words that let it run through its beginning and end by itself. */
const WARM_RUNS = [
  ['cli-program', 'status', '--name', 'none'],
  ['holder-warm', join(import.meta.dirname, 'lab-scripts/manifests/http-server.yaml')],
]

/** Only ASCII in what is built: V8 keeps such sources in half the memory and reads them twice as fast. */
const asciiSources = (): Plugin => ({
  name: 'ascii-sources',
  writeBundle({ dir = '' }, bundle) {
    for (const file of Object.keys(bundle)) {
      const path = join(dir, file)
      const source = readFileSync(path, 'utf8')
      const escaped = source.replace(
        /[\u0080-\uffff]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
      if (escaped !== source) writeFileSync(path, escaped)
    }
  },
})

/** V8's code caches of what has just been built, so that the programs start sooner. */
const codeCache = (): Plugin => ({
  name: 'code-cache',
  writeBundle({ dir = '' }) {
    for (const words of WARM_RUNS) {
      const { stderr, error } = spawnSync(process.execPath, [join(dir, 'make-code-cache.cjs'), ...words], {
        encoding: 'utf8',
      })
      if (error || /^ {4}at /m.test(stderr)) this.error(`no code cache of ${words[0]}: ${error ?? stderr}`)
    }
  },
})

export default defineConfig({
  main: {
    plugins: [asciiSources(), codeCache()],
    build: {
      target: 'node20.19', // the command line, the holder and the web entry run under plain Node
      minify: true,
      lib: {
        // CommonJS: Node starts it sooner than ES modules, and V8's code cache can be used.
        formats: ['cjs'],
        entry: {
          cli: 'src-main/entry/cli/main.ts',
          'cli-program': 'src-main/entry/cli/program.ts',
          holder: 'src-main/entry/holder/main.ts',
          'holder-program': 'src-main/entry/holder/program.ts',
          'holder-warm': 'src-main/entry/holder/warm.ts',
          'launch-tagged': 'src-main/entry/launch-tagged/main.ts',
          'make-code-cache': 'src-main/entry/make-code-cache/main.ts',
          electron: 'src-main/entry/electron/main.ts',
        },
      },
      rolldownOptions: {
        output: {
          entryFileNames: '[name].cjs',
          chunkFileNames: 'chunks/[name].cjs',
          dynamicImportInCjs: false,
        },
      },
    },
  },
  preload: {
    build: {
      // Chromium's sandbox loads one CommonJS file that requires nothing but 'electron'.
      lib: { entry: 'src-main/entry/electron/preload.ts', formats: ['cjs'] },
      externalizeDeps: false,
    },
  },
  renderer: {
    root: 'src-renderer',
    plugins: [svelte({ configFile: false })],
    build: {
      minify: true,
      rolldownOptions: { input: 'index.html' },
    },
  },
})
