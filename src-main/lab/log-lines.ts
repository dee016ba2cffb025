import { readFileSync, writeFileSync } from 'node:fs'
import { LabError } from '../contract/errors.ts'
import type { Events } from '../contract/lab-contract.ts'
import type { Client } from '../contract/rpc.ts'
import { formatLogLine } from '../domain/iptables/format-log-line.ts'
import { CLIENT, type HostId, nodeHost } from '../domain/topology/plan-network.ts'
import { type LogMessage, watchLogGroup } from '../system/netlink/log-messages.ts'
import { NetlinkError } from '../system/netlink/socket.ts'
import type { LabNetwork } from '../system/sandbox/lab-network.ts'
import { Signal } from './signal.ts'

/** Where NFLOG goes without --nflog-group, and what conntrack itself has to say. */
export const DEFAULT_LOG_GROUP = 0
/**
 * Who is told what conntrack has to say (net.netfilter.nf_conntrack_log_invalid). By default it is the kernel's log,
 * which is silent in our namespaces. LOG rules do not ask this: they know the kernel's log only.
 */
const LOGGER_OF_IPV4 = '/proc/sys/net/netfilter/nf_log/2'
/** More than anybody reads; the rest is counted. */
const LINES_A_SECOND = 500

type LogLine = Omit<Events['log/line'], 'subscription'>

/** The lines of the lab's NFLOG rules. A host's log group is read while somebody looks at it. */
export class LogLines {
  readonly #network: LabNetwork
  readonly #nodes: readonly { readonly name: string }[]
  /** By host and group. */
  readonly #readers = new Map<string, LogReader>()

  constructor(network: LabNetwork, nodes: readonly { readonly name: string }[]) {
    this.#network = network
    this.#nodes = nodes
  }

  /** Those that are meant: one, or where none is named the client and all nodes. */
  hosts(target: HostId | undefined): readonly HostId[] {
    return target ? [target] : [CLIENT, ...this.#nodes.map(({ name }) => nodeHost(name))]
  }

  /** Shows the lines of the hosts until the function that is returned is called. */
  show(client: Client, hosts: readonly HostId[], group: number, subscription: number): () => void {
    const stops: (() => void)[] = []
    const stop = (): void => {
      for (const each of stops.splice(0)) each()
    }
    try {
      for (const host of hosts)
        stops.push(this.#follow(host, group, (line) => client.emit('log/line', { subscription, ...line })))
    } catch (error) {
      stop()
      throw error
    }
    return stop
  }

  #follow(host: HostId, group: number, listener: (line: LogLine) => void): () => void {
    const key = `${host} ${group}`
    const reader = this.#readers.get(key) ?? new LogReader(this.#network, host, group)
    this.#readers.set(key, reader)
    const stop = reader.lines.listen(listener)
    return () => {
      stop()
      if (!reader.lines.isHeard && this.#readers.delete(key)) reader.close()
    }
  }
}

class LogReader {
  readonly lines = new Signal<LogLine>()
  readonly #network: LabNetwork
  readonly #host: HostId
  readonly #watch: { close(): void }
  /** Undefined for another group than the logger's. */
  readonly #loggerBefore: string | undefined
  #links: ReadonlyMap<number, string> = new Map()
  #lastSequence = -1
  #missed = 0
  #second = { startMs: 0, lines: 0 }

  constructor(network: LabNetwork, host: HostId, group: number) {
    this.#network = network
    this.#host = host
    this.#watch = network.inNetwork(host, () => openLog(host, group, (message) => this.#take(message)))
    if (group !== DEFAULT_LOG_GROUP) return
    try {
      this.#loggerBefore = network.inNetwork(host, () => {
        const before = readFileSync(LOGGER_OF_IPV4, 'utf8').trim()
        writeFileSync(LOGGER_OF_IPV4, 'nfnetlink_log')
        return before
      })
    } catch (error) {
      this.#watch.close()
      throw error
    }
  }

  close(): void {
    this.#watch.close()
    const before = this.#loggerBefore
    if (before === undefined || !this.#network.has(this.#host)) return
    this.#network.inNetwork(this.#host, () => writeFileSync(LOGGER_OF_IPV4, before))
  }

  #take(message: LogMessage): void {
    const { sequence, family } = message
    if (sequence > this.#lastSequence + 1) this.#missed += sequence - this.#lastSequence - 1
    this.#lastSequence = sequence
    if (family !== 4) return
    const atMs = performance.now()
    if (atMs - this.#second.startMs >= 1000) this.#second = { startMs: atMs, lines: 0 }
    this.#second.lines += 1
    if (this.#second.lines > LINES_A_SECOND) {
      this.#missed += 1
      return
    }
    const text = formatLogLine({
      ...message,
      in: this.#linkName(message.inLink),
      out: this.#linkName(message.outLink),
      physIn: this.#linkName(message.physicalInLink),
      physOut: this.#linkName(message.physicalOutLink),
    })
    this.lines.emit({ target: this.#host, atMs, text, missed: this.#missed })
    this.#missed = 0
  }

  /** Links come with pods: an index not known yet is looked for anew. */
  #linkName(index: number): string {
    if (index === 0) return ''
    if (!this.#links.has(index)) this.#links = this.#network.linkNames(this.#host)
    return this.#links.get(index) ?? `if${index}`
  }
}

function openLog(host: HostId, group: number, onMessage: (message: LogMessage) => void): { close(): void } {
  try {
    return watchLogGroup(group, {
      onMessage,
      onError: (error) => process.stderr.write(`the log of ${host}: ${error.message}\n`),
    })
  } catch (error) {
    if (!(error instanceof NetlinkError)) throw error
    if (error.code === 'EPERM' || error.code === 'EBUSY')
      throw new LabError(
        'conflict',
        `a program in ${host} reads log group ${group} already (tcpdump -i nflog:${group}, or ulogd): end it first`,
      )
    throw new LabError(
      'unavailable',
      `this kernel has no nfnetlink_log (${error.code}): as root of the machine, modprobe nfnetlink_log`,
    )
  }
}
