import type { ConnectionTable } from '../contract/lab-contract.ts'
import {
  type ConnectionEntry,
  type ConnectionFilter,
  type ConnectionFlag,
  type ConnectionTuple,
  matchesConnection,
} from '../domain/conntrack/connection-entry.ts'
import { protocolName } from '../domain/iptables/protocol-names.ts'
import type { HostId } from '../domain/topology/plan-network.ts'
import {
  type Connection,
  connectionStatus,
  getConnections,
  type ConnectionTuple as KernelTuple,
} from '../system/netlink/conntrack-messages.ts'
import { type NetlinkSocket, openNetlinkSocket } from '../system/netlink/socket.ts'
import type { LabNetwork } from '../system/sandbox/lab-network.ts'

/** More than this is no reading matter; a filter finds the rest. */
const ENTRIES_SHOWN = 2_000

const { seenReply, assured, expected, offload, sourceNat, destinationNat } = connectionStatus

/** The conntrack tables of the lab's hosts. A socket is open only while a table is looked at. */
export class ConnectionTables {
  readonly #network: LabNetwork

  constructor(network: LabNetwork) {
    this.#network = network
  }

  read(target: HostId, filter?: ConnectionFilter): ConnectionTable {
    const socket = this.#open(target)
    try {
      return readTable(socket, filter)
    } finally {
      socket.close()
    }
  }

  /** For looking again and again; `close` ends it. */
  follow(target: HostId, filter?: ConnectionFilter): { read(): ConnectionTable; close(): void } {
    const socket = this.#open(target)
    return { read: () => readTable(socket, filter), close: () => socket.close() }
  }

  #open(target: HostId): NetlinkSocket {
    return this.#network.inNetwork(target, () => openNetlinkSocket('netfilter'))
  }
}

function readTable(socket: NetlinkSocket, filter: ConnectionFilter | undefined): ConnectionTable {
  const all = getConnections(socket)
  const matching = filter ? all.filter((each) => matchesConnection(entryOf(each), filter)) : all
  return {
    total: all.length,
    matching: matching.length,
    entries: matching.slice(0, ENTRIES_SHOWN).map(entryOf),
  }
}

function entryOf(connection: Connection): ConnectionEntry {
  const { id, family, original, reply, status, tcpState, timeoutSeconds, mark } = connection
  const name = original.protocol === 58 ? 'icmpv6' : protocolName(String(original.protocol))
  return {
    id,
    family,
    protocol: /^\d+$/.test(name) ? 'unknown' : name,
    protocolNumber: original.protocol,
    original: tupleOf(original),
    reply: tupleOf(reply),
    ...(tcpState === undefined ? {} : { state: tcpState }),
    timeoutSeconds: timeoutSeconds ?? 0,
    flags: flagsOf(status),
    nat: natOf(status),
    mark,
  }
}

function tupleOf({ source, destination, sourcePort, destinationPort, icmp }: KernelTuple): ConnectionTuple {
  return { source, destination, sourcePort, destinationPort, ...(icmp ? { icmp } : {}) }
}

function flagsOf(status: number): ConnectionFlag[] {
  return [
    ...(status & seenReply ? [] : ['UNREPLIED' as const]),
    ...(status & assured ? ['ASSURED' as const] : []),
    ...(status & expected ? ['EXPECTED' as const] : []),
    ...(status & offload ? ['OFFLOAD' as const] : []),
  ]
}

function natOf(status: number): ConnectionEntry['nat'] {
  if (status & sourceNat) return status & destinationNat ? 'both' : 'snat'
  return status & destinationNat ? 'dnat' : 'none'
}
