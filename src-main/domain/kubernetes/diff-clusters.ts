import type { Cluster, ObjectOf } from './cluster-objects.ts'
import type { Kind } from './objects.ts'

/** Objects of one kind that differ between two clusters. */
export interface KindDiff<T> {
  readonly added: readonly T[]
  readonly removed: readonly T[]
  readonly changed: readonly { readonly before: T; readonly after: T }[]
}

export type ClusterDiff = { readonly [K in Kind]: KindDiff<ObjectOf<K>> }

/** What became of every kind between two values of one cluster; namespaces that were not written to cost nothing. */
export function diffClusters(before: Cluster, after: Cluster): ClusterDiff {
  return {
    Namespace: diffKind(before, after, 'Namespace'),
    Node: diffKind(before, after, 'Node'),
    Deployment: diffKind(before, after, 'Deployment'),
    ReplicaSet: diffKind(before, after, 'ReplicaSet'),
    Pod: diffKind(before, after, 'Pod'),
    Service: diffKind(before, after, 'Service'),
    EndpointSlice: diffKind(before, after, 'EndpointSlice'),
    Endpoints: diffKind(before, after, 'Endpoints'),
  }
}

/** The names (`namespace/name`) of Services that kube-proxy must look at again: changed themselves, or their slices. */
export function changedServiceNames(diff: ClusterDiff): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { metadata } of everyVersion(diff.Service)) names.add(`${metadata.namespace}/${metadata.name}`)
  for (const { metadata } of everyVersion(diff.EndpointSlice)) {
    const name = metadata.labels['kubernetes.io/service-name']
    if (name !== undefined) names.add(`${metadata.namespace}/${name}`)
  }
  return names
}

function everyVersion<T>(diff: KindDiff<T>): T[] {
  return [...diff.added, ...diff.removed, ...diff.changed.flatMap(({ before, after }) => [before, after])]
}

function diffKind<K extends Kind>(before: Cluster, after: Cluster, kind: K): KindDiff<ObjectOf<K>> {
  const added: ObjectOf<K>[] = []
  const removed: ObjectOf<K>[] = []
  const changed: { before: ObjectOf<K>; after: ObjectOf<K> }[] = []
  // The mapped type says the same, but TypeScript does not follow Extract through a generic index.
  const old = before.objects[kind] as unknown as ReadonlyMap<string, ReadonlyMap<string, ObjectOf<K>>>
  const fresh = after.objects[kind] as unknown as ReadonlyMap<string, ReadonlyMap<string, ObjectOf<K>>>
  if (old === fresh) return { added, removed, changed }
  for (const namespace of new Set([...old.keys(), ...fresh.keys()])) {
    const from = old.get(namespace)
    const to = fresh.get(namespace)
    if (from === to) continue
    for (const [name, object] of to ?? []) {
      const earlier = from?.get(name)
      if (!earlier) added.push(object)
      else if (earlier !== object) changed.push({ before: earlier, after: object })
    }
    for (const [name, object] of from ?? []) if (!to?.has(name)) removed.push(object)
  }
  return { added, removed, changed }
}
