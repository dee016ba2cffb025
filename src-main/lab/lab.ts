import { writeFileSync } from 'node:fs'
import { LabError } from '../contract/errors.ts'
import { formatBundle, type LabBundle } from '../contract/lab-bundle.ts'
import type {
  ApplyResult,
  LabStatus,
  ManifestFile,
  NodeRuleDiff,
  ObjectRef,
  Requests,
  RuleSetVersion,
  TargetRules,
} from '../contract/lab-contract.ts'
import { VERSION } from '../contract/version.ts'
import { HOOK_COUNTER_TABLE } from '../domain/iptables/hook-counters.ts'
import {
  type AppliedObject,
  appliedObjects,
  applyObjects,
  type ClusterResult,
  deleteObjects,
  scale,
  setPodCondition,
} from '../domain/kubernetes/cluster.ts'
import { type Cluster, createCluster, getObject, listObjects } from '../domain/kubernetes/cluster-objects.ts'
import { defaultClusterConfig, defaultLoadBalancerPool } from '../domain/kubernetes/default-cluster.ts'
import { diffClusters } from '../domain/kubernetes/diff-clusters.ts'
import { formatObjects } from '../domain/kubernetes/format-object.ts'
import { formatNoResources, formatTables } from '../domain/kubernetes/format-table.ts'
import { listShown } from '../domain/kubernetes/list-shown.ts'
import type { ObjectRef as ClusterRef } from '../domain/kubernetes/object-names.ts'
import type { EndpointSlice, Kind, KubernetesObject, Pod, Service } from '../domain/kubernetes/objects.ts'
import { parseManifests } from '../domain/kubernetes/parse-manifests.ts'
import { formatProblem, type Problem } from '../domain/kubernetes/problem.ts'
import { parseKinds, resourceNames } from '../domain/kubernetes/resource-names.ts'
import { planExternalRoutes } from '../domain/topology/plan-external-routes.ts'
import { formatHostsFile } from '../domain/topology/plan-names.ts'
import {
  type Attachment,
  CLIENT_ADDRESS,
  type HostId,
  type NodePlace,
  nodeHost,
  planClient,
  planNode,
  planPod,
  podHost,
} from '../domain/topology/plan-network.ts'
import { runOrFail } from '../system/command/run-command.ts'
import type { IptablesTool } from '../system/iptables/iptables-tool.ts'
import { watchRuleSet } from '../system/netlink/nf-tables-messages.ts'
import { openNetlinkSocket } from '../system/netlink/socket.ts'
import { HOSTS_FILE } from '../system/sandbox/enter-sandbox.ts'
import { LabNetwork } from '../system/sandbox/lab-network.ts'
import { Streams } from '../system/terminal/streams.ts'
import { DemoTraffic } from './demo-traffic.ts'
import { type ExportedNode, exportNodes, type RuleFormat } from './export-rules.ts'
import { HookCounter } from './hook-counter.ts'
import { labNodeConfig, NodeProxy } from './node-proxy.ts'
import { PodRuntime } from './pod-runtime.ts'
import { hostOf, resolveTarget } from './resolve-target.ts'
import { RuleHistory } from './rule-history.ts'
import { RuleReader } from './rule-reader.ts'
import { Samplers } from './samplers.ts'
import { Signal } from './signal.ts'

export interface LabOptions {
  readonly name: string
  readonly workers: number
  readonly attachment: Attachment
  readonly rootless: boolean
  readonly iptables: IptablesTool
}

export interface Progress {
  readonly text: string
  readonly done: number
  readonly total: number
}

/** Several commands typed one after another, or one load in parts, are one change to look at. */
const RULE_CHANGE_PAUSE_MS = 100

type Report = (progress: Progress) => void

