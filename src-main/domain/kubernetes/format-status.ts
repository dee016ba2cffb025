import type { Cluster } from './cluster-objects.ts'
import { replicaSetName } from './deployment-controller.ts'
import type { Deployment, Pod, ReplicaSet } from './objects.ts'

/** The counts in the status of a Deployment or ReplicaSet: its pods that are not terminating. */
export function formatReplicaStatus(
  cluster: Cluster,
  object: Deployment | ReplicaSet,
): Record<string, unknown> {
  const { namespace, name } = object.metadata
  const replicaSet = object.kind === 'Deployment' ? replicaSetName(object) : name
  const pods = [...(cluster.objects.Pod.get(namespace)?.values() ?? [])].filter(
    ({ metadata, status }) => !status.terminating && metadata.ownerReferences?.[0]?.name === replicaSet,
  )
  const ready = pods.filter(({ status }) => status.ready).length
  const counts = { replicas: pods.length, readyReplicas: ready, availableReplicas: ready }
  if (object.kind === 'ReplicaSet') return { ...counts, fullyLabeledReplicas: pods.length }
  return {
    ...counts,
    updatedReplicas: pods.length,
    unavailableReplicas: Math.max(0, object.spec.replicas - ready),
  }
}

/** A pod's status as far as the lab knows it. */
export function formatPodStatus({ spec, status }: Pod): Record<string, unknown> {
  const condition = (type: string, isTrue: boolean) => ({ type, status: isTrue ? 'True' : 'False' })
  return {
    phase: status.podIPs.length > 0 ? 'Running' : 'Pending',
    ...(status.terminating ? { reason: 'Terminating' } : {}),
    conditions: [
      condition('PodScheduled', spec.nodeName !== ''),
      condition('ContainersReady', status.ready),
      condition('Ready', status.ready),
    ],
    ...(status.podIPs[0] === undefined
      ? {}
      : { podIP: status.podIPs[0], podIPs: status.podIPs.map((ip) => ({ ip })) }),
  }
}
