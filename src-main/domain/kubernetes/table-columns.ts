import type { Cluster, ObjectOf } from './cluster-objects.ts'
import { replicaSetName } from './deployment-controller.ts'
import { formatAge } from './format-age.ts'
import { addValue } from './multi-map.ts'
import type {
  Deployment,
  EndpointSlice,
  Endpoints,
  Kind,
  KubernetesObject,
  LabelSelector,
  Labels,
  NodeObject,
  Pod,
  PodSpec,
  ReplicaSet,
  Service,
} from './objects.ts'

/** One column of `kubectl get`. */
export interface Column<T> {
  readonly title: string
  /** Only with `-o wide`. */
  readonly isWide: boolean
  readonly cell: (object: T, context: TableContext) => string
}

export interface TableContext {
  readonly now: string
  readonly wide: boolean
  /** By `namespace/ReplicaSet name`. */
  readonly pods: ReadonlyMap<string, readonly Pod[]>
}

/** What a lab answers where a cluster would name its software. */
const placeholders = {
  version: 'v1.36.2',
  osImage: 'Chainwalk lab',
  kernelVersion: '<unknown>',
  containerRuntime: 'chainwalk://lab',
}

const none = '<none>'

type Columns = { readonly [K in Kind]: readonly Column<ObjectOf<K>>[] }

const columns: Columns = {
  Pod: [
    name(),
    narrow('READY', (pod) => {
      const total = pod.spec.containers.length
      return `${pod.status.ready ? total : 0}/${total}`
    }),
    narrow('STATUS', podStatus),
    narrow('RESTARTS', () => '0'),
    age(),
    wide('IP', (pod) => pod.status.podIPs[0] ?? none),
    wide('NODE', (pod) => pod.spec.nodeName || none),
    wide('NOMINATED NODE', () => none),
    wide('READINESS GATES', () => none),
  ],
  Service: [
    name(),
    narrow('TYPE', ({ spec }) => spec.type),
    narrow('CLUSTER-IP', ({ spec }) => spec.clusterIPs[0] ?? none),
    narrow('EXTERNAL-IP', (service, context) => externalIp(service, context.wide)),
    narrow('PORT(S)', servicePorts),
    age(),
    wide('SELECTOR', ({ spec }) => formatLabels(spec.selector)),
  ],
  Deployment: [
    name(),
    narrow('READY', (deployment, { pods }) => {
      return `${allPods(deployment, pods).filter(({ status }) => status.ready).length}/${deployment.spec.replicas}`
    }),
    narrow('UP-TO-DATE', (deployment, { pods }) => String(allPods(deployment, pods).length)),
    narrow('AVAILABLE', (deployment, { pods }) =>
      String(allPods(deployment, pods).filter(({ status }) => status.ready).length),
    ),
    age(),
    ...workloadColumns<Deployment>(),
  ],
  ReplicaSet: [
    name(),
    narrow('DESIRED', ({ spec }) => String(spec.replicas)),
    narrow('CURRENT', (replicaSet, { pods }) => String(ownPods(replicaSet, pods).length)),
    narrow('READY', (replicaSet, { pods }) =>
      String(ownPods(replicaSet, pods).filter(({ status }) => status.ready).length),
    ),
    age(),
    ...workloadColumns<ReplicaSet>(),
  ],
  Node: [
    name(),
    narrow('STATUS', () => 'Ready'),
    narrow('ROLES', nodeRoles),
    age(),
    narrow('VERSION', () => placeholders.version),
    wide('INTERNAL-IP', (node) => nodeAddress(node, 'InternalIP')),
    wide('EXTERNAL-IP', (node) => nodeAddress(node, 'ExternalIP')),
    wide('OS-IMAGE', () => placeholders.osImage),
    wide('KERNEL-VERSION', () => placeholders.kernelVersion),
    wide('CONTAINER-RUNTIME', () => placeholders.containerRuntime),
  ],
  Endpoints: [name(), narrow('ENDPOINTS', endpointAddresses), age()],
  EndpointSlice: [
    name(),
    narrow('ADDRESSTYPE', ({ addressType }) => addressType),
    narrow('PORTS', slicePorts),
    narrow(
      'ENDPOINTS',
      ({ endpoints }) => shorten(endpoints.flatMap(({ addresses }) => addresses)) || '<unset>',
    ),
    age(),
  ],
  Namespace: [name(), narrow('STATUS', () => 'Active'), age()],
}

/** The columns that kubectl shows for a kind, in order. */
export function tableColumns<K extends Kind>(kind: K, isWide: boolean): readonly Column<ObjectOf<K>>[] {
  // The mapped type says the same, but TypeScript does not follow Extract through a generic index.
  const all = columns[kind] as unknown as readonly Column<ObjectOf<K>>[]
  return all.filter((column) => isWide || !column.isWide)
}

