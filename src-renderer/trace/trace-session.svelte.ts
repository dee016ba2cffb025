import { askPrediction } from '../../src-main/contract/ask-prediction.ts'
import type { TargetId } from '../../src-main/contract/lab-contract.ts'
import type { Hop, Journey, TraceResult } from '../../src-main/domain/trace/journey.ts'
import { type LabHosts, labHosts } from '../../src-main/domain/trace/lab-hosts.ts'
import type { Prediction } from '../../src-main/domain/trace/predict-ways.ts'
import { messageOf } from '../frame/message-of.ts'
import type { LabState } from '../lab-state.svelte.ts'
import { perLab } from '../per-lab.svelte.ts'
import { CommandRun } from './command-run.ts'
import { compareWays } from './compare-ways.ts'
import { dnatStep } from './hop-words.ts'
import { journeyLanes } from './journey-lanes.ts'
import { hopHeaders } from './packet-header.ts'
import type { StreamEnd } from './stream-text.ts'

export type TracePhase = 'idle' | 'starting' | 'running' | 'collecting' | 'done' | 'failed'

/** What the command printed is kept up to so many characters, the last ones. */
const KEPT_OUTPUT = 20_000

const NO_HOSTS: LabHosts = new Map()

/** Long enough to read what a step changes. */
const PLAY_MS = 900

/** What was asked, so that a result says it whatever the form holds by now. */
interface Asked {
  readonly target: TargetId
  readonly command: string
}

/** One trace after the other, and the step that is looked at; it stays while other views are shown. */
export class TraceSession {
  target = $state<TargetId>('client')
  command = $state('')
  phase = $state<TracePhase>('idle')
  asked = $state.raw<Asked | undefined>()
  output = $state('')
  end = $state.raw<StreamEnd | undefined>()
  result = $state.raw<TraceResult | undefined>()
  /** Why there is no trace. */
  problem = $state<string | undefined>()
  prediction = $state.raw<Prediction | undefined>()
  predictedFor = $state.raw<Asked | undefined>()
  isPredicting = $state(false)
  predictionProblem = $state<string | undefined>()
  shows = $state<'trace' | 'prediction'>('trace')
  /** From 0 in the shown journeys. */
  journeyAt = $state(0)
  /** From 0 in its hops. */
  stepAt = $state(0)
  playing = $state(false)

  readonly #lab: LabState
  #run: CommandRun | undefined
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(lab: LabState) {
    this.#lab = lab
  }

  readonly isBusy = $derived(
    this.phase === 'starting' || this.phase === 'running' || this.phase === 'collecting',
  )
  readonly journeys: readonly Journey[] = $derived(
    this.shows === 'prediction'
      ? (this.prediction?.ways ?? []).map(({ journey }) => journey)
      : (this.result?.journeys ?? []),
  )
  readonly journey = $derived(this.journeys[this.journeyAt])
  readonly hop: Hop | undefined = $derived(this.journey?.hops[this.stepAt])
  readonly headers = $derived(hopHeaders(this.journey?.hops ?? []))
  readonly hosts = $derived.by(() => {
    const { status, pods } = this.#lab
    return status ? labHosts(status, pods) : NO_HOSTS
  })
  readonly lanes = $derived(this.journey ? journeyLanes(this.journey, this.hosts) : [])
  /** Of the prediction that was made for this very trace. */
  readonly comparison = $derived(
    this.shows === 'trace' && this.journey && this.prediction && isSameAsked(this.predictedFor, this.asked)
      ? compareWays(this.prediction, this.journey)
      : undefined,
  )

  /** Runs the command and traces its packets; never rejects. */
  async trace(): Promise<void> {
    const { connection } = this.#lab
    const command = this.command.trim()
    if (!connection || command === '' || this.isBusy) return
    this.asked = { target: this.target, command }
    this.phase = 'starting'
    this.output = ''
    this.end = undefined
    this.problem = undefined
    this.result = undefined
    this.shows = 'trace'
    this.pause()
    const run = new CommandRun(connection, {
      started: () => {
        this.phase = 'running'
      },
      output: (text) => {
        this.output = (this.output + text).slice(-KEPT_OUTPUT)
      },
      ended: (end) => {
        this.end = end
        this.phase = 'collecting'
      },
    })
    this.#run = run
    try {
      this.result = await run.trace(this.target, command)
      this.phase = 'done'
      this.#select(0, 0)
    } catch (error) {
      this.problem =
        this.#lab.connection === connection ? messageOf(error) : 'The lab was lost while the trace ran.'
      this.phase = 'failed'
    } finally {
      this.#run = undefined
    }
  }

  async stop(): Promise<void> {
    this.phase = 'collecting'
    await this.#run?.stop().catch(() => undefined) // the run itself tells a lost lab
  }

  /** Works out the ways of the command's first packet from the rules as they are now; never rejects. */
  async predict(): Promise<void> {
    const { connection, status, pods, services, endpointSlices } = this.#lab
    const asked = { target: this.target, command: this.command.trim() }
    if (!connection || !status || asked.command === '' || this.isPredicting) return
    this.predictionProblem = undefined
    this.shows = 'prediction'
    this.pause()
    this.isPredicting = true
    try {
      const found = await askPrediction(connection, { status, pods, services, endpointSlices }, asked)
      if ('problem' in found) {
        this.prediction = undefined
        this.predictionProblem = found.problem
      } else {
        this.prediction = found
        this.predictedFor = asked
        this.#select(0, 0)
      }
    } catch (error) {
      this.prediction = undefined
      this.predictionProblem = messageOf(error)
    } finally {
      this.isPredicting = false
    }
  }

  show(what: 'trace' | 'prediction'): void {
    this.shows = what
    this.pause()
    this.#select(0, 0)
  }

  goTo(step: number): void {
    this.#select(this.journeyAt, Math.max(0, Math.min(step, this.#lastStep)))
  }

  goToJourney(at: number, step = 0): void {
    if (at < 0 || at >= this.journeys.length) return
    this.pause()
    this.#select(at, step)
  }

  /** To the hop that a finding names. */
  goToHop(journey: number, hop: number): void {
    const at = this.result?.journeys.findIndex(({ id }) => id === journey) ?? -1
    this.shows = 'trace'
    this.goToJourney(at, hop)
  }

  togglePlay(): void {
    if (this.playing) {
      this.pause()
      return
    }
    if (this.stepAt >= this.#lastStep) this.goTo(0)
    this.playing = true
    this.#timer = setInterval(() => {
      if (this.stepAt < this.#lastStep) this.goTo(this.stepAt + 1)
      else this.pause()
    }, PLAY_MS)
  }

  pause(): void {
    this.playing = false
    clearInterval(this.#timer)
  }

  get #lastStep(): number {
    return (this.journey?.hops.length ?? 0) - 1
  }

  goToDnat(): void {
    const at = dnatStep(this.journey?.hops ?? [])
    if (at !== undefined) this.goTo(at)
  }

  #select(journey: number, step: number): void {
    this.journeyAt = journey
    this.stepAt = step
    this.point()
  }

  /** Makes the step what the window has picked, for inspector, Path and Rules. */
  point(): void {
    const { hop } = this
    if (!hop) return
    const { node, hook, table, chain, rule } = hop
    this.#lab.node = node
    this.#lab.selection = { kind: 'step', node, hook, table, chain, number: rule ?? 0 }
  }
}

const isSameAsked = (a: Asked | undefined, b: Asked | undefined): boolean =>
  a !== undefined && a.target === b?.target && a.command === b.command

export const traceSession = perLab((lab) => new TraceSession(lab))
