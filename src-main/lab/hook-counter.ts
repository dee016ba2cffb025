import type { HookCell } from '../contract/lab-contract.ts'
import { HOOKS, tablesAt } from '../domain/iptables/check-jumps.ts'
import { formatHookCounters, HOOK_COUNTER_TABLE, hookCounterChain } from '../domain/iptables/hook-counters.ts'
import { type ChainName, rulesByChain, tableNamed } from '../domain/iptables/rule-set.ts'
import { runOrFail, type Where } from '../system/command/run-command.ts'
import { getTableRuleCounters } from '../system/netlink/nf-tables-messages.ts'
import type { NetlinkSocket } from '../system/netlink/socket.ts'
import type { RuleReader } from './rule-reader.ts'

/** Counts packets at every hook and table of one host, from the first look on. */
export class HookCounter {
  readonly #where: Where
  readonly #socket: NetlinkSocket
  readonly #reader: RuleReader
  #made: Promise<unknown> | undefined

  constructor(where: Where, socket: NetlinkSocket, reader: RuleReader) {
    this.#where = where
    this.#socket = socket
    this.#reader = reader
  }

  async cells(): Promise<HookCell[]> {
    this.#made ??= runOrFail(['nft', '-f', '-'], { input: formatHookCounters(), where: this.#where })
    await this.#made
    const counters = getTableRuleCounters(this.#socket, 'ip', HOOK_COUNTER_TABLE)
    const ruleSet = await this.#reader.ruleSet()
    return HOOKS.flatMap((hook) =>
      tablesAt(hook).flatMap((name): HookCell[] => {
        const counted = counters.get(hookCounterChain(hook, name))?.[0]
        if (!counted) return []
        const table = tableNamed(ruleSet, name)
        const rules = table ? (rulesByChain(table).get(hook as string as ChainName)?.length ?? 0) : 0
        return [{ hook, table: name, packets: String(counted.packets), bytes: String(counted.bytes), rules }]
      }),
    )
  }
}
