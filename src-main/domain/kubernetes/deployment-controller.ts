import type { ClusterDraft } from './cluster-draft.ts'
import { displayName, templateHash } from './object-names.ts'
import type { Deployment, ReplicaSet } from './objects.ts'

/** Kubernetes' default revisionHistoryLimit. */
const keptOldReplicaSets = 10

/**
 * Gives every touched Deployment one ReplicaSet for its template (`web-7b59c6d8f4`) with all replicas, and sets its
 * older ones to none; removes what a removed Deployment owned. A template change takes effect at once.
 */
export function reconcileDeployments(draft: ClusterDraft, now: string): void {
  for (const { namespace, name } of dirtyDeployments(draft)) {
    const deployment = draft.get('Deployment', namespace, name)
    const owned = draft.ownedBy('ReplicaSet', namespace, { kind: 'Deployment', name })
    if (!deployment) {
      for (const replicaSet of owned)
        draft.remove({ kind: 'ReplicaSet', namespace, name: replicaSet.metadata.name })
      continue
    }
    const wanted = buildReplicaSet(deployment, now)
    const old = owned.filter((each) => each.metadata.name !== wanted.metadata.name)
    for (const replicaSet of old) {
      if (replicaSet.spec.replicas > 0) draft.put(withReplicas(replicaSet, 0))
    }
    for (const replicaSet of old.slice(0, Math.max(0, old.length - keptOldReplicaSets))) {
      draft.remove({ kind: 'ReplicaSet', namespace, name: replicaSet.metadata.name })
    }
    const current = draft.get('ReplicaSet', namespace, wanted.metadata.name)
    if (!current) draft.put(wanted)
    else if (!current.metadata.ownerReferences?.some((owner) => owner.name === name)) {
      draft.report(
        'warning',
        { kind: 'Deployment', namespace, name },
        '',
        `ReplicaSet "${displayName(namespace, current.metadata.name)}" has the name that this Deployment needs; rename it`,
      )
    } else if (current.spec.replicas !== deployment.spec.replicas) {
      draft.put(withReplicas(current, deployment.spec.replicas))
    }
  }
}

/** The ReplicaSet that runs a Deployment's template; all old ones of the Deployment are at 0 replicas. */
export function replicaSetName(deployment: Deployment): string {
  return `${deployment.metadata.name}-${templateHash(deployment.spec.template)}`
}

function dirtyDeployments(draft: ClusterDraft): { namespace: string; name: string }[] {
  const dirty = new Map<string, { namespace: string; name: string }>()
  const add = (namespace: string, name: string) => dirty.set(`${namespace}/${name}`, { namespace, name })
  for (const { namespace, name } of draft.touched('Deployment')) add(namespace, name)
  for (const { namespace, name, before } of draft.touched('ReplicaSet')) {
    const replicaSet = draft.get('ReplicaSet', namespace, name) ?? before
    for (const owner of replicaSet?.metadata.ownerReferences ?? []) add(namespace, owner.name)
  }
  return [...dirty.values()]
}

function buildReplicaSet(deployment: Deployment, now: string): ReplicaSet {
  const { metadata, spec } = deployment
  const hash = { 'pod-template-hash': templateHash(spec.template) }
  const labels = { ...spec.template.metadata.labels, ...hash }
  return {
    kind: 'ReplicaSet',
    metadata: {
      name: replicaSetName(deployment),
      namespace: metadata.namespace,
      labels,
      annotations: metadata.annotations,
      creationTimestamp: now,
      ownerReferences: [{ kind: 'Deployment', name: metadata.name }],
    },
    spec: {
      replicas: spec.replicas,
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, ...hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  }
}

function withReplicas(replicaSet: ReplicaSet, replicas: number): ReplicaSet {
  return { ...replicaSet, spec: { ...replicaSet.spec, replicas } }
}
