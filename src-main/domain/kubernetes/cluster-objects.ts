import type { ObjectKey } from './object-names.ts'
import type { Kind, KubernetesObject, Namespace, NodeObject } from './objects.ts'

/** One machine of the cluster. */
export interface ClusterNode {
  readonly name: string
  /** One a family; pods of the node get their addresses here. Empty if the node has none. */
  readonly podCIDRs: readonly string[]
  readonly internalIP: string
  readonly role: 'control-plane' | 'worker'
  readonly zone?: string
}

/** What a cluster is made with; it does not change while the cluster lives. */
export interface ClusterConfig {
  /**
   * `lab`: a cluster that Chainwalk runs, so everything given must fit it. `manifests`: a description of a
   * cluster elsewhere, so Nodes, namespaces, addresses and ports outside the ranges are believed as given.
   */
  readonly origin: 'lab' | 'manifests'
  readonly nodes: readonly ClusterNode[]
  readonly clusterCIDRs: readonly string[]
  /** The first one's family is the cluster's primary family. */
  readonly serviceCIDRs: readonly string[]
  readonly nodePortRange: { readonly first: number; readonly last: number }
  /** `172.18.255.200-172.18.255.250` or a CIDR; without it LoadBalancer Services stay pending. */
  readonly loadBalancerPool?: string
}

export type ObjectOf<K extends Kind> = Extract<KubernetesObject, { kind: K }>

/** Objects of one kind by namespace, then by name, in the order in which they were made. */
export type Namespaced<T> = ReadonlyMap<string, ReadonlyMap<string, T>>

/** Where a person's manifest has an object. */
export interface Source {
  readonly file: string
  readonly line: number
}

/**
 * A cluster at one moment: an immutable value. An object (and each map) that did not change is the same
 * JavaScript object in the next value, so changes are found by identity.
 */
export interface Cluster {
  readonly config: ClusterConfig
  readonly objects: { readonly [K in Kind]: Namespaced<ObjectOf<K>> }
  /** The objects that a person applied; all others were made by controllers. */
  readonly sources: ReadonlyMap<ObjectKey, Source>
  /** By podCIDR: how far beyond its network address the last dynamic pod address lay. */
  readonly lastPodOffsets: ReadonlyMap<string, number>
  /** By ReplicaSet key: how many pods it has ever made. */
  readonly podSerials: ReadonlyMap<ObjectKey, number>
}

/** The namespaces that every cluster has and that cannot be deleted. */
export const builtInNamespaces: readonly string[] = [
  'default',
  'kube-node-lease',
  'kube-public',
  'kube-system',
]

/** The label that names an endpoint's zone on Nodes. */
export const zoneLabel = 'topology.kubernetes.io/zone'

const controlPlaneLabel = 'node-role.kubernetes.io/control-plane'

/** A cluster with its nodes and the built-in namespaces and nothing else. */
export function createCluster(config: ClusterConfig, now?: string): Cluster {
  const stored = now === undefined ? {} : { creationTimestamp: now }
  const nodes = config.nodes.map((node): [string, NodeObject] => [node.name, nodeObject(node, stored)])
  const namespaces = builtInNamespaces.map((name): [string, Namespace] => [
    name,
    {
      kind: 'Namespace',
      metadata: {
        name,
        namespace: '',
        labels: { 'kubernetes.io/metadata.name': name },
        annotations: {},
        ...stored,
      },
    },
  ])
  return {
    config,
    objects: {
      Namespace: new Map([['', new Map(namespaces)]]),
      Node: new Map([['', new Map(nodes)]]),
      Deployment: new Map(),
      ReplicaSet: new Map(),
      Pod: new Map(),
      Service: new Map(),
      EndpointSlice: new Map(),
      Endpoints: new Map(),
    },
    sources: new Map(),
    lastPodOffsets: new Map(),
    podSerials: new Map(),
  }
}

function nodeObject(node: ClusterNode, stored: { creationTimestamp?: string }): NodeObject {
  return {
    kind: 'Node',
    metadata: {
      name: node.name,
      namespace: '',
      labels: {
        'kubernetes.io/hostname': node.name,
        'kubernetes.io/os': 'linux',
        ...(node.role === 'control-plane' ? { [controlPlaneLabel]: '' } : {}),
        ...(node.zone === undefined ? {} : { [zoneLabel]: node.zone }),
      },
      annotations: {},
      ...stored,
    },
    spec: { podCIDRs: node.podCIDRs },
    status: {
      addresses: [
        { type: 'InternalIP', address: node.internalIP },
        { type: 'Hostname', address: node.name },
      ],
    },
  }
}

/** The role that a Node's labels say; `worker` where they say nothing. */
export function nodeRole(node: NodeObject): ClusterNode['role'] {
  const labels = node.metadata.labels
  return controlPlaneLabel in labels || 'node-role.kubernetes.io/master' in labels
    ? 'control-plane'
    : 'worker'
}

/** One object, or undefined. */
export function getObject<K extends Kind>(
  cluster: Cluster,
  kind: K,
  namespace: string,
  name: string,
): ObjectOf<K> | undefined {
  return mapsOf(cluster, kind).get(namespace)?.get(name)
}

/** The objects of a kind, of one namespace or of all, sorted as kubectl lists them: by namespace, then name. */
export function listObjects<K extends Kind>(
  cluster: Cluster,
  kind: K,
  namespace?: string,
): readonly ObjectOf<K>[] {
  const maps = mapsOf(cluster, kind)
  const namespaces = namespace === undefined ? [...maps.keys()].sort() : [namespace]
  return namespaces.flatMap((each) =>
    [...(maps.get(each)?.values() ?? [])].sort((a, b) => compareTexts(a.metadata.name, b.metadata.name)),
  )
}

function mapsOf<K extends Kind>(cluster: Cluster, kind: K): Namespaced<ObjectOf<K>> {
  // The mapped type says the same, but TypeScript does not follow Extract through a generic index.
  return cluster.objects[kind] as unknown as Namespaced<ObjectOf<K>>
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
