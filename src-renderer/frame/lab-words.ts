import type { LabStatus } from '../../src-main/contract/lab-contract.ts'
import type { Pod } from '../../src-main/domain/kubernetes/objects.ts'
import type { ConnectionState } from '../lab-state.svelte.ts'

export const counted = (count: number, one: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : `${one}s`}`

/** The top bar's line: `running · 3 nodes · 5 pods · 2 services`. */
export function labWords(state: ConnectionState, status: LabStatus | undefined): string {
  switch (state) {
    case 'connecting':
      return 'connecting'
    case 'lost':
      return 'no connection'
    case 'connected':
      if (!status) return 'running'
      return [
        'running',
        counted(status.nodes.length, 'node'),
        counted(status.pods, 'pod'),
        counted(status.services, 'service'),
      ].join(' · ')
    default:
      return state satisfies never
  }
}

/** How a lab that has gone comes back. A served page belongs to its server's run, the desktop's finds a lab by name. */
export function restartWords(desktop: boolean, lab: string | undefined): { command: string; after: string } {
  const name = lab === undefined || lab === 'lab' ? '' : ` --name ${lab}`
  return desktop
    ? { command: `chainwalk up --detach${name}`, after: 'this window finds it by itself' }
    : { command: `chainwalk serve${name}`, after: 'and open the link that it prints' }
}

export type PodState = 'ready' | 'not ready' | 'terminating' | 'pending'

export function podState({ status }: Pod): PodState {
  if (status.terminating) return 'terminating'
  if (status.podIPs.length === 0) return 'pending'
  return status.ready ? 'ready' : 'not ready'
}

/** What a pod's state means for the packets of a Service. */
export function podStateMeaning(state: PodState): string {
  switch (state) {
    case 'ready':
      return 'Services send new connections here.'
    case 'not ready':
      return 'It runs, but Services send it nothing: kube-proxy leaves it out of the rules.'
    case 'terminating':
      return 'It is on its way out: new connections go elsewhere as long as another endpoint is ready.'
    case 'pending':
      return 'It has no node or no address yet.'
    default:
      return state satisfies never
  }
}
