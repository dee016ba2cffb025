import type { ClusterDraft } from './cluster-draft.ts'
import { generateName, objectKey } from './object-names.ts'
import type { Pod, ReplicaSet } from './objects.ts'

/**
 * Makes and removes pods until every touched ReplicaSet has as many as it wants. A terminating pod is not counted:
 * it stays, beside its replacement, until somebody deletes it.
 */
export function reconcileReplicaSets(draft: ClusterDraft, now: string): void {
  const missing: { replicaSet: ReplicaSet; count: number }[] = []
  // All removals come before all additions, so that a new template's pods find the old ones' pinned addresses free.
  for (const { namespace, name } of dirtyReplicaSets(draft)) {
    const replicaSet = draft.get('ReplicaSet', namespace, name)
    const pods = draft.ownedBy('Pod', namespace, { kind: 'ReplicaSet', name })
    if (!replicaSet) {
      removePods(draft, pods)
      continue
    }
    const active = pods.filter((pod) => !pod.status.terminating)
    const surplus = active.length - replicaSet.spec.replicas
    if (surplus > 0) removePods(draft, selectVictims(active, surplus))
    if (surplus < 0) missing.push({ replicaSet, count: -surplus })
  }
  for (const { replicaSet, count } of missing) {
    for (let i = 0; i < count; i++) draft.put(buildPod(draft, replicaSet, now))
  }
}

/**
 * Which pods to give up, in Kubernetes' order: those without a node, then the not ready, then those that share their
 * node with most of their like, then the youngest. `pods` are oldest first.
 */
export function selectVictims(pods: readonly Pod[], count: number): readonly Pod[] {
  const onNode = new Map<string, number>()
  for (const { spec } of pods) onNode.set(spec.nodeName, (onNode.get(spec.nodeName) ?? 0) + 1)
  const ranked = pods.map((pod, age) => ({ pod, age, together: onNode.get(pod.spec.nodeName) ?? 0 }))
  ranked.sort(
    (a, b) =>
      Number(a.pod.spec.nodeName !== '') - Number(b.pod.spec.nodeName !== '') ||
      Number(a.pod.status.ready) - Number(b.pod.status.ready) ||
      b.together - a.together ||
      b.age - a.age,
  )
  return ranked.slice(0, count).map(({ pod }) => pod)
}

function dirtyReplicaSets(draft: ClusterDraft): { namespace: string; name: string }[] {
  const dirty = new Map<string, { namespace: string; name: string }>()
  for (const { namespace, name } of draft.touched('ReplicaSet'))
    dirty.set(`${namespace}/${name}`, { namespace, name })
  for (const { namespace, name, before } of draft.touched('Pod')) {
    const after = draft.get('Pod', namespace, name)
    // What does not change the number of pods does not concern their ReplicaSet.
    if (before && after && before.status.terminating === after.status.terminating) continue
    for (const owner of (after ?? before)?.metadata.ownerReferences ?? []) {
      dirty.set(`${namespace}/${owner.name}`, { namespace, name: owner.name })
    }
  }
  return [...dirty.values()]
}

function removePods(draft: ClusterDraft, pods: readonly Pod[]): void {
  for (const { metadata } of pods)
    draft.remove({ kind: 'Pod', namespace: metadata.namespace, name: metadata.name })
}

function buildPod(draft: ClusterDraft, replicaSet: ReplicaSet, now: string): Pod {
  const { name, namespace } = replicaSet.metadata
  const { template } = replicaSet.spec
  const serial = draft.nextPodSerial(objectKey('ReplicaSet', namespace, name))
  const isTaken = (podName: string) => draft.get('Pod', namespace, podName) !== undefined
  return {
    kind: 'Pod',
    metadata: {
      name: generateName(`${name}-`, `${namespace}/${name}/${serial}`, isTaken),
      namespace,
      labels: template.metadata.labels,
      annotations: template.metadata.annotations,
      creationTimestamp: now,
      ownerReferences: [{ kind: 'ReplicaSet', name }],
    },
    spec: template.spec,
    status: { podIPs: [], ready: false, terminating: false },
  }
}
