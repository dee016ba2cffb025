import type { SilentRule } from '../contract/lab-contract.ts'
import type { Handlers } from '../contract/rpc.ts'
import { rulesByChain } from '../domain/iptables/rule-set.ts'
import { targetOf } from '../domain/iptables/rule-spec.ts'
import type { HostId } from '../domain/topology/plan-network.ts'
import { Captures } from './captures.ts'
import { ConnectionTables } from './connection-table.ts'
import type { Lab } from './lab.ts'
import { DEFAULT_LOG_GROUP, LogLines } from './log-lines.ts'

type ObserveRequest =
  | 'conntrack/read'
  | 'conntrack/subscribe'
  | 'capture/start'
  | 'capture/pcap'
  | 'capture/stop'
  | 'log/subscribe'

/** The requests for what stands beside a trace: connections, packets on a link, lines of NFLOG rules. */
export function observeHandlers(lab: Lab, failed: (error: unknown) => void): Pick<Handlers, ObserveRequest> {
  const tables = new ConnectionTables(lab.network)
  const captures = new Captures(lab)
  const log = new LogLines(lab.network, lab.status().nodes)
  return {
    'conntrack/read': ({ target, filter }) => tables.read(target as HostId, filter),
    'conntrack/subscribe': ({ target, filter, intervalMs }, client) => {
      const table = tables.follow(target as HostId, filter)
      return {
        subscription: lab.samplers.subscribe(client, intervalMs, {
          read: () => table.read(),
          show: (sample, subscription) =>
            client.emit('conntrack/sample', { subscription, target, atMs: performance.now(), ...sample }),
          failed,
          ended: () => table.close(),
        }),
      }
    },
    'capture/start': (params, client) => captures.start(client, params),
    'capture/pcap': ({ capture }) => captures.pcap(capture),
    'capture/stop': ({ capture }) => captures.stop(capture),
    'log/subscribe': async ({ target, group = DEFAULT_LOG_GROUP }, client) => {
      const hosts = log.hosts(target as HostId | undefined)
      const subscription = lab.samplers.follow(client, (id) => log.show(client, hosts, group, id))
      return { subscription, silentRules: await silentRules(lab, hosts) }
    },
  }
}

/** Rules with the target LOG, whose lines the kernel keeps to itself. */
async function silentRules(lab: Lab, hosts: readonly HostId[]): Promise<SilentRule[]> {
  const found: SilentRule[] = []
  for (const target of hosts) {
    const { tables } = await lab.reader(target).ruleSet()
    for (const table of tables)
      for (const [chain, rules] of rulesByChain(table))
        rules.forEach((rule, i) => {
          if (targetOf(rule)?.name !== 'LOG') return
          found.push({ target, table: table.name, chain, number: i + 1, text: rule.text })
        })
  }
  return found
}
