import { join } from 'node:path'
import { loadProgram } from '../load-program.ts'

loadProgram(join(__dirname, 'cli-program.cjs'))
