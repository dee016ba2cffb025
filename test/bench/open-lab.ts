import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LabConnection } from '../../src-main/contract/rpc.ts'
import { captureInLab } from '../../src-main/entry/cli/run-in-lab.ts'
import { packageRoot, startLab } from '../../src-main/entry/start-lab.ts'
import { findLabs } from '../../src-main/system/sandbox/find-labs.ts'

export const root = packageRoot()
export const HTTP_SERVER = join(root, 'lab-scripts/manifests/http-server.yaml')
/** Of the Service in it. */
export const CLUSTER_IP = '10.107.38.142'
/** The http-server example's Deployment. */
export const SERVER = 'deployment/http-server'

export interface OpenLab {
  readonly connection: LabConnection
  /** The process that this one started: the outermost of the sandbox. */
  readonly outerPid: number
  /** The Node process inside, as seen from here. */
  readonly holderPid: number
  apply(...texts: string[]): Promise<void>
  /** What a command of the lab prints; rejects when it fails. */
  exec(target: string, ...argv: string[]): Promise<string>
  /** Resolves when nothing of the sandbox runs any more. */
  close(): Promise<void>
}

const prefix = `bench-${process.pid}-`
let serial = 0
export const labName = (): string => {
  serial += 1
  return `${prefix}${serial}`
}

/** Ends what a bench that was broken off has left running: a lab that a command started does not end with this. */
export function endOwnLabs(): void {
  for (const lab of findLabs()) if (lab.name.startsWith(prefix)) process.kill(lab.pid, 'SIGTERM')
}

/** A new folder, gone at the latest when this process ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'chainwalk-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A lab started by this process itself, without the command line's own Node. */
export async function openLab(): Promise<OpenLab> {
  const name = labName()
  const { connection, holder } = await startLab({
    name,
    workers: 2,
    attachment: 'auto',
    backend: 'auto',
    detached: false,
  })
  const holderPid = findLabs().find((lab) => lab.name === name)?.pid
  const outerPid = holder.process.pid
  if (holderPid === undefined || outerPid === undefined) throw new Error(`the lab ${name} has no process`)
  return {
    connection,
    outerPid,
    holderPid,
    apply: async (...texts) => {
      const manifests = texts.map((text, at) => ({ file: `${at}.yaml`, text }))
      await connection.request('objects/apply', { manifests })
    },
    exec: async (target, ...argv) => {
      const resolved = await connection.request('targets/resolve', { target })
      const { code, stdout, stderr } = await captureInLab(connection, resolved.target, argv)
      if (code !== 0) throw new Error(`${argv.join(' ')} in ${target} ended with ${code}: ${stderr}`)
      return stdout
    },
    close: async () => {
      await connection.request('lab/stop', {}).catch(() => undefined) // it may be gone already
      await holder.ended
    },
  }
}

export async function openHttpServerLab(): Promise<OpenLab> {
  const lab = await openLab()
  await lab.apply(readFileSync(HTTP_SERVER, 'utf8'))
  return lab
}

/** Runs a program to its end; rejects when it fails. `answered` is when `sign` stood in its output. */
export function runProgram(
  argv: readonly string[],
  sign = '',
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ readonly stdout: string; readonly answeredMs: number }> {
  const [file = '', ...args] = argv
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
    let stdout = ''
    let stderr = ''
    let answeredMs: number | undefined
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      if (sign !== '' && stdout.includes(sign)) answeredMs ??= performance.now() - began
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.once('error', reject)
    child.once('close', (code) => {
      if (code !== 0 || (sign !== '' && answeredMs === undefined))
        reject(new Error(`${argv.join(' ')} ended with ${code}:\n${stdout}${stderr}`))
      else resolve({ stdout, answeredMs: answeredMs ?? performance.now() - began })
    })
  })
}
