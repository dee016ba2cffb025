import { allocateServices } from './allocate-service.ts'
import { checkApplied } from './check-applied.ts'
import { ClusterDraft } from './cluster-draft.ts'
import { builtInNamespaces, type Cluster, type Source } from './cluster-objects.ts'
import { mergeApplied } from './merge-applied.ts'
import { displayName, type ObjectKey, type ObjectRef, objectKey } from './object-names.ts'
import type { Kind, KubernetesObject, Service } from './objects.ts'
import type { Problem } from './problem.ts'
import { reconcileDraft } from './reconcile.ts'
import { resourceNames } from './resource-names.ts'
import { isSameValue } from './same-value.ts'
import { warnAboutSelectors } from './selector-warnings.ts'

/** An object out of a manifest, and where it stands there. */
export interface AppliedObject extends Source {
  readonly object: KubernetesObject
}

/** What parseManifests gives, as applyObjects takes it. */
export function appliedObjects(parsed: {
  readonly objects: readonly KubernetesObject[]
  readonly sources: readonly Source[]
}): AppliedObject[] {
  return parsed.objects.map((object, index) => ({
    object,
    ...(parsed.sources[index] ?? { file: '', line: 0 }),
  }))
}

/** What kubectl says of one object: `service/web created`. */
export interface ObjectChange extends ObjectRef {
  readonly verb: 'created' | 'configured' | 'unchanged' | 'deleted' | 'scaled'
}

/** The next cluster, what became of each object that was named, and what to tell the person. */
export interface ClusterResult {
  readonly cluster: Cluster
  readonly changes: readonly ObjectChange[]
  readonly problems: readonly Problem[]
}

/** What a person can do to a pod by hand. A terminating pod cannot come back; `ready` then only means serving. */
export type PodCondition = 'ready' | 'not-ready' | 'terminating' | 'deleted'

/** All or nothing: with any error the cluster comes back as it was, with all problems. `now` is RFC 3339. */
export function applyObjects(cluster: Cluster, items: readonly AppliedObject[], now: string): ClusterResult {
  const draft = new ClusterDraft(cluster)
  const applied = withoutRepeats(draft, items)
  for (const { object, file, line } of applied) {
    const ref = refOf(object)
    if (!isSameValue(draft.source(ref), { file, line })) draft.setSource(ref, { file, line })
  }
  const objects = applied.map(({ object }) => object)
  checkApplied(draft, objects)
  const changes: ObjectChange[] = []
  for (const [index, merged] of mergeAll(draft, objects, now).entries()) {
    const ref = refOf(objects[index] ?? merged)
    const live = draft.get(ref.kind, ref.namespace, ref.name)
    const isSame = live !== undefined && isSameValue(live, merged)
    changes.push({ verb: !live ? 'created' : isSame ? 'unchanged' : 'configured', ...ref })
    if (!isSame) draft.put(merged)
  }
  if (draft.hasErrors()) return { cluster, changes: [], problems: draft.problems }
  const looked = new Set(reconcileDraft(draft, now))
  for (const object of objects) {
    const service =
      object.kind === 'Service' && draft.get('Service', object.metadata.namespace, object.metadata.name)
    if (service) looked.add(service)
  }
  warnAboutSelectors(draft, [...looked])
  return { cluster: draft.finish(), changes, problems: draft.problems }
}

/** Deletes what there is of the objects named, with what belongs to them; what there is not is an error each. */
export function deleteObjects(cluster: Cluster, refs: readonly ObjectRef[], now: string): ClusterResult {
  const draft = new ClusterDraft(cluster)
  const changes: ObjectChange[] = []
  for (const ref of refs) {
    const refusal = whyNotDeleted(draft, ref)
    if (refusal !== undefined) {
      draft.report('error', ref, '', refusal)
      continue
    }
    if (ref.kind === 'Namespace') removeContents(draft, ref.name)
    draft.remove(ref)
    changes.push({ verb: 'deleted', ...ref })
  }
  reconcileDraft(draft, now)
  return { cluster: draft.finish(), changes, problems: draft.problems }
}

/** Sets the replicas of a Deployment or ReplicaSet. */
export function scale(cluster: Cluster, ref: ObjectRef, replicas: number, now: string): ClusterResult {
  const draft = new ClusterDraft(cluster)
  const fail = (path: string, message: string): ClusterResult => {
    draft.report('error', ref, path, message)
    return { cluster, changes: [], problems: draft.problems }
  }
  if (ref.kind !== 'Deployment' && ref.kind !== 'ReplicaSet')
    return fail('', `a ${ref.kind} cannot be scaled`)
  const live = draft.get(ref.kind, ref.namespace, ref.name)
  if (!live) return fail('', notFound(ref))
  if (!Number.isInteger(replicas) || replicas < 0) {
    return fail('spec.replicas', `Invalid value: ${replicas}: must be greater than or equal to 0`)
  }
  if (live.spec.replicas !== replicas) draft.put({ ...live, spec: { ...live.spec, replicas } } as typeof live)
  reconcileDraft(draft, now)
  return { cluster: draft.finish(), changes: [{ verb: 'scaled', ...ref }], problems: draft.problems }
}

