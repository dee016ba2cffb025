// `npm run screenshots [-- VIEW…]`: pictures of the window on a real lab with real traffic, into test/e2e/shots/.
import { join } from 'node:path'
import { runnerImport } from 'vite'

const { module } = await runnerImport(join(import.meta.dirname, 'take-screenshots.ts'), {
  configFile: false,
  root: join(import.meta.dirname, '../..'),
  logLevel: 'warn',
})
await module.takeScreenshots(process.argv.slice(2))