/** What cells need beyond their own object. */
export function buildTableContext(cluster: Cluster, isWide: boolean, now: string): TableContext {
  const pods = new Map<string, Pod[]>()
  for (const namespace of cluster.objects.Pod.values()) {
    for (const pod of namespace.values()) {
      const owner = pod.metadata.ownerReferences?.[0]
      if (!owner || pod.status.terminating) continue
      addValue(pods, `${pod.metadata.namespace}/${owner.name}`, pod)
    }
  }
  return { now, wide: isWide, pods }
}

function name<T extends KubernetesObject>(): Column<T> {
  return narrow('NAME', ({ metadata }) => metadata.name)
}

function age<T extends KubernetesObject>(): Column<T> {
  return narrow('AGE', ({ metadata }, { now }) => formatAge(metadata.creationTimestamp, now))
}

function narrow<T>(title: string, cell: Column<T>['cell']): Column<T> {
  return { title, isWide: false, cell }
}

function wide<T>(title: string, cell: Column<T>['cell']): Column<T> {
  return { title, isWide: true, cell }
}

function workloadColumns<T extends Deployment | ReplicaSet>(): Column<T>[] {
  const containers = ({ spec }: T): PodSpec['containers'] => spec.template.spec.containers
  return [
    wide('CONTAINERS', (object) =>
      containers(object)
        .map((each) => each.name)
        .join(','),
    ),
    wide('IMAGES', (object) =>
      containers(object)
        .map((each) => each.image)
        .join(','),
    ),
    wide('SELECTOR', ({ spec }) => formatSelector(spec.selector)),
  ]
}

function podStatus({ status }: Pod): string {
  if (status.terminating) return 'Terminating'
  return status.podIPs.length === 0 ? 'Pending' : 'Running'
}

function allPods(deployment: Deployment, pods: TableContext['pods']): readonly Pod[] {
  return pods.get(`${deployment.metadata.namespace}/${replicaSetName(deployment)}`) ?? []
}

function ownPods({ metadata }: ReplicaSet, pods: TableContext['pods']): readonly Pod[] {
  return pods.get(`${metadata.namespace}/${metadata.name}`) ?? []
}

function externalIp({ spec, status }: Service, isWide: boolean): string {
  switch (spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return spec.externalIPs.join(',') || none
    case 'LoadBalancer': {
      const ingress = [
        ...new Set(status.loadBalancer.ingress.map(({ ip, hostname }) => ip ?? hostname ?? '')),
      ]
      const addresses = ingress.sort().join(',')
      const shown = !isWide && addresses.length > 16 ? `${addresses.slice(0, 13)}...` : addresses
      return [shown, ...spec.externalIPs].filter((text) => text !== '').join(',') || '<pending>'
    }
    case 'ExternalName':
      return spec.externalName
    default:
      return spec.type satisfies never
  }
}

function servicePorts({ spec }: Service): string {
  const texts = spec.ports.map(({ port, nodePort, protocol }) =>
    nodePort > 0 ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
  )
  return texts.join(',') || none
}

function nodeRoles({ metadata }: NodeObject): string {
  const prefix = 'node-role.kubernetes.io/'
  const roles = Object.keys(metadata.labels).flatMap((key) =>
    key.startsWith(prefix) ? [key.slice(prefix.length)] : [],
  )
  return roles.sort().join(',') || none
}

function nodeAddress({ status }: NodeObject, type: string): string {
  return status.addresses.find((each) => each.type === type)?.address ?? none
}

function endpointAddresses({ subsets }: Endpoints): string {
  const texts = subsets.flatMap(({ addresses, ports }) => {
    if (ports.length === 0) return addresses.map(({ ip }) => ip)
    return ports.flatMap(({ port }) => addresses.map(({ ip }) => joinHostPort(ip, port ?? 0)))
  })
  return shorten(texts) || none
}

function slicePorts({ ports }: EndpointSlice): string {
  return (
    shorten(ports.map((port) => (port.port === undefined ? port.name || '*' : String(port.port)))) ||
    '<unset>'
  )
}

function joinHostPort(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`
}

/** Three at most, and how many there are besides. */
function shorten(texts: readonly string[]): string {
  const shown = texts.slice(0, 3).join(',')
  return texts.length > 3 ? `${shown} + ${texts.length - 3} more...` : shown
}

function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`)
  return pairs.sort().join(',') || none
}

function formatSelector({ matchLabels, matchExpressions }: LabelSelector): string {
  const texts = Object.entries(matchLabels).map(([key, value]) => ({ key, text: `${key}=${value}` }))
  for (const { key, operator, values } of matchExpressions) {
    const list = `(${[...values].sort().join(',')})`
    const text = {
      In: `${key} in ${list}`,
      NotIn: `${key} notin ${list}`,
      Exists: key,
      DoesNotExist: `!${key}`,
    }[operator]
    texts.push({ key, text })
  }
  texts.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return texts.map(({ text }) => text).join(',') || none
}
