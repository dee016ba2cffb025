import { TRACE_TABLE, traceChains } from '../domain/trace/join-walks.ts'

/** Connections that one trace follows; more are left untraced. */
const MAX_CONNECTIONS = 4096
/** A trace that nobody took away stops following by itself. */
const CONNECTION_SECONDS = 600

/** nft's words for the traced command's own packets among all that leave its host: `meta priority 0x…`. */
export type SenderMatch = string

/** Where the command's packets cannot be told from others: all that the host sends of its own accord. */
export const EVERY_SENDER: SenderMatch = 'ct direction original'

/**
 * nft's text of the trace table for a node. Packets of `hosts` are traced from before raw on, so that raw is seen;
 * behind conntrack those are let go again whose connection was not begun by one of `hosts` meanwhile. `left` looks
 * behind all of iptables' chains, where NAT has been done. `sender` is given where the command runs on this node.
 */
export function formatNodeTable(hosts: readonly string[], sender?: SenderMatch): string {
  const { arrived, tracked, left, sent } = traceChains
  const ofHosts = ['ip saddr @hosts meta nftrace set 1 accept', 'ip daddr @hosts meta nftrace set 1 accept']
  const ofFlows = [
    'ct state new ip saddr @hosts ct direction original add @flows { ct id }',
    'ct id @flows accept',
    'ct state new,established,related meta nftrace set 0',
  ]
  return table(`
  set hosts { type ipv4_addr; flags interval; elements = { ${hosts.join(', ')} }; }
  set flows { typeof ct id; size ${MAX_CONNECTIONS}; flags dynamic,timeout; timeout ${CONNECTION_SECONDS}s; }
${[
  chain(`${arrived}_PREROUTING`, 'prerouting', -301, ofHosts),
  chain(`${arrived}_OUTPUT`, 'output', -301, ofHosts),
  chain(`${tracked}_PREROUTING`, 'prerouting', -199, ofFlows),
  chain(`${tracked}_OUTPUT`, 'output', -199, ofFlows),
  ...(sender ? [chain(`${sent}_OUTPUT`, 'output', -198, [`${sender} accept`])] : []),
  chain(`${left}_INPUT`, 'input', 301, []),
  chain(`${left}_POSTROUTING`, 'postrouting', 301, []),
].join('')}`)
}

/** For a command's host that is no node: shows its packets as they leave. */
export function formatSenderTable(sender: SenderMatch): string {
  return table(
    `\n${chain(`${traceChains.sent}_POSTROUTING`, 'postrouting', 301, [`${sender} meta nftrace set 1 accept`])}`,
  )
}

/** Replaces what a trace that died may have left. */
const table = (body: string): string =>
  `table inet ${TRACE_TABLE}\ndelete table inet ${TRACE_TABLE}\ntable inet ${TRACE_TABLE} {${body}}\n`

const chain = (name: string, hook: string, priority: number, rules: readonly string[]): string =>
  `  chain ${name} {\n    type filter hook ${hook} priority ${priority};\n${rules.map((rule) => `    ${rule}\n`).join('')}  }\n`
