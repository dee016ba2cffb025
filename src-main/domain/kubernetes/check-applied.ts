import type { ClusterDraft } from './cluster-draft.ts'
import { forbidden, invalidValue } from './field-messages.ts'
import type { ObjectRef } from './object-names.ts'
import type { Container, Deployment, KubernetesObject, Labels, Pod, ReplicaSet } from './objects.ts'
import { parsePinnedAddresses, podIpsAnnotation } from './pinned-addresses.ts'
import { resourceNames } from './resource-names.ts'
import { isSameValue } from './same-value.ts'
import { workloadOf } from './workload-of.ts'

/** Reports what keeps objects from being applied to this cluster, beyond what each is by itself. */
export function checkApplied(draft: ClusterDraft, objects: readonly KubernetesObject[]): void {
  const namespaces = new Set(draft.map('Namespace', '').keys())
  for (const object of objects) if (object.kind === 'Namespace') namespaces.add(object.metadata.name)
  for (const object of objects) {
    if (draft.config.origin === 'lab') {
      checkNamespace(draft, object, namespaces)
      checkNode(draft, object)
    }
    checkChange(draft, object)
  }
  checkPins(draft, objects)
}

function checkNamespace(
  draft: ClusterDraft,
  object: KubernetesObject,
  namespaces: ReadonlySet<string>,
): void {
  const { namespace } = object.metadata
  if (!resourceNames[object.kind].isNamespaced || namespaces.has(namespace)) return
  const hint = 'apply a Namespace of this name with it, or before it'
  draft.report('error', refOf(object), 'metadata.namespace', `namespaces "${namespace}" not found: ${hint}`)
}

function checkNode(draft: ClusterDraft, object: KubernetesObject): void {
  if (object.kind !== 'Node') return
  const { name } = object.metadata
  const live = draft.get('Node', '', name)
  if (!live) {
    const names = draft.config.nodes.map((node) => node.name)
    const known = names.length > 6 ? `${names.slice(0, 5).join(', ')}, … ${names.at(-1)}` : names.join(', ')
    const why = `this lab has no node "${name}", only ${known}`
    draft.report(
      'error',
      refOf(object),
      'metadata.name',
      `${why}; a lab's nodes come from --workers, not from manifests`,
    )
    return
  }
  const { podCIDRs } = object.spec
  if (podCIDRs.length > 0 && !isSameValue(podCIDRs, live.spec.podCIDRs)) {
    const kept = `the lab's node keeps ${live.spec.podCIDRs.join(', ')}; only labels and annotations are taken over`
    draft.report('warning', refOf(object), 'spec.podCIDRs', kept)
  }
}

function checkChange(draft: ClusterDraft, object: KubernetesObject): void {
  const { namespace, name } = object.metadata
  switch (object.kind) {
    case 'Deployment':
    case 'ReplicaSet': {
      const live = draft.get(object.kind, namespace, name)
      if (!live || isSameValue(live.spec.selector, object.spec.selector)) return
      draft.report(
        'error',
        refOf(object),
        'spec.selector',
        invalidValue(writtenSelector(object), 'field is immutable'),
      )
      return
    }
    case 'Pod': {
      const live = draft.get('Pod', namespace, name)
      if (live) checkPodChange(draft, live, object)
      return
    }
    case 'Endpoints': {
      const selector = draft.get('Service', namespace, name)?.spec.selector ?? {}
      if (Object.keys(selector).length > 0) warnOfSelector(draft, object)
      return
    }
    case 'Namespace':
    case 'Node':
    case 'Service':
    case 'EndpointSlice':
      return
    default:
      object satisfies never
  }
}

function checkPodChange(draft: ClusterDraft, live: Pod, given: Pod): void {
  const shape = (containers: readonly Container[]) => containers.map(({ name, ports }) => ({ name, ports }))
  const isSameSpec =
    isSameValue(shape(live.spec.containers), shape(given.spec.containers)) &&
    live.spec.hostNetwork === given.spec.hostNetwork &&
    (given.spec.nodeName === '' || given.spec.nodeName === live.spec.nodeName)
  if (!isSameSpec) {
    const detail =
      'pod updates may not change fields other than `spec.containers[*].image`; delete the pod first'
    draft.report('error', refOf(given), 'spec', forbidden(detail))
  }
  const pins = given.metadata.annotations[podIpsAnnotation]
  if (
    pins !== undefined &&
    pins !== live.metadata.annotations[podIpsAnnotation] &&
    live.status.podIPs.length > 0
  ) {
    const message = `the pod keeps ${live.status.podIPs.join(', ')} as long as it lives; delete it first`
    draft.report('warning', refOf(given), `metadata.annotations[${podIpsAnnotation}]`, message)
  }
}

