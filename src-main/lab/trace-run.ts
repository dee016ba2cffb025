import { release } from 'node:os'
import { LabError } from '../contract/errors.ts'
import type { Pod } from '../domain/kubernetes/objects.ts'
import { gatewayOf, type HostId, nodeHost } from '../domain/topology/plan-network.ts'
import { explainSkips, type SkipFacts } from '../domain/trace/explain-skips.ts'
import { findCulprit } from '../domain/trace/find-culprit.ts'
import { joinJourneys } from '../domain/trace/join-journeys.ts'
import { TRACE_TABLE } from '../domain/trace/join-walks.ts'
import type { TraceResult } from '../domain/trace/journey.ts'
import type { JourneyFacts } from '../domain/trace/journey-hops.ts'
import { runCommand, runOrFail } from '../system/command/run-command.ts'
import { openNetlinkSocket } from '../system/netlink/socket.ts'
import type { NetlinkWatch } from '../system/netlink/watch.ts'
import { TraceRecord } from '../system/trace-monitor/trace-record.ts'
import { watchTrace } from '../system/trace-monitor/watch-trace.ts'
import { culpritFacts } from './culprit-facts.ts'
import type { Lab } from './lab.ts'
import { hostOf } from './resolve-target.ts'
import { handleKey, type KnownRules, readHandles } from './trace-rules.ts'
import { EVERY_SENDER, formatNodeTable, formatSenderTable, type SenderMatch } from './trace-table.ts'

/** More is a flood, not something to read. */
const MAX_EVENTS = 400_000
/** Events come some ms after their packets; a command's last packets leave as it ends. */
const QUIET_MS = 50
const PATIENCE_MS = 500
const DRAIN_MS = 20

interface TracedHost {
  readonly id: HostId
  readonly record: TraceRecord
  readonly watch: NetlinkWatch
}

/** The trace of one command's packets, switched on in every node and where the command runs, from `open` to `close`. */
export class TraceRun {
  readonly #lab: Lab
  readonly #target: HostId
  readonly #hosts: TracedHost[] = []
  readonly #gaps = new Set<string>()
  readonly #rules = new Map<HostId, KnownRules>()
  #order = 0
  #closed: Promise<void> | undefined

  private constructor(lab: Lab, target: HostId) {
    this.#lab = lab
    this.#target = target
  }

  /** Fails with `unavailable` where the kernel cannot show traces. */
  static async open(lab: Lab, target: HostId, match: SenderMatch = EVERY_SENDER): Promise<TraceRun> {
    if (lab.status().iptables === 'legacy')
      throw new LabError(
        'unavailable',
        "this lab writes its rules with iptables-legacy, whose traces the kernel does not show inside a namespace; start it with `--backend nft` to trace, or add `--predict` (Predict in the window's Trace view), which walks a packet through these rules",
      )
    const run = new TraceRun(lab, target)
    try {
      await run.#switchOn(match)
      return run
    } catch (error) {
      await run.close()
      throw error
    }
  }

