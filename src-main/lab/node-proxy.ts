import { LabError } from '../contract/errors.ts'
import type { ChainOrigin, NodeRuleDiff, RulePlace } from '../contract/lab-contract.ts'
import { diffRuleSets, formatDiff } from '../domain/iptables/diff-rule-sets.ts'
import { formatEdits } from '../domain/iptables/format-edits.ts'
import { parseSave } from '../domain/iptables/parse-save.ts'
import type { RuleSet } from '../domain/iptables/rule-set.ts'
import { arrangeForKernel } from '../domain/kube-proxy/arrange-for-kernel.ts'
import type { EntryJump } from '../domain/kube-proxy/entry-jumps.ts'
import { formatSave, formatSavedRule } from '../domain/kube-proxy/format-save.ts'
import { applyEntryJumps, applyRestore, emptyTables } from '../domain/kube-proxy/kernel-tables.ts'
import { defaultNodeConfig, type NodeConfig } from '../domain/kube-proxy/node-config.ts'
import { formatRestore } from '../domain/kube-proxy/restore.ts'
import { selectStaleConnections } from '../domain/kube-proxy/stale-connections.ts'
import { type ProxierState, planSync, type SyncInput, type SyncPlan } from '../domain/kube-proxy/sync.ts'
import type { NodeObject } from '../domain/kubernetes/objects.ts'
import { type NodePlace, nodeHost } from '../domain/topology/plan-network.ts'
import type { Where } from '../system/command/run-command.ts'
import type { IptablesTool } from '../system/iptables/iptables-tool.ts'
import { deleteConnections, getConnections } from '../system/netlink/conntrack-messages.ts'
import { type NetlinkSocket, openNetlinkSocket } from '../system/netlink/socket.ts'
import type { LabNetwork } from '../system/sandbox/lab-network.ts'
import { originsOf } from './chain-origins.ts'
import { countChanges } from './count-changes.ts'

/**
 * In a user namespace one nf_tables transaction must fit the socket's send buffer: 296 rules by measurement
 * where net.core.wmem_default is 208 kB.
 */
const ROOTLESS_RULES_PER_BATCH = 200

/** kube-proxy's configuration on a lab's node. */
export function labNodeConfig(
  node: NodePlace,
  clusterCIDRs: readonly string[],
  serviceCIDRs: readonly string[],
): NodeConfig {
  const { name, address, podCIDR } = node
  return defaultNodeConfig({ name, internalIP: address, podCIDRs: [podCIDR] }, { clusterCIDRs, serviceCIDRs })
}

/** What every node's kube-proxy watches: all Services and EndpointSlices of the cluster. */
export type ProxyView = Pick<SyncInput, 'services' | 'endpointSlices'>

/** One node's kube-proxy: plans with the proxier's own algorithm, and brings the kernel there. */
export class NodeProxy {
  readonly #config: NodeConfig
  readonly #iptables: IptablesTool
  readonly #where: Where
  readonly #limit: { readonly maxRules?: number }
  /** Opened when connections are first looked at. */
  #conntrack: NetlinkSocket | undefined
  #state: ProxierState | undefined
  /** What the state was planned from. */
  #shown: SyncInput | undefined
  /** The kernel may not hold what the state says: the last restore failed. */
  #broken = false

  constructor(
    config: NodeConfig,
    network: LabNetwork,
    { iptables, rootless }: { readonly iptables: IptablesTool; readonly rootless: boolean },
  ) {
    this.#config = config
    this.#iptables = iptables
    this.#where = (work) => network.inNetwork(nodeHost(config.nodeName), work)
    this.#limit = rootless && iptables.backend === 'nft' ? { maxRules: ROOTLESS_RULES_PER_BATCH } : {}
  }

