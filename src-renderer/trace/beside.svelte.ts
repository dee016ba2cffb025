import type { LabState } from '../lab-state.svelte.ts'
import { perLab } from '../per-lab.svelte.ts'
import { CaptureSession } from './capture-session.svelte.ts'
import { LogSession } from './log-session.svelte.ts'

/** What can be looked at beside the picture of a trace. */
export const BESIDE_TABS = ['output', 'connections', 'capture', 'log'] as const
export type BesideTab = (typeof BESIDE_TABS)[number]

export const BESIDE_NAMES: Readonly<Record<BesideTab, { readonly name: string; readonly says: string }>> = {
  output: { name: 'Output', says: 'What the traced command printed' },
  connections: { name: 'Connections', says: 'The conntrack table of a node, live' },
  capture: { name: 'Capture', says: 'Packets on any link, as tcpdump prints them, to save as pcap' },
  log: { name: 'Log', says: 'What NFLOG rules report' },
}

/** The part under the trace's picture. It stays as it was left while other views are shown. */
export class Beside {
  tab = $state<BesideTab | undefined>()
  readonly capture: CaptureSession
  readonly log = new LogSession()

  constructor(lab: LabState) {
    this.capture = new CaptureSession(lab)
  }
}

export const beside = perLab((lab) => new Beside(lab))
