import type { ChainOrigin, NodeRuleDiff } from '../contract/lab-contract.ts'
import { diffRuleSets, formatDiff } from '../domain/iptables/diff-rule-sets.ts'
import { formatEdits } from '../domain/iptables/format-edits.ts'
import { parseSave } from '../domain/iptables/parse-save.ts'
import type { RuleSet } from '../domain/iptables/rule-set.ts'
import { arrangeForKernel } from '../domain/kube-proxy/arrange-for-kernel.ts'
import type { EntryJump } from '../domain/kube-proxy/entry-jumps.ts'
import { formatSave, formatSavedRule } from '../domain/kube-proxy/format-save.ts'
import { applyEntryJumps, applyRestore, emptyTables } from '../domain/kube-proxy/kernel-tables.ts'
import type { NodeConfig } from '../domain/kube-proxy/node-config.ts'
import { formatRestore } from '../domain/kube-proxy/restore.ts'
import { type ProxierState, planSync, type SyncInput } from '../domain/kube-proxy/sync.ts'
import type { NodeObject } from '../domain/kubernetes/objects.ts'
import { gatewayOf, type HostId, type NodePlace, nodeHost } from '../domain/topology/plan-network.ts'
import { runOrFail } from '../system/command/run-command.ts'
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
  const prefix = node.podCIDR.split('/')[1] ?? '24'
  return {
    nodeName: node.name,
    nodeIPs: [node.address],
    ipFamilies: ['IPv4'],
    interfaces: [
      { name: 'lo', addrs: ['127.0.0.1/8'] },
      { name: 'eth0', addrs: [`${node.address}/16`] },
      { name: 'cni0', addrs: [`${gatewayOf(node.podCIDR)}/${prefix}`] },
    ],
    detectLocal: { mode: 'ClusterCIDR', clusterCIDRs },
    masqueradeAll: false,
    masqueradeBit: 14,
    nodePortAddresses: [],
    localhostNodePorts: true,
    randomFully: true,
    nfacct: false,
    conntrackTCPBeLiberal: false,
    serviceCIDRs,
  }
}

/** What every node's kube-proxy watches: all Services and EndpointSlices of the cluster. */
export type ProxyView = Pick<SyncInput, 'services' | 'endpointSlices'>

/** One node's kube-proxy: plans with the proxier's own algorithm, and brings the kernel there. */
export class NodeProxy {
  readonly #config: NodeConfig
  readonly #host: HostId
  readonly #network: LabNetwork
  readonly #rootless: boolean
  #state: ProxierState | undefined
  /** What the state was planned from. */
  #shown: SyncInput | undefined
  /** The kernel may not hold what the state says: the last restore failed. */
  #broken = false

  constructor(config: NodeConfig, network: LabNetwork, rootless: boolean) {
    this.#config = config
    this.#host = nodeHost(config.nodeName)
    this.#network = network
    this.#rootless = rootless
  }

  /** Brings the node's rules to what the Services and endpoints want; false when they are that already. */
  async sync(view: ProxyView, node: NodeObject | undefined): Promise<boolean> {
    const input = this.#input(view, node)
    const plan = planSync(this.#state, input, {
      nowMs: performance.now(),
      full: this.#broken,
    })
    const batches = arrangeForKernel(
      this.#state,
      plan,
      this.#rootless ? { maxRules: ROOTLESS_RULES_PER_BATCH } : {},
    )
    if (batches.length === 0) return false
    const jumps = plan.full ? formatJumps(await this.#missingJumps(plan.entryJumps)) : ''
    this.#broken = true
    // The built-in chains lead to ours only when these are whole.
    for (const [at, text] of batches.entries())
      await this.#run(
        ['iptables-nft-restore', '-w', '5', '--noflush', '--counters'],
        at === batches.length - 1 ? text + jumps : text,
      )
    this.#broken = false
    this.#state = plan.state
    this.#shown = input
    return true
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

  async restore(text: string): Promise<void> {
    await this.#run(['iptables-nft-restore', '-w', '5', '--noflush'], text)
  }

  /** Which object each of the node's chains serves. */
  origins(): Record<string, ChainOrigin> {
    return this.#state ? originsOf(this.#state) : {}
  }

  async #missingJumps(jumps: readonly EntryJump[]): Promise<readonly EntryJump[]> {
    if (!this.#state && !this.#broken) return jumps // a node that was never written to has none
    const lines = new Set((await this.#run(['iptables-nft-save'])).split('\n'))
    return jumps.filter(({ from, text }) => !lines.has(`-A ${from} ${formatSavedRule(text, 'IPv4')}`))
  }

  #run(argv: readonly string[], input = ''): Promise<string> {
    return runOrFail(argv, { input, where: (work) => this.#network.inNetwork(this.#host, work) })
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
