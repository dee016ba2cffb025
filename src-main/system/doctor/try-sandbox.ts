import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { firstLine } from '../../domain/doctor/find-start-cause.ts'
import type { ProbeName, ProbeOutcome, ProbeReport, SandboxFacts } from '../../domain/doctor/machine-facts.ts'
import { findTool } from '../command/find-tool.ts'
import { sandboxCommand, sandboxEnvironment } from '../sandbox/sandbox-command.ts'

/** The argument that makes the command line's own program run the probes, inside the sandbox. */
export const PROBE_ARGUMENT = '--probe-sandbox'

/** A sandbox of the doctor takes about a second; more only where something hangs. */
const TIMEOUT_MS = 10_000

/**
 * Starts one throw-away sandbox the way a lab's holder is started, lets `program` (the built command line) try each
 * part inside, and waits until the kernel has removed it. Never rejects for what the machine forbids.
 */
export async function trySandbox(program: string, timeoutMs = TIMEOUT_MS): Promise<SandboxFacts> {
  for (const tool of ['unshare', 'setpriv'])
    if (!findTool(tool)) return { state: 'not-tried', reason: `${tool} is not installed` }
  const rootless = process.getuid?.() !== 0
  const [file = '', ...args] = sandboxCommand([program, PROBE_ARGUMENT, ...(rootless ? ['rootless'] : [])], {
    endsWithParent: true,
  })
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env: sandboxEnvironment() })
  return collectReports(child, timeoutMs)
}

async function collectReports(child: ChildProcess, timeoutMs: number): Promise<SandboxFacts> {
  let capabilities: string | undefined
  let isComplete = false
  const probes: Partial<Record<ProbeName, ProbeOutcome>> = {}
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-16 * 1024)
  })
  if (child.stdout)
    createInterface({ input: child.stdout }).on('line', (line) => {
      const report = parseReport(line)
      if (!report) return
      switch (report.probe) {
        case 'start':
          capabilities = report.capabilities
          break
        case 'end':
          isComplete = true
          break
        default:
          probes[report.probe] = report.result
      }
    })
  const end = await waitForEnd(child, timeoutMs)
  if (capabilities === undefined) return { state: 'refused', said: said.trim() || end }
  const words = [end, firstLine(said)].filter((text) => text !== '')
  const brokenOff = isComplete ? undefined : words.join(': ')
  return { state: 'entered', capabilities, probes, brokenOff }
}

/** Undefined for a line that was cut off when the program was stopped. */
function parseReport(line: string): ProbeReport | undefined {
  try {
    return JSON.parse(line) as ProbeReport
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** How it ended, in words; it is killed, with all that it started, when the time is over. */
function waitForEnd(child: ChildProcess, timeoutMs: number): Promise<string> {
  return new Promise((resolve) => {
    let late = false
    const timer = setTimeout(() => {
      late = true
      child.kill('SIGKILL')
    }, timeoutMs)
    child.once('error', (error) => {
      clearTimeout(timer)
      resolve(error.message)
    })
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      resolve(late ? `no end after ${timeoutMs} ms` : `it ended with ${signal ?? `status ${code}`}`)
    })
  })
}