  async #switchOn(match: SenderMatch): Promise<void> {
    const nodes = this.#nodes()
    const isNode = nodes.includes(this.#target)
    await Promise.all(nodes.map(async (node) => this.#rules.set(node, await this.#readRules(node))))
    for (const host of isNode ? nodes : [...nodes, this.#target]) this.#watch(host)
    const hosts = this.#senderAddresses()
    await Promise.all([
      ...nodes.map((node) =>
        this.#load(node, formatNodeTable(hosts, node === this.#target ? match : undefined)),
      ),
      ...(isNode ? [] : [this.#load(this.#target, formatSenderTable(match))]),
    ])
  }

  /** Ends the trace and tells what it saw. */
  async finish(): Promise<TraceResult> {
    await this.#quiet()
    await this.close()
    await this.#noteRuleChanges()
    const { journeys, gaps } = joinJourneys(
      new Map(
        this.#hosts.map(({ id, record }) => [id, record.decode((error) => this.#noteError(id, error))]),
      ),
      this.#facts(),
    )
    const isWhole = this.#gaps.size === 0 && gaps.length === 0
    const finding = findCulprit(journeys, culpritFacts(this.#lab, isWhole))
    return {
      ...(finding ? { finding } : {}),
      journeys: explainSkips(journeys, (node) => this.#skipFacts(node)),
      gaps: [...this.#gaps, ...gaps],
    }
  }

  #skipFacts(name: string): SkipFacts | undefined {
    const node = this.#lab.status().nodes.find((each) => each.name === name)
    const known = node && this.#rules.get(nodeHost(name))
    return known && { ruleSet: known.ruleSet, localAddresses: [node.address, gatewayOf(node.podCIDR)] }
  }

  /** Takes the trace tables away; again and again does no harm. */
  close(): Promise<void> {
    this.#closed ??= this.#switchOff()
    return this.#closed
  }

  async #switchOff(): Promise<void> {
    const places = this.#hosts.filter(({ id }) => this.#lab.network.has(id))
    await Promise.all(places.map(({ id }) => this.#deleteTable(id)))
    await this.#drain()
    for (const { watch } of this.#hosts) watch.close()
  }

  /** A second try: another program may have held the rules, or a command could not be started just then. */
  async #deleteTable(id: HostId): Promise<void> {
    const failure = (await this.#tryDeleteTable(id)) && (await this.#tryDeleteTable(id))
    if (failure === undefined) return
    this.#gaps.add(
      `the trace of ${id} could not be switched off (${failure}): \`nft delete table inet ${TRACE_TABLE}\` there does it`,
    )
  }

  /** What failed; undefined where the table is gone. */
  async #tryDeleteTable(id: HostId): Promise<string | undefined> {
    try {
      const { code, stderr } = await runCommand(['nft', 'delete', 'table', 'inet', TRACE_TABLE], {
        where: (work) => this.#lab.network.inNetwork(id, work),
      })
      // Where there is no such table any more, somebody flushed the rules.
      if (code === 0 || stderr.includes('No such file or directory')) return undefined
      return stderr.trim() || `nft ended with ${code}`
    } catch (error) {
      if (!(error instanceof LabError)) throw error
      return error.message
    }
  }

  #nodes(): HostId[] {
    return this.#lab.status().nodes.map(({ name }) => nodeHost(name))
  }

  /** Addresses that the command's packets can come from, NAT on the way included. */
  #senderAddresses(): string[] {
    const { nodes, client } = this.#lab.status()
    const own = addressOf(this.#lab, this.#target)
    const ofNodes = nodes.flatMap(({ address, podCIDR }) => [address, gatewayOf(podCIDR)])
    return [
      ...new Set([
        ...ofNodes,
        '127.0.0.0/8',
        ...(own ? [own] : []),
        ...(this.#target === 'client' ? [client.address] : []),
      ]),
    ]
  }

  #watch(id: HostId): void {
    const record = new TraceRecord()
    const watch = this.#lab.network.inNetwork(id, () =>
      watchTrace({
        onEvent: (buffer, start, end) => {
          this.#order += 1
          if (this.#order <= MAX_EVENTS) record.add(this.#order, buffer, start, end)
          else if (this.#order === MAX_EVENTS + 1) this.#cut()
        },
        onOverrun: () => this.#gaps.add(`events of ${id} were lost: more packets came than could be read`),
        onError: (error) => this.#noteError(id, error),
      }),
    )
    this.#hosts.push({ id, record, watch })
  }

  #noteError(id: HostId, error: Error): void {
    this.#gaps.add(`events of ${id} could not be read: ${error.message}`)
  }

  #cut(): void {
    this.#gaps.add(`the trace was cut after ${MAX_EVENTS} events`)
    void this.close()
  }

  async #load(id: HostId, text: string): Promise<void> {
    await runOrFail(['nft', '-f', '-'], {
      input: text,
      where: (work) => this.#lab.network.inNetwork(id, work),
    })
  }

  async #readRules(node: HostId): Promise<KnownRules> {
    const socket = this.#lab.network.inNetwork(node, () => openNetlinkSocket('netfilter'))
    try {
      return await readHandles(this.#lab.reader(node), socket)
    } finally {
      socket.close()
    }
  }

  /** Rules that came while the trace ran are learned too; those that came and went are not known. */
  async #noteRuleChanges(): Promise<void> {
    for (const [node, before] of this.#rules) {
      // One transaction made the trace table, one took it away.
      if (this.#lab.reader(node).generation() === before.generation + 2) continue
      const { rules, ...now } = await this.#readRules(node)
      this.#rules.set(node, { ...now, rules: new Map([...before.rules, ...rules]) })
      this.#gaps.add(`the rules of ${node} changed while the trace ran`)
    }
  }

  /** Waits for the command's last packets. */
  async #quiet(): Promise<void> {
    const start = performance.now()
    let seen = -1
    while (seen !== this.#order && performance.now() - start < PATIENCE_MS) {
      seen = this.#order
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS))
    }
  }

  /** Reads what still waits; with the tables gone nothing is added. */
  async #drain(): Promise<void> {
    let seen = -1
    while (seen !== this.#order) {
      seen = this.#order
      await new Promise((resolve) => setTimeout(resolve, DRAIN_MS))
    }
  }

  #facts(): JourneyFacts {
    const { nodes, client } = this.#lab.status()
    const hostByAddress = new Map<string, string>([[client.address, 'client']])
    const nodeByHost = new Map<string, string>()
    for (const { name, address, podCIDR } of nodes)
      for (const own of [address, gatewayOf(podCIDR)]) hostByAddress.set(own, nodeHost(name))
    for (const pod of podsOf(this.#lab)) {
      const [ip] = pod.status.podIPs
      if (ip === undefined || pod.spec.hostNetwork) continue
      hostByAddress.set(ip, hostOf(pod))
      nodeByHost.set(hostOf(pod), nodeHost(pod.spec.nodeName))
    }
    const links = new Map(this.#hosts.map(({ id }) => [id as string, this.#lab.network.linkNames(id)]))
    return {
      ruleOf: (host, table, chain, handle) =>
        this.#rules.get(host as HostId)?.rules.get(handleKey(table, chain, handle)),
      linkName: (host, index) => links.get(host)?.get(index) ?? `link ${index}`,
      tellsState: kernelTellsState(release()),
      hostAt: (address) => hostByAddress.get(address),
      nodeOf: (host) => nodeByHost.get(host),
    }
  }
}

/** `6.13.2-arch1`: since then the kernel's trace holds the connection's id, direction and state. */
function kernelTellsState(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return major > 6 || (major === 6 && minor >= 13)
}

function podsOf(lab: Lab): readonly Pod[] {
  const pods = lab.list({ kinds: ['pods'] }).groups.flatMap(({ objects }) => objects as readonly Pod[])
  return pods.filter(({ status }) => status.podIPs.length > 0)
}

const podAt = (lab: Lab, target: HostId): Pod | undefined => podsOf(lab).find((pod) => hostOf(pod) === target)

function addressOf(lab: Lab, target: HostId): string | undefined {
  return podAt(lab, target)?.status.podIPs[0]
}
