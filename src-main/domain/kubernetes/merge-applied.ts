import type { ClusterDraft } from './cluster-draft.ts'
import type { KubernetesObject, NodeObject, ObjectMeta, Pod } from './objects.ts'

/**
 * What the cluster stores when a person applies an object: the manifest's content with what only the cluster knows
 * (time of creation, owner, status, the node that was chosen).
 */
export function mergeApplied(draft: ClusterDraft, given: KubernetesObject, now: string): KubernetesObject {
  const { namespace, name } = given.metadata
  const live = draft.get(given.kind, namespace, name)
  const metadata = mergeMeta(given.metadata, live?.metadata, now)
  switch (given.kind) {
    case 'Node':
      return { ...given, ...mergeNode(draft, given, metadata) }
    case 'Pod':
      return { ...given, ...mergePod(draft, given), metadata: withOwners(metadata, live?.metadata) }
    case 'ReplicaSet':
      return { ...given, metadata: withOwners(metadata, live?.metadata) }
    case 'Namespace':
      return {
        ...given,
        metadata: { ...metadata, labels: { 'kubernetes.io/metadata.name': name, ...metadata.labels } },
      }
    case 'Deployment':
    case 'Service':
    case 'EndpointSlice':
    case 'Endpoints':
      return { ...given, metadata }
    default:
      return given satisfies never
  }
}

/** Owners are the controllers' business: a manifest's own (of some other cluster) would point to nothing here. */
function mergeMeta(given: ObjectMeta, live: ObjectMeta | undefined, now: string): ObjectMeta {
  const { ownerReferences: _, ...metadata } = given
  return { ...metadata, creationTimestamp: live?.creationTimestamp ?? now }
}

function withOwners(metadata: ObjectMeta, live: ObjectMeta | undefined): ObjectMeta {
  return live?.ownerReferences ? { ...metadata, ownerReferences: live.ownerReferences } : metadata
}

function mergePod(draft: ClusterDraft, given: Pod): Pick<Pod, 'spec' | 'status'> {
  const live = draft.get('Pod', given.metadata.namespace, given.metadata.name)
  if (live)
    return {
      spec: { ...given.spec, nodeName: live.spec.nodeName || given.spec.nodeName },
      status: live.status,
    }
  return { spec: given.spec, status: { podIPs: [], ready: false, terminating: false } }
}

/** A lab's node keeps its addresses and its own labels; a manifest adds labels and annotations. */
function mergeNode(draft: ClusterDraft, given: NodeObject, metadata: ObjectMeta): Omit<NodeObject, 'kind'> {
  const live = draft.get('Node', '', given.metadata.name)
  if (!live || draft.config.origin === 'manifests')
    return { metadata, spec: given.spec, status: given.status }
  return {
    metadata: {
      ...metadata,
      labels: { ...live.metadata.labels, ...metadata.labels },
      annotations: { ...live.metadata.annotations, ...metadata.annotations },
    },
    spec: live.spec,
    status: live.status,
  }
}
