import { LabError } from '../contract/errors.ts'
import { formatBundle, type LabBundle } from '../contract/lab-bundle.ts'
import type {
  ApplyResult,
  LabStatus,
  NodeRuleDiff,
  ObjectRef,
  Requests,
  RuleSetVersion,
  TargetRules,
} from '../contract/lab-contract.ts'
import { VERSION } from '../contract/version.ts'
import { HOOK_COUNTER_TABLE } from '../domain/iptables/hook-counters.ts'
import {
  applyObjects,
  type ClusterResult,
  deleteObjects,
  scale,
  setPodCondition,
} from '../domain/kubernetes/cluster.ts'
import { type Cluster, createCluster, getObject, listObjects } from '../domain/kubernetes/cluster-objects.ts'
import { defaultClusterConfig, defaultLoadBalancerPool } from '../domain/kubernetes/default-cluster.ts'
import { formatObjects } from '../domain/kubernetes/format-object.ts'
import { formatNoResources, formatTables } from '../domain/kubernetes/format-table.ts'
import { listShown } from '../domain/kubernetes/list-shown.ts'
import type { Kind, KubernetesObject } from '../domain/kubernetes/objects.ts'
import type { Problem } from '../domain/kubernetes/problem.ts'
import { resourceNames } from '../domain/kubernetes/resource-names.ts'
import { CLIENT_ADDRESS, type HostId, nodeHost } from '../domain/topology/plan-network.ts'
import { TRACE_TABLE } from '../domain/trace/join-walks.ts'
import { runOrFail } from '../system/command/run-command.ts'
import { watchRuleSet } from '../system/netlink/nf-tables-messages.ts'
import { openNetlinkSocket } from '../system/netlink/socket.ts'
import type { LabNetwork } from '../system/sandbox/lab-network.ts'
import { Streams } from '../system/terminal/streams.ts'
import { DemoTraffic } from './demo-traffic.ts'
import { type ExportedNode, exportNodes, type RuleFormat } from './export-rules.ts'
import { HookCounter } from './hook-counter.ts'
import { type KernelOptions, LabKernel, type Report } from './lab-kernel.ts'
import { kindsNamed, objectRef, parseAll, refuseErrors } from './read-input.ts'
import { hostOf, resolveTarget } from './resolve-target.ts'
import { RuleHistory } from './rule-history.ts'
import type { RuleReader } from './rule-reader.ts'
import { Samplers } from './samplers.ts'
import { Signal } from './signal.ts'

export interface LabOptions extends KernelOptions {
  readonly name: string
  readonly workers: number
}

/** Several commands typed one after another, or one load in parts, are one change to look at. */
const RULE_CHANGE_PAUSE_MS = 100

/** The wanted state (a Cluster) and what of it stands in the kernel. Changes are made one after another. */
export class Lab {
  readonly samplers = new Samplers()
  readonly terminalsChanged = new Signal<void>()
  readonly streams = new Streams(() => this.terminalsChanged.emit())
  readonly changes = new Signal<{ objects: boolean; nodes: readonly string[] }>()
  readonly #options: LabOptions
  readonly #startedAt = performance.now()
  readonly #kernel: LabKernel
  readonly #history: RuleHistory
  readonly #traffic: DemoTraffic
  readonly #hookCounters = new Map<HostId, HookCounter>()
  #cluster: Cluster
  #isWatching = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: LabOptions) {
    this.#options = options
    const { workers } = options
    const config = defaultClusterConfig({ workers, loadBalancerPool: defaultLoadBalancerPool })
    this.#cluster = createCluster(config, new Date().toISOString())
    this.#kernel = new LabKernel(this.#cluster, options)
    this.#history = new RuleHistory(
      this.#kernel.nodes.map(({ name }) => name),
      (node) => this.reader(nodeHost(node)),
    )
    this.#traffic = new DemoTraffic(this.network, () => ({
      pods: listObjects(this.#cluster, 'Pod'),
      services: listObjects(this.#cluster, 'Service'),
      nodeAddress: this.#kernel.nodes[1]?.address ?? '',
    }))
  }

  get network(): LabNetwork {
    return this.#kernel.network
  }

  status(): LabStatus {
    return {
      name: this.#options.name,
      uptimeMs: Math.round(performance.now() - this.#startedAt),
      version: VERSION,
      rootless: this.#options.rootless,
      attachment: this.#options.attachment,
      iptables: this.#options.iptables.backend,
      nodes: this.#kernel.nodes,
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
    return this.#kernel.reader(id)
  }

  async rules(target: HostId): Promise<TargetRules> {
    const proxy = target.startsWith('node/') ? this.#kernel.proxy(this.hostname(target)) : undefined
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
    const names =
      node === undefined ? this.#kernel.nodes.map(({ name }) => name) : [this.#kernel.proxy(node).node]
    const nodes: ExportedNode[] = []
    for (const name of names) {
      const reader = this.reader(nodeHost(name))
      nodes.push({
        node: name,
        text: await reader.text(),
        ruleSet: await reader.ruleSet(),
        origins: this.#kernel.proxy(name).origins(),
      })
    }
    return { text: await exportNodes(nodes, format) }
  }

  /** Puts the hand-made rules of a bundle back: restore text by node. */
  async restoreHandMade(rules: Readonly<Record<string, string>>): Promise<void> {
    for (const [node, text] of Object.entries(rules)) await this.#kernel.proxy(node).restore(text)
  }

  async #bundle(): Promise<LabBundle> {
    const handMadeRules: Record<string, string> = {}
    for (const { name } of this.#kernel.nodes) {
      const edits = this.#kernel.proxy(name).handMadeEdits(await this.reader(nodeHost(name)).ruleSet())
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
    await this.#inTurn(() => this.#kernel.proxy(node).restoreOwn())
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
    if (this.#isWatching) return
    this.#isWatching = true
    for (const { name } of this.#kernel.nodes) this.#watchNode(name)
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
            (event) =>
              event.kind === 'generation' ||
              event.table === HOOK_COUNTER_TABLE ||
              event.table === TRACE_TABLE,
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
      const diff = wish.diff ? this.#kernel.diff(cluster) : undefined
      if (wish.dryRun !== true && cluster !== before) {
        await this.#history.beforeChange()
        this.#cluster = cluster
        const done = await this.#kernel.realize(before, cluster, report)
        problems.push(...done.problems)
        this.#history.note(done.nodes, cause)
        this.changes.emit({ objects: true, nodes: done.nodes })
      }
      return { changes, problems, ...(diff ? { diff } : {}) }
    }
    return this.#inTurn(work)
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined) // its caller hears of it; the next change goes on
    return result
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
