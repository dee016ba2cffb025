import { join } from 'node:path'
import { loadProgram } from '../load-program.ts'

// node holder.cjs --chainwalk-lab NAME SETTINGS, started by launchHolder inside fresh namespaces.
loadProgram(join(__dirname, 'holder-program.cjs'))
