import { writeFileSync } from 'node:fs'
import { LabError } from '../contract/errors.ts'
import type { NodeRuleDiff } from '../contract/lab-contract.ts'
import { type Cluster, getObject, listObjects } from '../domain/kubernetes/cluster-objects.ts'
import { diffClusters } from '../domain/kubernetes/diff-clusters.ts'
import type { EndpointSlice, Pod, Service } from '../domain/kubernetes/objects.ts'
import type { Problem } from '../domain/kubernetes/problem.ts'
import { planExternalRoutes } from '../domain/topology/plan-external-routes.ts'
import { formatHostsFile } from '../domain/topology/plan-names.ts'
import {
  type Attachment,
  type HostId,
  type NodePlace,
  planClient,
  planNode,
  planPod,
  podHost,
} from '../domain/topology/plan-network.ts'
import type { IptablesTool } from '../system/iptables/iptables-tool.ts'
import { HOSTS_FILE } from '../system/sandbox/enter-sandbox.ts'
import { LabNetwork } from '../system/sandbox/lab-network.ts'
import { labNodeConfig, NodeProxy } from './node-proxy.ts'
import { PodRuntime } from './pod-runtime.ts'
import { RuleReader } from './rule-reader.ts'

export interface KernelOptions {
  readonly attachment: Attachment
  readonly rootless: boolean
  readonly iptables: IptablesTool
}

export interface Progress {
  readonly text: string
  readonly done: number
  readonly total: number
}

export type Report = (progress: Progress) => void

/** What of a cluster stands in the kernel: namespaces, servers, rules, routes and names. */
export class LabKernel {
  readonly network = new LabNetwork()
  readonly nodes: readonly NodePlace[]
  readonly #options: KernelOptions
  readonly #proxies: ReadonlyMap<string, NodeProxy>
  readonly #pods = new PodRuntime(this.network)
  readonly #readers = new Map<HostId, RuleReader>()
  #clientRoutes: ReadonlyMap<string, string> = new Map()
  #podSerial = 0