/** The wanted state (a Cluster) and what of it stands in the kernel. Changes are made one after another. */
export class Lab {
  readonly network = new LabNetwork()
  readonly samplers = new Samplers()
  readonly terminalsChanged = new Signal<void>()
  readonly streams = new Streams(() => this.terminalsChanged.emit())
  readonly changes = new Signal<{ objects: boolean; nodes: readonly string[] }>()
  readonly #options: LabOptions
  readonly #startedAt = performance.now()
  readonly #nodes: readonly NodePlace[]
  readonly #proxies: ReadonlyMap<string, NodeProxy>
  readonly #pods = new PodRuntime(this.network)
  readonly #readers = new Map<HostId, RuleReader>()
  readonly #history: RuleHistory
  #cluster: Cluster
  #clientRoutes: ReadonlyMap<string, string> = new Map()
  #podSerial = 0
  #watching = false
  readonly #hookCounters = new Map<HostId, HookCounter>()
  readonly #traffic = new DemoTraffic(this.network, () => ({
    pods: listObjects(this.#cluster, 'Pod'),
    services: listObjects(this.#cluster, 'Service'),
    nodeAddress: this.#nodes[1]?.address ?? '',
  }))
  #last: Promise<unknown> = Promise.resolve()

  /** Lays the nodes and the client in the namespaces that this process is in. */
  constructor(options: LabOptions) {
    this.#options = options
    const config = defaultClusterConfig({
      workers: options.workers,
      loadBalancerPool: defaultLoadBalancerPool,
    })
    this.#cluster = createCluster(config, new Date().toISOString())
    this.#nodes = config.nodes.map(({ name, internalIP, podCIDRs }) => ({
      name,
      address: internalIP,
      podCIDR: podCIDRs[0] ?? '',
    }))
    this.network.add([
      planClient(),
      ...this.#nodes.map((node, index) => planNode(node, this.#nodes, index, options.attachment)),
    ])
    this.#proxies = new Map(
      this.#nodes.map((node) => [
        node.name,
        new NodeProxy(labNodeConfig(node, config.clusterCIDRs, config.serviceCIDRs), this.network, options),
      ]),
    )
    this.#history = new RuleHistory(
      this.#nodes.map(({ name }) => name),
      (node) => this.reader(nodeHost(node)),
    )
    this.#writeNames()
  }

  status(): LabStatus {
    return {
      name: this.#options.name,
      uptimeMs: Math.round(performance.now() - this.#startedAt),
      version: VERSION,
      rootless: this.#options.rootless,
      attachment: this.#options.attachment,
      iptables: this.#options.iptables.backend,
      nodes: this.#nodes,
      client: { address: CLIENT_ADDRESS },
      pods: listObjects(this.#cluster, 'Pod').length,
      services: listObjects(this.#cluster, 'Service').length,
      memoryBytes: process.memoryUsage.rss(),
    }
  }

  async apply(params: Requests['objects/apply']['params'], report: Report): Promise<ApplyResult> {
    const parsed = parseAll(params.manifests)
    return await this.#change(
      'apply',
      params,
      report,
      (cluster, now) => applyObjects(cluster, parsed.items, now),
      parsed.problems,
    )
  }

  async delete(params: Requests['objects/delete']['params'], report: Report): Promise<ApplyResult> {
    const parsed = parseAll(params.manifests ?? [])
    const refs = [
      ...(params.refs ?? []).map(objectRef),
      ...parsed.items.map(({ object }) => ({
        kind: object.kind,
        namespace: object.metadata.namespace,
        name: object.metadata.name,
      })),
    ]
    return await this.#change(
      'delete',
      params,
      report,
      (cluster, now) => deleteObjects(cluster, refs, now),
      parsed.problems,
    )
  }

  async scale(ref: ObjectRef, replicas: number, report: Report): Promise<ApplyResult> {
    return await this.#change(`scale ${ref.kind}/${ref.name} to ${replicas}`, {}, report, (cluster, now) =>
      scale(cluster, objectRef(ref), replicas, now),
    )
  }

  async setPodCondition(
    namespace: string,
    name: string,
    condition: Requests['pods/set-condition']['params']['condition'],
  ): Promise<ApplyResult> {
    const pods = listObjects(this.#cluster, 'Pod', namespace)
    const host = resolveTarget(`pod/${namespace}/${name}`, { nodes: [], pods, workloads: [] })
    const pod = pods.find((candidate) => hostOf(candidate) === host)
    const ref = { namespace, name: pod?.metadata.name ?? name }
    return await this.#change(
      `pod ${ref.name} ${condition}`,
      {},
      () => undefined,
      (cluster, now) => setPodCondition(cluster, ref, condition, now),
    )
  }

  list({ kinds, namespace, name }: Requests['objects/list']['params']): Requests['objects/list']['result'] {
    const groups = kinds.flatMap(kindsNamed).map((kind) => {
      const objects: readonly KubernetesObject[] = listShown(
        this.#cluster,
        kind,
        resourceNames[kind].isNamespaced ? namespace : '',
      )
      const chosen = name === undefined ? objects : objects.filter(({ metadata }) => metadata.name === name)
      if (name !== undefined && chosen.length === 0)
        throw new LabError('not-found', `${resourceNames[kind].qualified} "${name}" not found`)
      return { kind, objects: chosen }
    })
    return { now: new Date().toISOString(), groups }
  }

  print(params: Requests['objects/print']['params']): Requests['objects/print']['result'] {
    const { groups, now } = this.list(params)
    const objects = groups.flatMap((group) => group.objects)
    const found = objects.length > 0
    const { format } = params
    if (format === 'json' || format === 'yaml') {
      const isListing = params.name === undefined
      return { text: formatObjects(objects, format, { cluster: this.#cluster, isListing }), found: true }
    }
    const kinds = groups.map(({ kind }) => kind)
    const text = found
      ? formatTables(this.#cluster, groups, {
          wide: format === 'wide',
          now,
          allNamespaces: params.namespace === undefined,
          prefixed: kinds.length > 1,
        })
      : formatNoResources(kinds, params.namespace)
    return { text, found }
  }

  resolve(target: string): HostId {
    return resolveTarget(target, {
      nodes: listObjects(this.#cluster, 'Node'),
      pods: listObjects(this.#cluster, 'Pod'),
      workloads: [...listObjects(this.#cluster, 'Deployment'), ...listObjects(this.#cluster, 'ReplicaSet')],
    })
  }

  hostname(id: HostId): string {
    if (!this.network.has(id)) throw new LabError('not-found', `${id} is not in this lab`)
    return id.slice(id.lastIndexOf('/') + 1)
  }

  reader(id: HostId): RuleReader {
    const known = this.#readers.get(id)
    if (known) return known
    const reader = new RuleReader(id, this.network, this.#options.iptables)
    this.#readers.set(id, reader)
    return reader
  }

  async rules(target: HostId): Promise<TargetRules> {
    const proxy = target.startsWith('node/') ? this.#proxies.get(this.hostname(target)) : undefined
    const reader = this.reader(target)
    const kernel = await reader.ruleSet()
    return {
      target,
      text: await reader.textWithCounters(),
      origins: proxy?.origins() ?? {},
      ...(proxy?.compare(kernel) ?? { handMade: [], missing: [] }),
    }
  }

  async export(format: RuleFormat | 'bundle', node?: string): Promise<{ text: string }> {
    if (format === 'bundle') return { text: formatBundle(await this.#bundle()) }
    const names = node === undefined ? this.#nodes.map(({ name }) => name) : [this.#proxy(node).node]
    const nodes: ExportedNode[] = []
    for (const name of names) {
      const reader = this.reader(nodeHost(name))
      nodes.push({
        node: name,
        text: await reader.text(),
        ruleSet: await reader.ruleSet(),
        origins: this.#proxy(name).origins(),
      })
    }
    return { text: await exportNodes(nodes, format) }
  }

  /** Puts the hand-made rules of a bundle back: restore text by node. */
  async restoreHandMade(rules: Readonly<Record<string, string>>): Promise<void> {
    for (const [node, text] of Object.entries(rules)) await this.#proxy(node).restore(text)
  }

  async #bundle(): Promise<LabBundle> {
    const handMadeRules: Record<string, string> = {}
    for (const { name } of this.#nodes) {
      const edits = this.#proxy(name).handMadeEdits(await this.reader(nodeHost(name)).ruleSet())
      if (edits !== '') handMadeRules[name] = edits
    }
    const applied = appliedByHand(this.#cluster)
    return {
      chainwalk: 1,
      workers: this.#options.workers,
      manifests:
        applied.length > 0
          ? [{ file: 'lab.yaml', text: formatObjects(applied, 'yaml', { isListing: true }) }]
          : [],
      handMadeRules,
    }
  }

  async restoreRules(node: string): Promise<void> {
    await this.#inTurn(() => this.#proxy(node).restoreOwn())
  }

  /** `iptables -Z`, as a person would type it. */
  async zeroCounters(target: HostId, table?: string, chain?: string): Promise<void> {
    const tables = table === undefined ? ['filter', 'nat', 'mangle', 'raw'] : [table]
    const { backend } = this.#options.iptables
    for (const name of tables)
      await runOrFail([`iptables-${backend}`, '-t', name, '-Z', ...(chain === undefined ? [] : [chain])], {
        where: (work) => this.network.inNetwork(target, work),
      })
  }

  hookCounter(target: HostId): HookCounter {
    const known = this.#hookCounters.get(target)
    if (known) return known
    const where = <T>(work: () => T): T => this.network.inNetwork(target, work)
    const counter = new HookCounter(
      where,
      where(() => openNetlinkSocket('netfilter')),
      this.reader(target),
    )
    this.#hookCounters.set(target, counter)
    return counter
  }

  setDemoTraffic(running: boolean): void {
    this.#traffic.set(running)
  }

  /** From now on changes of the nodes' rules are told, whoever makes them. */
  watchRules(): void {
    if (this.#watching) return
    this.#watching = true
    for (const { name } of this.#nodes) this.#watchNode(name)
  }

  #watchNode(node: string): void {
    let isWaiting = false
    const changed = (): void => {
      if (isWaiting) return
      isWaiting = true
      setTimeout(() => {
        isWaiting = false
        this.changes.emit({ objects: false, nodes: [node] })
      }, RULE_CHANGE_PAUSE_MS)
    }
    this.network.inNetwork(nodeHost(node), () =>
      watchRuleSet({
        onChange: (events) => {
          const ours = events.every(
            (event) => event.kind === 'generation' || event.table === HOOK_COUNTER_TABLE,
          )
          if (!ours) changed()
        },
        onOverrun: changed, // too much at once to be told one by one
        onError: changed,
      }),
    )
  }

  async history(node: string): Promise<readonly RuleSetVersion[]> {
    return await this.#history.versions(node)
  }

  async historyDiff(node: string, from: number, to: number): Promise<NodeRuleDiff> {
    return await this.#history.diff(node, from, to)
  }

  /** One change after another: plan on the cluster as it then is, refuse or realize. */
  #change(
    cause: string,
    wish: { readonly dryRun?: boolean; readonly diff?: boolean },
    report: Report,
    plan: (cluster: Cluster, now: string) => ClusterResult,
    earlier: readonly Problem[] = [],
  ): Promise<ApplyResult> {
    const work = async (): Promise<ApplyResult> => {
      const before = this.#cluster
      const { cluster, changes, problems: found } = plan(before, new Date().toISOString())
      const problems = [...earlier, ...found]
      refuseErrors(problems)
      const diff = wish.diff ? this.#diff(cluster) : undefined
      if (wish.dryRun !== true && cluster !== before) await this.#realize(before, cluster, cause, report)
      return { changes, problems, ...(diff ? { diff } : {}) }
    }
    return this.#inTurn(work)
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined) // its caller hears of it; the next change goes on
    return result
  }

  /** What each node's rules would change by, without touching them. */
  #diff(cluster: Cluster): NodeRuleDiff[] {
    const view = clusterView(cluster)
    return this.#nodes.map(({ name }) => this.#proxy(name).diff(view, getObject(cluster, 'Node', '', name)))
  }

  async #realize(before: Cluster, after: Cluster, cause: string, report: Report): Promise<void> {
    this.#cluster = after
    const { starting, ending } = comparePods(before, after)
    this.#startPods(starting)
    report({ text: 'writing the rules', done: 0, total: this.#nodes.length })
    const view = clusterView(after)
    let done = 0
    const synced = await Promise.all(
      this.#nodes.map(async ({ name }) => {
        const changed = await this.#proxy(name).sync(view, getObject(after, 'Node', '', name))
        done += 1
        report({ text: 'writing the rules', done, total: this.#nodes.length })
        return changed ? [name] : []
      }),
    )
    this.#stopPods(ending)
    this.#routeExternalAddresses(view)
    this.#writeNames()
    const nodes = synced.flat()
    this.#history.note(nodes, cause)
    this.changes.emit({ objects: true, nodes })
  }

  #startPods(pods: readonly Pod[]): void {
    const plans = pods.flatMap((pod) => {
      const node = this.#nodes.find(({ name }) => name === pod.spec.nodeName)
      const [ip] = pod.status.podIPs
      if (!node || ip === undefined || pod.spec.hostNetwork) return []
      this.#podSerial += 1
      return [planPod({ ...pod.metadata, ip }, node, this.#podSerial, this.#options.attachment)]
    })
    this.network.add(plans)
    for (const pod of pods) this.#pods.start(pod)
  }

  #stopPods(pods: readonly Pod[]): void {
    const ids = pods.map((pod) => podHost(pod.metadata.namespace, pod.metadata.name))
    for (const id of ids) {
      this.#pods.stop(id)
      this.#readers.get(id)?.close()
      this.#readers.delete(id)
    }
    this.network.remove(ids)
  }

  #routeExternalAddresses(view: ClusterView): void {
    const routes = planExternalRoutes(view.services, (service) => slicesOf(view, service), this.#nodes)
    this.network.setClientRoutes(this.#clientRoutes, routes)
    this.#clientRoutes = routes
  }

  #writeNames(): void {
    writeFileSync(
      HOSTS_FILE,
      formatHostsFile(this.#nodes, listObjects(this.#cluster, 'Service'), listObjects(this.#cluster, 'Pod')),
    )
  }

  #proxy(node: string): NodeProxy {
    const proxy = this.#proxies.get(node)
    if (!proxy) throw new LabError('not-found', `there is no node ${node}`)
    return proxy
  }
}

/** The objects that a person applied, without what controllers made of them. */
function appliedByHand(cluster: Cluster): KubernetesObject[] {
  return [...cluster.sources.keys()].flatMap((key) => {
    const [kind = '', namespace = '', name = ''] = key.split('/')
    const object: KubernetesObject | undefined = getObject(cluster, kind as Kind, namespace, name)
    return object ? [object] : []
  })
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

function parseAll(manifests: readonly ManifestFile[]): { items: AppliedObject[]; problems: Problem[] } {
  const items: AppliedObject[] = []
  const problems: Problem[] = []
  for (const { file, text } of manifests) {
    const parsed = parseManifests(file, text)
    problems.push(...parsed.problems)
    items.push(...appliedObjects(parsed))
  }
  refuseErrors(problems)
  return { items, problems }
}

function refuseErrors(problems: readonly Problem[]): void {
  const errors = problems.filter(({ severity }) => severity === 'error')
  if (errors.length > 0)
    throw new LabError('bad-input', errors.map(formatProblem).join('\n'), { problems: errors })
}

function kindsNamed(text: string): readonly Kind[] {
  const kinds = parseKinds(text)
  if (!kinds)
    throw new LabError(
      'bad-input',
      `the lab has no kind "${text}"; it knows ${Object.values(resourceNames)
        .map(({ prefix }) => prefix.split('.')[0])
        .join(', ')}`,
    )
  return kinds
}

function objectRef({ kind, namespace, name }: ObjectRef): ClusterRef {
  const [found = 'Pod'] = kindsNamed(kind)
  return { kind: found, namespace: resourceNames[found].isNamespaced ? namespace : '', name }
}
