import { type Cluster, getObject, listObjects, type ObjectOf } from './cluster-objects.ts'
import { serviceNameLabel } from './endpoint-slices.ts'
import { deriveEndpoints } from './mirror-endpoints.ts'
import { addValue } from './multi-map.ts'
import type { EndpointSlice, Endpoints, Kind } from './objects.ts'

/**
 * What `get` shows of a kind: the objects that there are, and for Endpoints also those that a cluster would keep
 * beside the EndpointSlices of every Service with a selector. Without a namespace, of all namespaces.
 */
export function listShown<K extends Kind>(
  cluster: Cluster,
  kind: K,
  namespace?: string,
): readonly ObjectOf<K>[] {
  if (kind !== 'Endpoints') return listObjects(cluster, kind, namespace)
  return listEndpoints(cluster, namespace) as readonly ObjectOf<K>[]
}

function listEndpoints(cluster: Cluster, namespace: string | undefined): readonly Endpoints[] {
  const slices = new Map<string, EndpointSlice[]>()
  for (const slice of listObjects(cluster, 'EndpointSlice', namespace)) {
    const service = `${slice.metadata.namespace}/${slice.metadata.labels[serviceNameLabel] ?? ''}`
    addValue(slices, service, slice)
  }
  const derived = listObjects(cluster, 'Service', namespace).flatMap((service) => {
    const { metadata, spec } = service
    const hasSelector = spec.type !== 'ExternalName' && Object.keys(spec.selector).length > 0
    if (!hasSelector || getObject(cluster, 'Endpoints', metadata.namespace, metadata.name)) return []
    return [deriveEndpoints(service, slices.get(`${metadata.namespace}/${metadata.name}`) ?? [])]
  })
  return [...listObjects(cluster, 'Endpoints', namespace), ...derived].sort((a, b) => {
    const left = `${a.metadata.namespace}/${a.metadata.name}`
    const right = `${b.metadata.namespace}/${b.metadata.name}`
    return left < right ? -1 : left > right ? 1 : 0
  })
}
