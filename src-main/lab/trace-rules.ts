import { type RuleSet, rulesByChain } from '../domain/iptables/rule-set.ts'
import type { TracedRule } from '../domain/trace/journey-hops.ts'
import { getTableRuleCounters } from '../system/netlink/nf-tables-messages.ts'
import type { NetlinkSocket } from '../system/netlink/socket.ts'
import type { RuleReader } from './rule-reader.ts'

/** Rules by what names them in trace events: table, chain and handle. Handles are never given twice. */
export type RulesByHandle = ReadonlyMap<string, TracedRule>

export const handleKey = (table: string, chain: string, handle: number): string =>
  `${table} ${chain} ${handle}`

export interface KnownRules {
  readonly generation: number
  readonly ruleSet: RuleSet
  readonly rules: RulesByHandle
}

const ATTEMPTS = 5

/** Reads one host's rules with their handles, again where somebody changes them meanwhile. */
export async function readHandles(reader: RuleReader, socket: NetlinkSocket): Promise<KnownRules> {
  for (let attempt = 1; ; attempt += 1) {
    const generation = reader.generation()
    const ruleSet = await reader.ruleSet()
    const rules = nameRules(ruleSet, socket)
    if (reader.generation() === generation || attempt === ATTEMPTS) return { generation, ruleSet, rules }
  }
}

function nameRules(ruleSet: RuleSet, socket: NetlinkSocket): RulesByHandle {
  const named = new Map<string, TracedRule>()
  for (const table of ruleSet.tables) {
    const handles = getTableRuleCounters(socket, 'ip', table.name)
    for (const [chain, rules] of rulesByChain(table)) {
      const known = handles.get(chain) ?? []
      if (known.length !== rules.length) continue
      rules.forEach(({ text }, at) => {
        const handle = known[at]?.handle
        if (handle !== undefined) named.set(handleKey(table.name, chain, handle), { number: at + 1, text })
      })
    }
  }
  return named
}