/** What a person does to one pod: its readiness, its end. */
export function setPodCondition(
  cluster: Cluster,
  pod: { readonly namespace: string; readonly name: string },
  condition: PodCondition,
  now: string,
): ClusterResult {
  const ref = { kind: 'Pod', namespace: pod.namespace, name: pod.name } as const
  if (condition === 'deleted') return deleteObjects(cluster, [ref], now)
  const draft = new ClusterDraft(cluster)
  const live = draft.get('Pod', pod.namespace, pod.name)
  if (!live) {
    draft.report('error', ref, '', notFound(ref))
    return { cluster, changes: [], problems: draft.problems }
  }
  if (condition === 'ready' && live.status.podIPs.length === 0) {
    draft.report('error', ref, '', 'the pod is Pending: it has no address yet, so it cannot be ready')
    return { cluster, changes: [], problems: draft.problems }
  }
  const status =
    condition === 'terminating'
      ? { ...live.status, terminating: true }
      : { ...live.status, ready: condition === 'ready' }
  const isSame = isSameValue(status, live.status)
  if (!isSame) draft.put({ ...live, status })
  reconcileDraft(draft, now)
  const change: ObjectChange = { verb: isSame ? 'unchanged' : 'configured', ...ref }
  return { cluster: draft.finish(), changes: [change], problems: draft.problems }
}

function withoutRepeats(draft: ClusterDraft, items: readonly AppliedObject[]): readonly AppliedObject[] {
  const last = new Map<ObjectKey, AppliedObject>()
  for (const item of items) {
    const ref = refOf(item.object)
    const key = objectKey(ref.kind, ref.namespace, ref.name)
    const earlier = last.get(key)
    if (earlier) {
      const { file, line } = item
      const name = displayName(ref.namespace, ref.name)
      const message = `is given twice; this one counts, not the one at ${earlier.file}:${earlier.line}`
      draft.problems.push({ severity: 'warning', file, line, kind: ref.kind, name, path: '', message })
    }
    last.set(key, item)
  }
  return [...last.values()]
}

/** Each object as the cluster will store it, in the given order. */
function mergeAll(
  draft: ClusterDraft,
  objects: readonly KubernetesObject[],
  now: string,
): KubernetesObject[] {
  const merged = objects.map((object) => mergeApplied(draft, object, now))
  const requests = merged.flatMap((given, index) => {
    if (given.kind !== 'Service') return []
    return [{ index, given, live: draft.get('Service', given.metadata.namespace, given.metadata.name) }]
  })
  if (requests.length === 0) return merged
  const replaced = new Set<Service | undefined>(requests.map(({ live }) => live))
  const others = [...draft.all('Service')].filter((service) => !replaced.has(service))
  const { services, problems } = allocateServices(requests, others, draft.config)
  for (const { index, severity, path, message } of problems) {
    const given = requests[index]?.given
    if (given) draft.report(severity, refOf(given), path, message)
  }
  services.forEach((service, index) => {
    const place = requests[index]?.index
    if (place !== undefined) merged[place] = service
  })
  return merged
}

function whyNotDeleted(draft: ClusterDraft, ref: ObjectRef): string | undefined {
  const { kind, namespace, name } = ref
  if (!draft.get(kind, namespace, name)) return notFound(ref)
  if (kind === 'Namespace' && builtInNamespaces.includes(name)) {
    return `namespaces "${name}" is forbidden: this namespace may not be deleted`
  }
  if (kind === 'Node' && draft.config.origin === 'lab') {
    return `nodes "${name}" cannot be deleted: a lab's nodes come from --workers`
  }
  return undefined
}

function removeContents(draft: ClusterDraft, namespace: string): void {
  for (const kind of Object.keys(resourceNames) as Kind[]) {
    if (!resourceNames[kind].isNamespaced) continue
    for (const name of [...draft.map(kind, namespace).keys()]) draft.remove({ kind, namespace, name })
  }
}

function notFound({ kind, name }: ObjectRef): string {
  return `${resourceNames[kind].qualified} "${name}" not found`
}

function refOf({ kind, metadata }: KubernetesObject): ObjectRef {
  return { kind, namespace: metadata.namespace, name: metadata.name }
}
