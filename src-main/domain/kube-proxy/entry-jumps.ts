import type { ChainName } from '../iptables/rule-set.ts'
import type { IpFamily } from '../kubernetes/objects.ts'
import { chains } from './chain-names.ts'

/**
 * A chain of kube-proxy's and the rule that leads to it from a built-in chain. A full sync ensures each in this
 * order: the chain is made where it is missing, the rule goes on top of `from` where it is missing.
 */
export interface EntryJump {
  readonly table: 'filter' | 'nat'
  readonly chain: ChainName
  readonly from: ChainName
  /** The rule, from the first match to the jump. */
  readonly text: string
}

const newOnly = '-m conntrack --ctstate NEW '

/** The jumps are the same for both families. */
export const entryJumps: readonly EntryJump[] = [
  ...jumps('filter', chains.externalServices, newOnly, 'kubernetes externally-visible service portals', [
    'INPUT',
    'FORWARD',
  ]),
  ...jumps('filter', chains.nodePorts, '', 'kubernetes health check service ports', ['INPUT']),
  ...jumps('filter', chains.services, newOnly, 'kubernetes service portals', ['FORWARD', 'OUTPUT']),
  ...jumps('filter', chains.forward, '', 'kubernetes forwarding rules', ['FORWARD']),
  ...jumps('filter', chains.proxyFirewall, newOnly, 'kubernetes load balancer firewall', [
    'INPUT',
    'OUTPUT',
    'FORWARD',
  ]),
  ...jumps('nat', chains.services, '', 'kubernetes service portals', ['OUTPUT', 'PREROUTING']),
  ...jumps('nat', chains.postrouting, '', 'kubernetes postrouting rules', ['POSTROUTING']),
  // The kubelet makes the same chain and jumps; hence they have no comment and are never removed.
  ...jumps('filter', chains.firewall, '', '', ['INPUT', 'OUTPUT']),
]

// -I FORWARD -m conntrack --ctstate NEW -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
function jumps(
  table: EntryJump['table'],
  chain: ChainName,
  match: string,
  comment: string,
  from: readonly string[],
): EntryJump[] {
  const words = comment === '' ? '' : `-m comment --comment "${comment}" `
  return from.map((source) => ({
    table,
    chain,
    from: source as ChainName,
    text: `${match}${words}-j ${chain}`,
  }))
}

/** The commands as a person would type them, for a machine that has none of the chains yet. */
export function formatEntryCommands(jumps: readonly EntryJump[], family: IpFamily): string[] {
  const command = family === 'IPv4' ? 'iptables' : 'ip6tables'
  const lines: string[] = []
  const made = new Set<string>()
  for (const { table, chain, from, text } of jumps) {
    const key = `${table} ${chain}`
    if (!made.has(key)) lines.push(`${command} -t ${table} -N ${chain}`)
    made.add(key)
    lines.push(`${command} -t ${table} -I ${from} ${text}`)
  }
  return lines
}
