import type { ManifestFile } from '../../../contract/lab-contract.ts'
import { formatProblem } from '../../../domain/kubernetes/problem.ts'
import type { LabSettings } from '../../lab-settings.ts'
import { type StartedLab, startLab } from '../../start-lab.ts'
import { CommandFailure, EXIT } from '../exit-status.ts'
import { withProgress } from '../progress.ts'
import { readLabFiles } from '../read-manifests.ts'

export interface UpOptions {
  readonly name: string
  readonly workers?: string
  readonly detach?: boolean
  readonly file?: readonly string[]
  readonly attachment: 'auto' | 'bridge' | 'routed'
  readonly backend: 'auto' | 'nft' | 'legacy'
}

const MAX_WORKERS = 250

export function parseWorkers(text: string): number {
  const workers = Number(text)
  if (!/^\d+$/.test(text) || workers < 1 || workers > MAX_WORKERS)
    throw new CommandFailure(EXIT.usage, `--workers ${text}: must be a number from 1 to ${MAX_WORKERS}`)
  return workers
}

/** Starts a lab with manifests applied. A refused manifest ends the lab again: nothing half-started stays. */
export async function startWithManifests(
  settings: Omit<LabSettings, 'program' | 'rootless'>,
  manifests: readonly ManifestFile[],
): Promise<StartedLab> {
  return withProgress('starting the lab', async (progress) => {
    const started = await startLab(settings)
    if (manifests.length === 0) return started
    started.connection.on('lab/progress', ({ text, done, total }) => {
      progress.update(total > 0 ? `${text} (${done} of ${total})` : text)
    })
    try {
      const { problems } = await started.connection.request('objects/apply', { manifests })
      for (const problem of problems) console.error(`warning: ${formatProblem(problem)}`)
      return started
    } catch (error) {
      await stop(started)
      throw error
    }
  })
}

export async function stop({ connection, holder }: StartedLab): Promise<void> {
  await connection.request('lab/stop', {}).catch(() => undefined) // it may be gone already
  await holder.ended
}

export async function up(options: UpOptions): Promise<void> {
  const { manifests, bundle } = readLabFiles(options.file ?? [])
  const workers = parseWorkers(options.workers ?? String(bundle?.workers ?? 2))
  const { name, attachment, backend } = options
  const started = await startWithManifests(
    { name, workers, attachment, backend, detached: options.detach === true },
    manifests,
  )
  if (bundle) await started.connection.request('rules/restore-hand-made', { rules: bundle.handMadeRules })
  const status = await started.connection.request('lab/status', {})
  const hint = name === 'lab' ? '' : ` --name ${name}`
  console.log(
    `lab "${name}" is running: ${status.nodes.length} nodes, ${status.pods} pods, ${status.services} services`,
  )
  if (options.detach) {
    console.error(`try: chainwalk get pod,svc${hint}    end it with: chainwalk down${hint}`)
    return
  }
  console.error(`try, in another terminal: chainwalk shell client${hint}    end the lab with Ctrl-C`)
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const asked = new Promise<'asked'>((resolve) => {
    for (const signal of signals)
      process.once(signal, () => {
        resolve('asked')
      })
  })
  const first = await Promise.race([asked, started.holder.ended])
  if (first === 'asked') {
    await stop(started)
    console.error(`lab "${name}" has ended`)
  } else if (first.code !== 0) {
    throw new CommandFailure(
      EXIT.failed,
      `the lab ended by itself (${first.signal ?? `status ${first.code}`})${first.stderr.trim() ? `:\n${first.stderr.trim()}` : ''}`,
    )
  }
}
