import { HOOKS, tablesAt } from './check-jumps.ts'

/** The nft table that the lab counts packets in, beside those of iptables, which does not see it. */
export const HOOK_COUNTER_TABLE = 'chainwalk_map'

/** Where iptables hangs its tables, by hook; nat lies at 100 where source addresses change. */
const priorities: Readonly<Record<string, number>> = { raw: -300, mangle: -150, filter: 0 }

/** Name of the chain that counts what comes to one table at one hook. */
export const hookCounterChain = (hook: string, table: string): string => `${hook}_${table}`.toLowerCase()

/**
 * nft's text that makes the table: just before each of iptables' chains one that counts and lets everything pass.
 * Those before nat chains are of type nat, so that the kernel asks them, too, for a connection's first packet only.
 */
export function formatHookCounters(): string {
  const chains = HOOKS.flatMap((hook) =>
    tablesAt(hook)
      .filter((table) => table !== 'security')
      .map((table) => {
        const isNat = table === 'nat'
        const sourceNat = hook === 'POSTROUTING' || hook === 'INPUT'
        const priority = (isNat ? (sourceNat ? 100 : -100) : (priorities[table] ?? 0)) - 1
        const head = `type ${isNat ? 'nat' : 'filter'} hook ${hook.toLowerCase()} priority ${priority}`
        return `  chain ${hookCounterChain(hook, table)} { ${head}; counter; }\n`
      }),
  )
  return `table ip ${HOOK_COUNTER_TABLE} {\n${chains.join('')}}\n`
}
