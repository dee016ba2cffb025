import { stringify } from 'yaml'
import type { Cluster } from './cluster-objects.ts'
import { formatPodStatus, formatReplicaStatus } from './format-status.ts'
import type {
  Endpoint,
  EndpointPort,
  Endpoints,
  KubernetesObject,
  LabelSelector,
  Labels,
  ObjectMeta,
  PodSpec,
  PodTemplate,
  Service,
} from './objects.ts'
import { resourceNames } from './resource-names.ts'

/** Plain data with the API's field names, keys in alphabetical order as kubectl prints them. */
export type PlainObject = { [key: string]: unknown }

/**
 * An object in the shape of the Kubernetes API: what `-o json` and `-o yaml` print, and what parseManifests reads back.
 * With the cluster, Deployments and ReplicaSets carry the counts of their pods.
 */
export function formatObject(object: KubernetesObject, cluster?: Cluster): PlainObject {
  return sortKeys({
    apiVersion: resourceNames[object.kind].apiVersion,
    kind: object.kind,
    metadata: formatMetadata(object.metadata),
    ...formatContent(object, cluster),
  }) as PlainObject
}

/** The text of `-o yaml` or `-o json`: one object by itself, several (or a listing, even of none) as a List. */
export function formatObjects(
  objects: readonly KubernetesObject[],
  format: 'json' | 'yaml',
  options: { cluster?: Cluster; isListing?: boolean } = {},
): string {
  const items = objects.map((object) => formatObject(object, options.cluster))
  const isList = options.isListing ?? items.length !== 1
  const value = isList
    ? { apiVersion: 'v1', items, kind: 'List', metadata: { resourceVersion: '' } }
    : items[0]
  if (format === 'json') return `${JSON.stringify(value, null, 4)}\n`
  // Readers of YAML 1.1, kubectl among them, would take a bare `on` or `012` for something else than a string.
  return stringify(value, { version: '1.1', lineWidth: 0, indentSeq: false, aliasDuplicateObjects: false })
}

function formatContent(object: KubernetesObject, cluster: Cluster | undefined): PlainObject {
  switch (object.kind) {
    case 'Namespace':
      return { status: { phase: 'Active' } }
    case 'Node': {
      const { podCIDRs } = object.spec
      const ready = [{ type: 'Ready', status: 'True' }]
      return {
        spec: podCIDRs.length > 0 ? { podCIDR: podCIDRs[0], podCIDRs } : {},
        status: { addresses: object.status.addresses, conditions: ready },
      }
    }
    case 'Deployment':
    case 'ReplicaSet': {
      const { replicas, selector, template } = object.spec
      return {
        spec: { replicas, selector: formatSelector(selector), template: formatTemplate(template) },
        ...(cluster ? { status: formatReplicaStatus(cluster, object) } : {}),
      }
    }
    case 'Pod':
      return { spec: formatPodSpec(object.spec), status: formatPodStatus(object) }
    case 'Service':
      return formatService(object)
    case 'EndpointSlice':
      return {
        addressType: object.addressType,
        endpoints: object.endpoints.map(formatEndpoint),
        ports: object.ports.map(formatPort),
      }
    case 'Endpoints':
      return { subsets: formatSubsets(object) }
    default:
      return object satisfies never
  }
}

function formatMetadata(metadata: ObjectMeta): PlainObject {
  const { name, namespace, labels, annotations, creationTimestamp, ownerReferences } = metadata
  return {
    name,
    ...(namespace === '' ? {} : { namespace }),
    ...nonEmpty('labels', labels),
    ...nonEmpty('annotations', annotations),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    ...(ownerReferences && ownerReferences.length > 0
      ? {
          ownerReferences: ownerReferences.map(({ kind, name: owner }) => ({
            apiVersion: apiVersionOf(kind),
            kind,
            name: owner,
          })),
        }
      : {}),
  }
}

function apiVersionOf(kind: string): string {
  return Object.entries(resourceNames).find(([known]) => known === kind)?.[1].apiVersion ?? 'v1'
}

function formatTemplate({ metadata, spec }: PodTemplate): PlainObject {
  return {
    metadata: { ...nonEmpty('labels', metadata.labels), ...nonEmpty('annotations', metadata.annotations) },
    spec: formatPodSpec(spec),
  }
}