function warnOfSelector(draft: ClusterDraft, object: KubernetesObject): void {
  const message =
    'the Service of this name has a selector: the lab uses these Endpoints instead, where a cluster would overwrite them'
  draft.report('warning', refOf(object), '', message)
}

function writtenSelector({ spec }: Deployment | ReplicaSet): unknown {
  const { matchLabels, matchExpressions } = spec.selector
  return matchExpressions.length > 0 ? { matchLabels, matchExpressions } : { matchLabels }
}

/** Pinned addresses must be addresses for pods that nobody else has or pins. */
function checkPins(draft: ClusterDraft, objects: readonly KubernetesObject[]): void {
  const pinning = objects.filter((object) => pinsOf(object)?.annotations[podIpsAnnotation] !== undefined)
  if (pinning.length === 0) return
  const holders = addressHolders(draft, pinning)
  for (const object of pinning) {
    const found = pinsOf(object)
    if (!found) continue
    const ref = refOf(object)
    const refuse = (message: string) =>
      draft.report('error', ref, `${found.path}[${podIpsAnnotation}]`, message)
    const { pins, errors } = parsePinnedAddresses(found.annotations, draft.config.nodes)
    for (const error of errors) refuse(error)
    const self = `${ref.kind} ${ref.namespace}/${ref.name}`
    for (const { address, nodeName } of pins) {
      const holder = holders.get(address)
      if (holder !== undefined && holder !== self) refuse(invalidValue(address, `is taken by ${holder}`))
      else holders.set(address, self)
      if (found.nodeName !== '' && found.nodeName !== nodeName) {
        refuse(invalidValue(address, `lies on node ${nodeName}, but nodeName says ${found.nodeName}`))
      }
    }
  }
}

/** Who has or pins which address, leaving out what the objects now applied pinned before. */
function addressHolders(draft: ClusterDraft, pinning: readonly KubernetesObject[]): Map<string, string> {
  const holders = new Map<string, string>()
  const replaced = new Set(
    pinning.map((object) => `${object.kind} ${object.metadata.namespace}/${object.metadata.name}`),
  )
  for (const pod of draft.all('Pod')) {
    const { kind, namespace, name } = workloadOf(draft, pod)
    for (const address of pod.status.podIPs) holders.set(address, `${kind} ${namespace}/${name}`)
  }
  for (const kind of ['Deployment', 'ReplicaSet', 'Pod'] as const) {
    for (const object of draft.all(kind)) {
      const holder = `${kind} ${object.metadata.namespace}/${object.metadata.name}`
      const found = pinsOf(object)
      if (!found || object.metadata.ownerReferences || replaced.has(holder)) continue
      if (found.annotations[podIpsAnnotation] === undefined) continue
      for (const { address } of parsePinnedAddresses(found.annotations, draft.config.nodes).pins) {
        if (!holders.has(address)) holders.set(address, holder)
      }
    }
  }
  return holders
}

function pinsOf(
  object: KubernetesObject,
): { annotations: Labels; path: string; nodeName: string } | undefined {
  switch (object.kind) {
    case 'Deployment':
    case 'ReplicaSet': {
      const { metadata, spec } = object.spec.template
      return {
        annotations: metadata.annotations,
        path: 'spec.template.metadata.annotations',
        nodeName: spec.nodeName,
      }
    }
    case 'Pod':
      return {
        annotations: object.metadata.annotations,
        path: 'metadata.annotations',
        nodeName: object.spec.nodeName,
      }
    default:
      return undefined
  }
}

function refOf({ kind, metadata }: KubernetesObject): ObjectRef {
  return { kind, namespace: metadata.namespace, name: metadata.name }
}
