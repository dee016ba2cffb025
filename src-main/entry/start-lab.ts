import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LabError } from '../contract/errors.ts'
import { connect, type LabConnection } from '../contract/rpc.ts'
import { streamChannel } from '../system/channel/stream-channel.ts'
import { explainStartFailure } from '../system/doctor/explain-start-failure.ts'
import { type Holder, launchHolder } from '../system/sandbox/launch-holder.ts'
import type { LabSettings } from './lab-settings.ts'

export interface StartedLab {
  readonly connection: LabConnection
  readonly holder: Holder
}

/** The folder that holds package.json: the checkout, or the installed package. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder)
    if (parent === folder) throw new Error('package.json is missing beside the program')
    folder = parent
  }
  return folder
}

/** Starts a lab and waits until it answers. Ends with a clear error where the machine cannot run one. */
export async function startLab(settings: Omit<LabSettings, 'program' | 'rootless'>): Promise<StartedLab> {
  if (!/^[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?$/.test(settings.name))
    throw new LabError(
      'bad-input',
      `"${settings.name}" cannot be a lab's name: up to 32 lower-case letters, digits and inner hyphens`,
    )
  const root = packageRoot()
  const holder = await launchHolder({
    name: settings.name,
    program: join(root, 'out/main/holder.cjs'),
    settings: {
      ...settings,
      rootless: process.getuid?.() !== 0,
      program: root,
    } satisfies LabSettings,
    detached: settings.detached,
  })
  const connection = connect(streamChannel(holder.output, holder.input))
  // Whatever comes first: an answer, or the end of the sandbox with its reason on stderr.
  const failure = holder.ended.then(async ({ code, signal, stderr }) => {
    throw await explainFailure(code, signal, stderr)
  })
  failure.catch(() => undefined)
  await Promise.race([
    connection.request('lab/status', {}).catch((error: unknown) => {
      if (error instanceof LabError && error.code === 'closed') return failure
      throw error
    }),
    failure,
  ])
  return { connection, holder }
}

async function explainFailure(code: number | null, signal: string | null, stderr: string): Promise<LabError> {
  const said = stderr.trim()
  if (/^(unshare|setpriv): /m.test(said) || /SystemCallError/.test(said))
    return new LabError(
      'unavailable',
      `this machine does not let a lab start. ${await explainStartFailure(said)}\n\`chainwalk doctor\` tries each part.`,
    )
  const fault = /^(?:\w*Error): (.*)$/m.exec(said)?.[1]
  if (/^\s*code: 'unavailable'/m.test(said) && fault) return new LabError('unavailable', fault)
  const how = signal ? `was ended by ${signal}` : `ended with ${code}`
  return new LabError('internal', `the lab ${how} before it was ready${said ? `:\n${said}` : ''}`)
}
