import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'electron-vite'

export default defineConfig({
  main: {
    build: {
      target: 'node20.19', // the command line, the holder and the web entry run under plain Node
      lib: {
        entry: {
          cli: 'src-main/entry/cli/main.ts',
          holder: 'src-main/entry/holder/main.ts',
          'launch-tagged': 'src-main/entry/launch-tagged/main.ts',
          electron: 'src-main/entry/electron/main.ts',
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
