import type { CaptureState } from '../../src-main/contract/lab-contract.ts'
import type { LabConnection } from '../../src-main/contract/rpc.ts'
import { messageOf } from '../frame/message-of.ts'
import type { LabState } from '../lab-state.svelte.ts'
import { saveFile } from '../save-file.ts'
import { bytesOf } from './base64.ts'
import { KeptLines } from './kept-lines.ts'
import { StreamText } from './stream-text.ts'

/** Lines on the page; the file has every packet. */
const KEPT = 400

/** One packet capture after the other. It goes on while other views are shown. */
export class CaptureSession {
  host = $state('client')
  link = $state('eth0')
  /** A pcap expression; empty for every packet. */
  filter = $state('')
  phase = $state<'idle' | 'starting' | 'running' | 'ended'>('idle')
  /** Where the shown capture was or is made: `worker1 eth0`. */
  place = $state('')
  lines = $state.raw<readonly string[]>([])
  isShortened = $state(false)
  /** Known when it has ended. */
  state = $state.raw<CaptureState | undefined>()
  problem = $state<string | undefined>()

  readonly #lab: LabState
  /** What the window has of the lab now; the packets stay in the lab for this connection alone. */
  #capture = $state.raw<{ readonly id: number; readonly connection: LabConnection } | undefined>()
  #text: StreamText | undefined

  constructor(lab: LabState) {
    this.#lab = lab
  }

  readonly isBusy = $derived(this.phase === 'starting' || this.phase === 'running')
  readonly canSave = $derived.by(
    () => this.#capture !== undefined && this.#capture.connection === this.#lab.connection,
  )

  /** Never rejects. */
  async start(): Promise<void> {
    const { connection } = this.#lab
    if (!connection || this.isBusy) return
    const { host, link } = this
    const kept = new KeptLines(KEPT)
    this.phase = 'starting'
    this.place = `${host.slice(host.lastIndexOf('/') + 1)} ${link}`
    this.lines = []
    this.isShortened = false
    this.state = undefined
    this.problem = undefined
    this.#capture = undefined
    const text = new StreamText(connection, {
      output: (piece) => {
        kept.add(piece)
        this.lines = kept.lines
        this.isShortened = kept.isShortened
      },
      ended: () => undefined, // `capture/ended` says more
    })
    this.#text?.leave()
    this.#text = text
    let capture: number | undefined
    const stopListening = connection.on('capture/ended', (state) => {
      if (state.capture !== capture) return
      stopListening()
      this.#end(state)
    })
    connection.onClose(() => {
      stopListening()
      if (this.#text !== text || !this.isBusy) return
      this.problem = 'The lab was lost while the capture ran.'
      this.#end(undefined)
    })
    try {
      const started = await connection.request('capture/start', { host, link, filter: this.filter.trim() })
      capture = started.capture
      this.#capture = { id: capture, connection }
      this.phase = 'running'
      text.begin(started.stream)
    } catch (error) {
      stopListening()
      text.leave()
      this.problem ??= messageOf(error)
      this.phase = 'ended'
    }
  }

  async stop(): Promise<void> {
    const capture = this.#capture
    if (!capture) return
    try {
      this.#end(await capture.connection.request('capture/stop', { capture: capture.id }))
    } catch (error) {
      this.problem ??= messageOf(error)
    }
  }

  /** Hands the packets so far to the person as a pcap file; answers its name. Rejects as the lab refuses. */
  async save(): Promise<string> {
    const capture = this.#capture
    if (!capture) throw new Error('there is no capture')
    const { pcap } = await capture.connection.request('capture/pcap', { capture: capture.id })
    const name = `chainwalk-${this.place.replaceAll(/[^\w.-]+/g, '-')}.pcap`
    saveFile(new Blob([bytesOf(pcap)], { type: 'application/vnd.tcpdump.pcap' }), name)
    return name
  }

  #end(state: CaptureState | undefined): void {
    this.phase = 'ended'
    if (state) this.state = state
  }
}
