import type { LabStatus, TargetId } from '../../src-main/contract/lab-contract.ts'
import type { Pod } from '../../src-main/domain/kubernetes/objects.ts'

export type TargetKind = 'client' | 'node' | 'pod'

export function targetKind(target: TargetId): TargetKind {
  if (target.startsWith('pod/')) return 'pod'
  return target.startsWith('node/') ? 'node' : 'client'
}

/** As the target is called on a tab: `client`, `worker1`, `web-7b59-bxcvs`. */
export const targetName = (target: TargetId): string => target.slice(target.lastIndexOf('/') + 1)

/** For narrow fields: pods of one Deployment differ in their last letters, which such a field would cut. */
export const shortName = (name: string): string =>
  name.length <= 14 ? name : `${name.slice(0, 6)}…${name.slice(-6)}`

export const podTarget = (pod: { namespace: string; name: string }): TargetId =>
  `pod/${pod.namespace}/${pod.name}`

export const nodeTarget = (node: string): TargetId => `node/${node}`

export interface TargetGroup {
  readonly kind: TargetKind
  readonly title: string
  readonly targets: readonly TargetId[]
}

/** Every place that a terminal can be opened in. Pods without an address are not running. */
export function listTargets(status: LabStatus | undefined, pods: readonly Pod[]): readonly TargetGroup[] {
  return [
    { kind: 'client', title: 'Outside', targets: ['client'] },
    {
      kind: 'node',
      title: 'Nodes',
      targets: (status?.nodes ?? []).map(({ name }) => nodeTarget(name)),
    },
    {
      kind: 'pod',
      title: 'Pods',
      targets: pods
        .filter(({ status: { podIPs } }) => podIPs.length > 0)
        .map(({ metadata }) => podTarget(metadata)),
    },
  ]
}
