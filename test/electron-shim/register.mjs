// node --import ./test/electron-shim/register.mjs out/main/electron.js
// lets `import … from 'electron'` mean the stand-in beside this file.
import { register } from 'node:module'

const standIn = new URL('./electron.mjs', import.meta.url).href
const hooks = `export const resolve = (name, context, next) =>
  name === 'electron' ? { url: ${JSON.stringify(standIn)}, shortCircuit: true } : next(name, context)`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
