import { defineConfig } from 'electron-vite'

export default defineConfig({
  main: {
    build: {
      target: 'node20.19', // the command line and the holder run under plain Node
      lib: {
        entry: {
          cli: 'src-main/entry/cli/main.ts',
          holder: 'src-main/entry/holder/main.ts',
        },
      },
    },
  },
})
