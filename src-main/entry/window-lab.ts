import { LabError } from '../contract/errors.ts'
import type { LabConnection } from '../contract/rpc.ts'
import { formatProblem } from '../domain/kubernetes/problem.ts'
import type { PausableChannel } from '../system/channel/pipe-channels.ts'
import { streamChannel } from '../system/channel/stream-channel.ts'
import { findLab, openLabSocket } from '../system/sandbox/find-labs.ts'
import { parseWorkers, startWithManifests, stop, type UpOptions } from './cli/commands/up.ts'
import { connectLab } from './cli/lab-client.ts'
import { readLabFiles } from './cli/read-manifests.ts'

export interface WindowLabOptions extends Omit<UpOptions, 'detach'> {
  readonly demoTraffic?: boolean
}

/** The lab behind a window: started for it, or one that was running before. */
export interface WindowLab {
  readonly name: string
  readonly isOurs: boolean
  readonly connection: LabConnection
  /** A new channel to the lab, for one page. */
  openChannel(): Promise<PausableChannel>
  /** Resolves when the lab has gone, with its last words. */
  readonly ended: Promise<string>
  /** Ends a lab that was started for the window; leaves another as it is. */
  close(): Promise<void>
}

/** Joins the running lab of that name, or starts one. Either way the files are applied to it. */
export async function openWindowLab(options: WindowLabOptions): Promise<WindowLab> {
  const { name } = options
  const { manifests, bundle } = readLabFiles(options.file ?? [])
  const isRunning = findLab(name) !== undefined
  const lab = isRunning
    ? await join(name, manifests)
    : await start(options, parseWorkers(options.workers ?? String(bundle?.workers ?? 2)), manifests)
  try {
    if (bundle) await lab.connection.request('rules/restore-hand-made', { rules: bundle.handMadeRules })
    if (options.demoTraffic) await lab.connection.request('traffic/set', { running: true })
  } catch (error) {
    await lab.close()
    throw error
  }
  return lab
}

type Manifests = ReturnType<typeof readLabFiles>['manifests']

async function start(
  { name, attachment, backend }: WindowLabOptions,
  workers: number,
  manifests: Manifests,
): Promise<WindowLab> {
  const started = await startWithManifests({ name, workers, attachment, backend, detached: false }, manifests)
  return {
    name,
    isOurs: true,
    connection: started.connection,
    openChannel: () => openChannel(name),
    ended: started.holder.ended.then(({ stderr }) => stderr.trim()),
    close: () => stop(started),
  }
}

async function join(name: string, manifests: Manifests): Promise<WindowLab> {
  const connection = await connectLab(name)
  const ended = new Promise<string>((resolve) => {
    connection.onClose(() => {
      resolve('')
    })
  })
  try {
    if (manifests.length > 0) {
      const { problems } = await connection.request('objects/apply', { manifests })
      for (const problem of problems) console.error(`warning: ${formatProblem(problem)}`)
    }
  } catch (error) {
    connection.close()
    throw error
  }
  return {
    name,
    isOurs: false,
    connection,
    openChannel: () => openChannel(name),
    ended,
    close: () => {
      connection.close()
      return Promise.resolve()
    },
  }
}

async function openChannel(name: string): Promise<PausableChannel> {
  const lab = findLab(name)
  if (!lab) throw new LabError('not-found', `the lab "${name}" has ended`)
  const socket = await openLabSocket(lab)
  return streamChannel(socket, socket)
}
