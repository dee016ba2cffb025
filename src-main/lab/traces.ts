import { LabError } from '../contract/errors.ts'
import type { Client } from '../contract/rpc.ts'
import type { HostId } from '../domain/topology/plan-network.ts'
import type { TraceResult } from '../domain/trace/journey.ts'
import type { Where } from '../system/command/run-command.ts'
import type { Lab } from './lab.ts'
import { TaggedLaunch } from './trace-launch.ts'
import { TraceRun } from './trace-run.ts'

/** Starts the command, with these words before its own and this in its environment; returns its stream. */
type StartCommand = (words: readonly string[], env: Readonly<Record<string, string>>) => number

/** The lab's trace, one at a time: two would switch off each other's packets. */
export class Traces {
  readonly #lab: Lab
  #running: { readonly id: number; readonly run: Promise<TraceRun>; isAbandoned: boolean } | undefined
  /** Settles when a trace whose client has gone is over: it is in nobody's way. */
  #ending: Promise<void> = Promise.resolve()
  #last = 0

  constructor(lab: Lab) {
    this.#lab = lab
  }

  async start(
    client: Client,
    target: HostId,
    startCommand: StartCommand,
  ): Promise<{ trace: number; stream: number }> {
    let isGone = false
    client.onGone(() => {
      isGone = true
    })
    await this.#ending
    if (isGone) throw new LabError('closed', 'the client has gone')
    if (this.#running)
      throw new LabError('conflict', 'another trace is running in this lab; try again when it has ended')
    this.#last += 1
    const id = this.#last
    const launch = new TaggedLaunch()
    const stream = startCommand(launch.words, launch.env)
    const run = this.#open(target, launch)
    const running = { id, run, isAbandoned: false }
    this.#running = running
    client.onGone(() => {
      this.#ending = this.#abandon(id)
    })
    try {
      await run
      if (running.isAbandoned) throw new LabError('closed', 'the client has gone')
      launch.release()
      return { trace: id, stream }
    } catch (error) {
      this.#lab.streams.kill(stream, 'SIGKILL')
      launch.release()
      await this.#abandon(id)
      throw error
    }
  }

  async #open(target: HostId, launch: TaggedLaunch): Promise<TraceRun> {
    const where: Where = (work) => this.#lab.network.inNetwork(target, work)
    const match = (await launch.tag(where)) ? launch.match : undefined
    return await TraceRun.open(this.#lab, target, match)
  }

  async stop(id: number): Promise<TraceResult> {
    const running = this.#running
    if (running?.id !== id) throw new LabError('not-found', `trace ${id} has ended`)
    const run = await running.run
    try {
      return await run.finish()
    } finally {
      if (this.#running === running) this.#running = undefined
    }
  }

  async #abandon(id: number): Promise<void> {
    const running = this.#running
    if (running?.id !== id) return
    running.isAbandoned = true // at once: a start that is under way must not let the command begin
    try {
      await (await running.run).close()
    } catch {
      // It did not start, and has said so to whoever asked for it.
    }
    if (this.#running === running) this.#running = undefined
  }
}
