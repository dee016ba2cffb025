import type { Requests } from '../../src-main/contract/lab-contract.ts'
import type { Pod } from '../../src-main/domain/kubernetes/objects.ts'
import type { LabState } from '../lab-state.svelte.ts'

export type PodCondition = Requests['pods/set-condition']['params']['condition']

export const setPodCondition = (lab: LabState, pod: Pod, condition: PodCondition): Promise<void> =>
  lab.attempt((connection) =>
    connection.request('pods/set-condition', {
      namespace: pod.metadata.namespace,
      name: pod.metadata.name,
      condition,
    }),
  )
