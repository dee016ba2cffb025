import type { ConnectionEntry, ConnectionTuple } from './connection-entry.ts'

/**
 * A line for each, as `conntrack -L` prints it, with `nat=dnat`, `snat` or `both` at its end where addresses are
 * translated, instead of the kernel's `use=` count.
 */
export function formatConnections(entries: readonly ConnectionEntry[]): string {
  return entries.map((entry) => `${formatConnection(entry)}\n`).join('')
}

// tcp      6 431999 ESTABLISHED src=10.244.1.7 dst=10.96.0.10 sport=4001 dport=80 src=10.244.2.8 … [ASSURED] mark=0 nat=dnat
function formatConnection(entry: ConnectionEntry): string {
  const { protocol, protocolNumber, timeoutSeconds, state, original, reply, flags, mark, nat } = entry
  const has = (flag: (typeof flags)[number]) => flags.includes(flag)
  return [
    `${protocol.padEnd(8)} ${protocolNumber}`,
    timeoutSeconds,
    ...(state === undefined ? [] : [state]),
    formatTuple(original),
    ...(has('UNREPLIED') ? ['[UNREPLIED]'] : []),
    formatTuple(reply),
    ...(has('OFFLOAD') ? ['[OFFLOAD]'] : has('ASSURED') ? ['[ASSURED]'] : []),
    `mark=${mark}`,
    ...(nat === 'none' ? [] : [`nat=${nat}`]),
  ].join(' ')
}

function formatTuple({ source, destination, sourcePort, destinationPort, icmp }: ConnectionTuple): string {
  const addresses = `src=${source} dst=${destination}`
  if (icmp) return `${addresses} type=${icmp.type} code=${icmp.code} id=${icmp.id}`
  return sourcePort === 0 && destinationPort === 0
    ? addresses
    : `${addresses} sport=${sourcePort} dport=${destinationPort}`
}
