import type { LabStatus, TargetId } from '../../src-main/contract/lab-contract.ts'
import type { Service } from '../../src-main/domain/kubernetes/objects.ts'
import { waysIn } from '../frame/service-words.ts'
import { targetKind, targetName } from '../terminal/target-words.ts'

export interface TracePreset {
  /** `http-svc: cluster IP` */
  readonly name: string
  readonly command: string
}

/** A request that nobody answers ends before the learner's patience does. */
const patient = (command: string): string => command.replace(/^curl /, 'curl -sSm 3 ')

/** Requests that a host can send to the lab's Services, the usual ones of that host first. */
export function tracePresets(
  target: TargetId,
  services: readonly Service[],
  nodes: LabStatus['nodes'],
  shownNode: string,
): readonly TracePreset[] {
  const kind = targetKind(target)
  const node = kind === 'node' ? targetName(target) : shownNode
  const own = kind === 'client' ? 'client' : 'pod'
  const presets = services.flatMap((service) => {
    const { namespace, name } = service.metadata
    const shown = namespace === 'default' ? name : `${namespace}/${name}`
    return waysIn(service, nodes, node).map(({ from, over, command }) => ({
      from,
      preset: { name: `${shown}: ${over}`, command: patient(command) },
    }))
  })
  const isUsual = ({ from }: { readonly from: 'pod' | 'client' }): boolean => from === own
  const usual = presets.filter(isUsual)
  // Cluster IPs and names lead nowhere outside the cluster.
  const others = kind === 'client' ? [] : presets.filter((each) => !isUsual(each))
  return [...usual, ...others].map(({ preset }) => preset)
}
