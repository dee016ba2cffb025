import type { ClusterDraft } from './cluster-draft.ts'
import { zoneLabel } from './cluster-objects.ts'
import {
  type EndpointGroup,
  endpointSliceController,
  groupEndpoints,
  mirroringController,
  planEndpointSlices,
  serviceNameLabel,
} from './endpoint-slices.ts'
import { LabelIndex, SelectorIndex } from './label-index.ts'
import { mirrorEndpoints } from './mirror-endpoints.ts'
import type { EndpointSlice, Pod, Service } from './objects.ts'
import { isSameValue } from './same-value.ts'
import { matchesSelector } from './select.ts'

/** For more Services than this an index over the namespace's pods is cheaper than looking through them each time. */
const indexWorthwhile = 32

/**
 * Makes the EndpointSlices of the Services that something touched: the Service, a pod that it selects or selected,
 * its Endpoints, a slice of it, or a Node. A Service for which a person brought slices gets none. Returns the
 * Services looked at.
 */
export function reconcileEndpointSlices(draft: ClusterDraft, now: string): Service[] {
  const looked: Service[] = []
  for (const [namespace, names] of dirtyServices(draft)) {
    const slices = slicesByService(draft, namespace, names)
    const selectPods = podSelection(draft, namespace, names.size)
    for (const name of names) {
      const service = draft.get('Service', namespace, name)
      const { given, made } = slices.get(name) ?? { given: [], made: [] }
      const wanted = service && given.length === 0 ? plan(draft, service, made, selectPods, now) : []
      const kept = new Set(wanted.map((slice) => slice.metadata.name))
      for (const { metadata } of made) {
        if (!kept.has(metadata.name)) draft.remove({ kind: 'EndpointSlice', namespace, name: metadata.name })
      }
      for (const slice of wanted) draft.put(slice)
      if (service) looked.push(service)
    }
  }
  return looked
}

/** Whether a person's manifest brought the slice: controllers' slices have an owner. */
export function isGivenSlice(slice: EndpointSlice): boolean {
  return (slice.metadata.ownerReferences?.length ?? 0) === 0
}

function plan(
  draft: ClusterDraft,
  service: Service,
  made: readonly EndpointSlice[],
  selectPods: (service: Service) => readonly Pod[],
  now: string,
): EndpointSlice[] {
  const { namespace, name } = service.metadata
  if (service.spec.type === 'ExternalName') return []
  const isTaken = (sliceName: string) => draft.get('EndpointSlice', namespace, sliceName) !== undefined
  const endpoints = draft.get('Endpoints', namespace, name)
  if (endpoints) {
    const groups = mirrorEndpoints(endpoints)
    return planEndpointSlices(service, groups, made, { now, managedBy: mirroringController, isTaken })
  }
  if (Object.keys(service.spec.selector).length === 0) return []
  const groups: EndpointGroup[] = groupEndpoints(service, selectPods(service), (nodeName) =>
    zoneOf(draft, nodeName),
  )
  return planEndpointSlices(service, groups, made, { now, managedBy: endpointSliceController, isTaken })
}

function zoneOf(draft: ClusterDraft, nodeName: string): string | undefined {
  return draft.get('Node', '', nodeName)?.metadata.labels[zoneLabel]
}

function dirtyServices(draft: ClusterDraft): Map<string, Set<string>> {
  const dirty = new Map<string, Set<string>>()
  const add = (namespace: string, name: string) => {
    const names = dirty.get(namespace)
    if (names) names.add(name)
    else dirty.set(namespace, new Set([name]))
  }
  for (const { namespace, name } of draft.touched('Service')) add(namespace, name)
  for (const { namespace, name } of draft.touched('Endpoints')) add(namespace, name)
  for (const { namespace, name, before } of draft.touched('EndpointSlice')) {
    for (const slice of [before, draft.get('EndpointSlice', namespace, name)]) {
      const owner = slice?.metadata.labels[serviceNameLabel]
      if (owner !== undefined) add(namespace, owner)
    }
  }
  for (const { namespace, name, before } of draft.touched('Pod')) {
    const after = draft.get('Pod', namespace, name)
    const services = selectorIndex(draft.map('Service', namespace))
    const labels = [before?.metadata.labels, after?.metadata.labels]
    const distinct = isSameValue(labels[0], labels[1]) ? labels.slice(1) : labels
    for (const each of distinct) {
      for (const service of services.matching(each ?? {})) add(namespace, service.metadata.name)
    }
  }
  if (zonesChanged(draft))
    for (const { metadata } of draft.all('Service')) add(metadata.namespace, metadata.name)
  return dirty
}

function zonesChanged(draft: ClusterDraft): boolean {
  return draft
    .touched('Node')
    .some(({ name, before }) => before?.metadata.labels[zoneLabel] !== zoneOf(draft, name))
}

const selectorIndexes = new WeakMap<ReadonlyMap<string, Service>, SelectorIndex<Service>>()

/** Kept for as long as the map lives: no Service is written any more once the controllers run. */
function selectorIndex(services: ReadonlyMap<string, Service>): SelectorIndex<Service> {
  let index = selectorIndexes.get(services)
  if (!index) {
    index = new SelectorIndex(services.values(), (service) => service.spec.selector)
    selectorIndexes.set(services, index)
  }
  return index
}

function podSelection(
  draft: ClusterDraft,
  namespace: string,
  services: number,
): (service: Service) => readonly Pod[] {
  const pods = draft.map('Pod', namespace)
  if (services > indexWorthwhile) {
    const index = new LabelIndex(pods.values(), (pod) => pod.metadata.labels)
    return (service) => index.select(service.spec.selector)
  }
  return (service) =>
    [...pods.values()].filter((pod) => matchesSelector(service.spec.selector, pod.metadata.labels))
}

interface ServiceSlices {
  readonly given: EndpointSlice[]
  readonly made: EndpointSlice[]
}

function slicesByService(
  draft: ClusterDraft,
  namespace: string,
  services: ReadonlySet<string>,
): Map<string, ServiceSlices> {
  const found = new Map<string, ServiceSlices>()
  for (const slice of draft.map('EndpointSlice', namespace).values()) {
    const name = slice.metadata.labels[serviceNameLabel]
    if (name === undefined || !services.has(name)) continue
    const slices = found.get(name) ?? { given: [], made: [] }
    slices[isGivenSlice(slice) ? 'given' : 'made'].push(slice)
    found.set(name, slices)
  }
  return found
}