  /** Lays the cluster's nodes and the client in the namespaces that this process is in. */
  constructor(cluster: Cluster, options: KernelOptions) {
    this.#options = options
    const { config } = cluster
    this.nodes = config.nodes.map(({ name, internalIP, podCIDRs }) => ({
      name,
      address: internalIP,
      podCIDR: podCIDRs[0] ?? '',
    }))
    this.network.add([
      planClient(),
      ...this.nodes.map((node, index) => planNode(node, this.nodes, index, options.attachment)),
    ])
    this.#proxies = new Map(
      this.nodes.map((node) => [
        node.name,
        new NodeProxy(labNodeConfig(node, config.clusterCIDRs, config.serviceCIDRs), this.network, options),
      ]),
    )
    this.#writeNames(cluster)
  }

  proxy(node: string): NodeProxy {
    const proxy = this.#proxies.get(node)
    if (!proxy) throw new LabError('not-found', `there is no node ${node}`)
    return proxy
  }

  reader(id: HostId): RuleReader {
    const known = this.#readers.get(id)
    if (known) return known
    const reader = new RuleReader(id, this.network, this.#options.iptables)
    this.#readers.set(id, reader)
    return reader
  }

  /** What each node's rules would change by, without touching them. */
  diff(cluster: Cluster): NodeRuleDiff[] {
    const view = clusterView(cluster)
    return this.nodes.map(({ name }) => this.proxy(name).diff(view, getObject(cluster, 'Node', '', name)))
  }

  /** Brings the kernel from one cluster to the next; tells the nodes whose rules changed, and what did not go. */
  async realize(
    before: Cluster,
    after: Cluster,
    report: Report,
  ): Promise<{ nodes: string[]; problems: Problem[] }> {
    const { starting, ending } = comparePods(before, after)
    // A pod that takes over an address or a name must find it free; the others end when no rule leads to them.
    const taken = new Set(starting.flatMap((pod) => [podId(pod), ...pod.status.podIPs]))
    const [first, later] = partition(
      ending,
      (pod) => taken.has(podId(pod)) || pod.status.podIPs.some((ip) => taken.has(ip)),
    )
    this.#stopPods(first)
    // Once the tools that write the rules have been started: they start up meanwhile, and wait for the pods.
    const started = Promise.resolve().then(() => this.#startPods(starting))
    const view = clusterView(after)
    const total = this.nodes.length
    let done = 0
    report({ text: 'writing the rules', done, total })
    const changed = await Promise.all(
      this.nodes.map(async ({ name }) => {
        const isChanged = await this.proxy(name).sync(view, getObject(after, 'Node', '', name), started)
        done += 1
        report({ text: 'writing the rules', done, total })
        return isChanged ? [name] : []
      }),
    )
    const problems = await started
    this.#stopPods(later)
    this.#routeExternalAddresses(view)
    this.#writeNames(after)
    return { nodes: changed.flat(), problems }
  }

  #startPods(pods: readonly Pod[]): Problem[] {
    const plans = pods.flatMap((pod) => {
      const node = this.nodes.find(({ name }) => name === pod.spec.nodeName)
      const [ip] = pod.status.podIPs
      if (!node || ip === undefined || pod.spec.hostNetwork) return []
      this.#podSerial += 1
      return [planPod({ ...pod.metadata, ip }, node, this.#podSerial, this.#options.attachment)]
    })
    this.network.add(plans)
    return pods.flatMap((pod) => this.#pods.start(pod))
  }

  #stopPods(pods: readonly Pod[]): void {
    const ids = pods.map(podId)
    for (const id of ids) {
      this.#pods.stop(id)
      this.#readers.get(id)?.close()
      this.#readers.delete(id)
    }
    this.network.remove(ids)
  }

  #routeExternalAddresses(view: ClusterView): void {
    const routes = planExternalRoutes(view.services, (service) => slicesOf(view, service), this.nodes)
    this.network.setClientRoutes(this.#clientRoutes, routes)
    this.#clientRoutes = routes
  }

  #writeNames(cluster: Cluster): void {
    const services = listObjects(cluster, 'Service')
    writeFileSync(HOSTS_FILE, formatHostsFile(this.nodes, services, listObjects(cluster, 'Pod')))
  }
}

const podId = ({ metadata }: Pod): HostId => podHost(metadata.namespace, metadata.name)

function partition<T>(values: readonly T[], isFirst: (value: T) => boolean): [T[], T[]] {
  return [values.filter(isFirst), values.filter((value) => !isFirst(value))]
}

/** Which pods begin and end to run. A pod that is different in what runs or where ends and begins again. */
function comparePods(before: Cluster, after: Cluster): { starting: Pod[]; ending: Pod[] } {
  const { added, removed, changed } = diffClusters(before, after).Pod
  const replaced = changed.filter(
    (pod) =>
      pod.before.spec !== pod.after.spec ||
      pod.before.status.podIPs.join() !== pod.after.status.podIPs.join(),
  )
  const runs = (pod: Pod): boolean => pod.status.podIPs.length > 0
  return {
    starting: [...added, ...replaced.map((pod) => pod.after)].filter(runs),
    ending: [...removed, ...replaced.map((pod) => pod.before)].filter(runs),
  }
}

interface ClusterView {
  readonly services: readonly Service[]
  readonly endpointSlices: readonly EndpointSlice[]
}

function clusterView(cluster: Cluster): ClusterView {
  return {
    services: listObjects(cluster, 'Service'),
    endpointSlices: listObjects(cluster, 'EndpointSlice'),
  }
}

function slicesOf(view: ClusterView, { metadata }: Service): EndpointSlice[] {
  return view.endpointSlices.filter(
    (slice) =>
      slice.metadata.namespace === metadata.namespace &&
      slice.metadata.labels['kubernetes.io/service-name'] === metadata.name,
  )
}
