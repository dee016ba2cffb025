import type { ChainName } from '../iptables/rule-set.ts'
import { addFilterDispatch, addNatDispatch } from './dispatch-rules.ts'
import type { NodeView } from './node-view.ts'
import { addOwnRules, listOwnChains } from './own-chain-rules.ts'
import { type RestorePort, spellRestore } from './restore.ts'
import { groupByChain } from './rule-index.ts'
import type { ProxyRule } from './rule-origin.ts'
import type { PortState, ProxierState, SyncPlan } from './sync.ts'

/** What a chain is to hold, and what it holds now. */
export interface ChainWrite {
  readonly table: 'filter' | 'nat'
  readonly chain: ChainName
  readonly rules: readonly ProxyRule[]
  /** `absent`: the chain is not there yet. `unknown`: it may be, and nobody can say what is in it. */
  readonly before: readonly ProxyRule[] | 'absent' | 'unknown'
}

/** Everything that one sync changes in the kernel; chains that hold what they should are left out. */
export interface SyncWrites {
  /** Own chains of each Service port; endpoints' chains before those that jump to them. */
  readonly own: readonly { readonly port: RestorePort; readonly writes: readonly ChainWrite[] }[]
  readonly shared: readonly ChainWrite[]
  /** Chains of the nat table that nothing will refer to. */
  readonly deletedChains: readonly ChainName[]
}

/**
 * A partial sync trusts that the kernel holds what the state before says; a full one trusts only that
 * those chains, and `existingChains` of the nat table, are there.
 */
export function listWrites(
  previous: ProxierState | undefined,
  plan: SyncPlan,
  existingChains: Iterable<string> = [],
): SyncWrites {
  const existing = new Set<string>(existingChains)
  for (const chain of previous?.staleChains ?? []) existing.add(chain)
  if (!previous || plan.full) {
    for (const { plan: old } of previous?.ports ?? [])
      for (const chain of listOwnChains(old)) existing.add(chain)
    return {
      own: plan.restore.ports.map((port) => ({
        port,
        writes: listOwnWrites(plan, port, undefined, existing),
      })),
      shared: listSharedWrites(undefined, plan),
      deletedChains: plan.restore.deletedChains,
    }
  }
  const old = new Map(previous.ports.map((port) => [portKey(port), port]))
  const own = [...plan.restore.rewritten].map((port) => ({
    port,
    writes: listOwnWrites(plan, port, ruleMap(previous, old.get(portKey(port))), existing),
  }))
  const samePlaces =
    previous.ports.length === plan.state.ports.length &&
    own.every(({ port }) => sameDispatch(previous, old.get(portKey(port)), plan, port))
  return {
    own: own.filter(({ writes }) => writes.length > 0),
    shared: samePlaces ? [] : listSharedWrites(previous, plan),
    deletedChains: plan.restore.deletedChains,
  }
}

function portKey({ plan: { port } }: RestorePort): string {
  return `${port.name} ${port.protocol}`
}

function ruleMap(state: ProxierState, port: PortState | undefined): Map<ChainName, ProxyRule[]> {
  const rules: ProxyRule[] = []
  if (port) addOwnRules(rules, port.plan, state.view, port.comments)
  return groupByChain(rules)
}

function listOwnWrites(
  { restore: { view } }: SyncPlan,
  port: RestorePort,
  before: ReadonlyMap<ChainName, readonly ProxyRule[]> | undefined,
  existing: ReadonlySet<string>,
): ChainWrite[] {
  const rules: ProxyRule[] = []
  addOwnRules(rules, port.plan, view, port.comments)
  const now = groupByChain(rules)
  return targetsFirst(port)
    .map(
      (chain): ChainWrite => ({
        table: 'nat',
        chain,
        rules: now.get(chain) ?? [],
        before: before?.get(chain) ?? (existing.has(chain) ? 'unknown' : 'absent'),
      }),
    )
    .filter(changes)
}

/** Endpoints' chains, then those that choose among them, then KUBE-EXT-, then KUBE-FW-, which jumps to that. */
function targetsFirst({ plan }: RestorePort): ChainName[] {
  const { firewall } = plan.port.chains
  const reversed = listOwnChains(plan).reverse()
  return plan.usesFirewall ? [...reversed.filter((chain) => chain !== firewall), firewall] : reversed
}

function changes({ rules, before }: ChainWrite): boolean {
  if (typeof before === 'string') return true
  return before.length !== rules.length || rules.some((rule, i) => rule.text !== before[i]?.text)
}

function sameDispatch(
  previous: ProxierState,
  before: PortState | undefined,
  plan: SyncPlan,
  now: RestorePort,
): boolean {
  if (!before) return false
  const old = dispatchOf(before, previous.view)
  const next = dispatchOf(now, plan.restore.view)
  return (
    old.length === next.length &&
    old.every(({ chain, text }, i) => text === next[i]?.text && chain === next[i]?.chain)
  )
}

function dispatchOf({ plan }: RestorePort, view: NodeView): ProxyRule[] {
  const rules: ProxyRule[] = []
  addFilterDispatch(rules, plan)
  addNatDispatch(rules, plan, view)
  return rules
}

function listSharedWrites(previous: ProxierState | undefined, { restore }: SyncPlan): ChainWrite[] {
  const sharedOnly = { rewritten: new Set<RestorePort>(), deletedChains: [] }
  const now = spellRestore({ ...restore, ...sharedOnly })
  const before = previous && spellRestore({ view: previous.view, ports: previous.ports, ...sharedOnly })
  return (['filter', 'nat'] as const)
    .flatMap((table) => {
      const rules = groupByChain([...now[table].rules, ...now[table].lastRules])
      const old = before && groupByChain([...before[table].rules, ...before[table].lastRules])
      // KUBE-SERVICES stands first among them and jumps to KUBE-NODEPORTS: last here.
      return now[table].chains.reverse().map(
        (chain): ChainWrite => ({
          table,
          chain,
          rules: rules.get(chain) ?? [],
          before: old ? (old.get(chain) ?? []) : 'unknown',
        }),
      )
    })
    .filter(changes)
}
