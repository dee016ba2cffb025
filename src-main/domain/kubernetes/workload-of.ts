import type { ClusterDraft } from './cluster-draft.ts'
import type { ObjectRef } from './object-names.ts'
import type { Pod } from './objects.ts'

/** What a person would mend about a pod: the Deployment or ReplicaSet that it comes from, else the pod itself. */
export function workloadOf(draft: ClusterDraft, pod: Pod): ObjectRef {
  const { namespace, name } = pod.metadata
  const replicaSet = pod.metadata.ownerReferences?.[0]
  if (!replicaSet) return { kind: 'Pod', namespace, name }
  const deployment = draft.get('ReplicaSet', namespace, replicaSet.name)?.metadata.ownerReferences?.[0]
  return deployment
    ? { kind: 'Deployment', namespace, name: deployment.name }
    : { kind: 'ReplicaSet', namespace, name: replicaSet.name }
}