  /**
   * Brings the node's rules to what the Services and endpoints want, but not before `pods` are there; false when they
   * are that already.
   */
  async sync(view: ProxyView, node: NodeObject | undefined, pods: Promise<unknown>): Promise<boolean> {
    const input = this.#input(view, node)
    if (this.#state && !this.#broken) {
      const plan = planSync(this.#state, input, { nowMs: performance.now() })
      const texts = arrangeForKernel(this.#state, plan, this.#limit)
      try {
        if (!plan.full) await this.#write(pods, texts)
        else await this.#write(pods, texts, await this.#missingJumps(plan.entryJumps))
        this.#accept(plan, input)
        return texts.length > 0
      } catch (error) {
        // Somebody changed our chains by hand: then nothing is trusted but what the kernel says.
        if (!(error instanceof LabError && error.code === 'command-failed')) throw error
      }
    }
    await this.#rewrite(input, pods)
    return true
  }

  /** Writes everything, whatever the kernel holds of us. */
  async #rewrite(input: SyncInput, pods: Promise<unknown>): Promise<void> {
    const isFirst = !this.#state && !this.#broken
    const natChains = isFirst ? [] : await this.#natChains()
    const options = { nowMs: performance.now(), full: true, natChains }
    const plan = planSync(this.#state, input, options)
    this.#broken = true
    await this.#write(
      pods,
      arrangeForKernel(undefined, plan, { ...this.#limit, existingChains: natChains }),
      isFirst ? plan.entryJumps : await this.#missingJumps(plan.entryJumps),
    )
    this.#accept(plan, input)
  }

  #accept({ state, udpEndpointsChanged }: SyncPlan, input: SyncInput): void {
    this.#broken = false
    this.#state = state
    this.#shown = input
    if (udpEndpointsChanged) this.#forgetStaleConnections(state)
  }

  #forgetStaleConnections({ ports }: ProxierState): void {
    this.#conntrack ??= this.#where(() => openNetlinkSocket('netfilter'))
    deleteConnections(this.#conntrack, selectStaleConnections(ports, getConnections(this.#conntrack)))
  }

  /** The built-in chains lead to ours only when these are whole: the jumps come last. */
  async #write(
    pods: Promise<unknown>,
    texts: readonly string[],
    jumps: readonly EntryJump[] = [],
  ): Promise<void> {
    const all = [...texts]
    if (jumps.length > 0) all.push((all.pop() ?? '') + formatJumps(jumps))
    for (const text of all)
      await this.#iptables.restore(
        this.#where,
        pods.then(() => text),
      )
  }

  /** What the rules would change by if the cluster were as in `view`. Touches nothing. */
  diff(view: ProxyView, node: NodeObject | undefined): NodeRuleDiff {
    const changes = diffRuleSets(
      this.#shown ? savedRules(this.#shown) : { tables: [] },
      savedRules(this.#input(view, node)),
    )
    return { node: this.#config.nodeName, ...countChanges(changes), text: formatDiff(changes) }
  }

  get node(): string {
    return this.#config.nodeName
  }

  /** Restore text that turns our rules into what the kernel holds; empty where nobody changed them by hand. */
  handMadeEdits(kernel: RuleSet): string {
    return formatEdits(diffRuleSets(this.#shown ? savedRules(this.#shown) : { tables: [] }, kernel))
  }

  /** What of the kernel's rules is not ours, and what of ours is not in the kernel. */
  compare(kernel: RuleSet): { handMade: RulePlace[]; missing: RulePlace[] } {
    const handMade: RulePlace[] = []
    const missing: RulePlace[] = []
    for (const { table, chains } of diffRuleSets(
      this.#shown ? savedRules(this.#shown) : { tables: [] },
      kernel,
    ))
      for (const { chain, rules } of chains)
        for (const rule of rules)
          if (rule.kind === 'added') handMade.push({ table, chain, number: rule.after, text: rule.text })
          else if (rule.kind === 'removed')
            missing.push({ table, chain, number: rule.before, text: rule.text })
    return { handMade, missing }
  }

  /** Brings back whatever of our rules somebody took away. */
  async restoreOwn(): Promise<void> {
    if (this.#shown) await this.#rewrite(this.#shown, Promise.resolve())
  }

  async restore(text: string): Promise<void> {
    await this.#iptables.restore(this.#where, text)
  }

  /** Which object each of the node's chains serves. */
  origins(): Record<string, ChainOrigin> {
    return this.#state ? originsOf(this.#state) : {}
  }

  async #missingJumps(jumps: readonly EntryJump[]): Promise<readonly EntryJump[]> {
    const lines = new Set((await this.#iptables.save(this.#where)).split('\n'))
    return jumps.filter(({ from, text }) => !lines.has(`-A ${from} ${formatSavedRule(text, 'IPv4')}`))
  }

  async #natChains(): Promise<string[]> {
    const text = await this.#iptables.save(this.#where, ['-t', 'nat'])
    return [...text.matchAll(/^:(\S+)/gm)].map(([, chain = '']) => chain)
  }

  #input(view: ProxyView, node: NodeObject | undefined): SyncInput {
    return { ...view, node, config: this.#config, family: 'IPv4' }
  }
}

/** All rules that a proxier starting afresh would leave in an empty kernel. */
function savedRules(input: SyncInput): RuleSet {
  const { entryJumps, restore } = planSync(undefined, input, { nowMs: 0 })
  const tables = applyRestore(applyEntryJumps(emptyTables, entryJumps), formatRestore(restore))
  const { ruleSet, problems } = parseSave(formatSave(tables, input.family))
  if (!ruleSet) throw new Error(`our own rules cannot be read: ${problems[0]?.message}`)
  return ruleSet
}

/** The jumps as restore text, each on top of its chain like `iptables -I`. */
function formatJumps(jumps: readonly EntryJump[]): string {
  return (['filter', 'nat'] as const)
    .map((name) => jumps.filter(({ table }) => table === name))
    .filter((group) => group.length > 0)
    .map((group) => {
      const lines = group.map(({ from, text }) => `-I ${from} ${text}\n`).join('')
      return `*${group[0]?.table}\n${lines}COMMIT\n`
    })
    .join('')
}