function formatPodSpec({ containers, nodeName, hostNetwork }: PodSpec): PlainObject {
  return {
    containers: containers.map(({ name, image, ports }) => ({
      name,
      image,
      ...(ports.length === 0
        ? {}
        : {
            ports: ports.map((port) => ({
              ...(port.name === '' ? {} : { name: port.name }),
              containerPort: port.containerPort,
              protocol: port.protocol,
            })),
          }),
    })),
    ...(nodeName === '' ? {} : { nodeName }),
    ...(hostNetwork ? { hostNetwork } : {}),
  }
}

function formatSelector({ matchLabels, matchExpressions }: LabelSelector): PlainObject {
  return {
    ...nonEmpty('matchLabels', matchLabels),
    ...(matchExpressions.length === 0
      ? {}
      : {
          matchExpressions: matchExpressions.map(({ key, operator, values }) => ({
            key,
            operator,
            ...(values.length === 0 ? {} : { values }),
          })),
        }),
  }
}

function formatService({ spec, status }: Service): PlainObject {
  const isExternalName = spec.type === 'ExternalName'
  const isBalanced = spec.type === 'LoadBalancer'
  const isExternal = isBalanced || spec.type === 'NodePort' || spec.externalIPs.length > 0
  return {
    spec: {
      type: spec.type,
      ...nonEmpty('selector', spec.selector),
      ...(spec.ports.length === 0
        ? {}
        : {
            ports: spec.ports.map((port) => ({
              ...(port.name === '' ? {} : { name: port.name }),
              protocol: port.protocol,
              port: port.port,
              targetPort: port.targetPort,
              ...(port.nodePort === 0 ? {} : { nodePort: port.nodePort }),
              ...(port.appProtocol === undefined ? {} : { appProtocol: port.appProtocol }),
            })),
          }),
      ...(spec.clusterIPs.length === 0 ? {} : { clusterIP: spec.clusterIPs[0], clusterIPs: spec.clusterIPs }),
      ...(spec.ipFamilies.length === 0 ? {} : { ipFamilies: spec.ipFamilies }),
      ...text('ipFamilyPolicy', spec.ipFamilyPolicy),
      ...(spec.externalIPs.length === 0 ? {} : { externalIPs: spec.externalIPs }),
      ...text('externalName', spec.externalName),
      ...(isExternal ? { externalTrafficPolicy: spec.externalTrafficPolicy } : {}),
      ...(isExternalName ? {} : { internalTrafficPolicy: spec.internalTrafficPolicy }),
      sessionAffinity: spec.sessionAffinity,
      ...(spec.sessionAffinity === 'ClientIP'
        ? { sessionAffinityConfig: { clientIP: { timeoutSeconds: spec.sessionAffinityTimeoutSeconds } } }
        : {}),
      ...text('loadBalancerIP', spec.loadBalancerIP),
      ...text('loadBalancerClass', spec.loadBalancerClass),
      ...(spec.loadBalancerSourceRanges.length === 0
        ? {}
        : { loadBalancerSourceRanges: spec.loadBalancerSourceRanges }),
      ...(isBalanced ? { allocateLoadBalancerNodePorts: spec.allocateLoadBalancerNodePorts } : {}),
      ...(spec.healthCheckNodePort === 0 ? {} : { healthCheckNodePort: spec.healthCheckNodePort }),
      ...(spec.publishNotReadyAddresses ? { publishNotReadyAddresses: true } : {}),
      ...text('trafficDistribution', spec.trafficDistribution),
    },
    status: {
      loadBalancer: status.loadBalancer.ingress.length === 0 ? {} : { ingress: status.loadBalancer.ingress },
    },
  }
}

function formatEndpoint(endpoint: Endpoint): PlainObject {
  return { ...endpoint }
}

function formatPort({ name, protocol, port }: EndpointPort): PlainObject {
  return { name, protocol, ...(port === undefined ? {} : { port }) }
}

function formatSubsets({ subsets }: Endpoints): PlainObject[] {
  return subsets.map(({ addresses, notReadyAddresses, ports }) => ({
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
    ports: ports.map(({ name, ...port }) => ({ ...(name === '' ? {} : { name }), ...port })),
  }))
}

function nonEmpty(name: string, labels: Labels): PlainObject {
  return Object.keys(labels).length === 0 ? {} : { [name]: labels }
}

function text(name: string, value: string): PlainObject {
  return value === '' ? {} : { [name]: value }
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]))
}
