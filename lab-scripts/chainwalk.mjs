#!/usr/bin/env node
// The `chainwalk` command in a checkout: builds what is out of date, then runs it.
import { join } from 'node:path'
import { buildWhatIsOld, root } from './build.mjs'

buildWhatIsOld({ withWindow: process.argv[2] === 'serve' })
await import(join(root, 'out/main/cli.cjs'))
