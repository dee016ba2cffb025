import { closeSync, openSync, readSync } from 'node:fs'
import type { ChainListing, WireCounters } from '../contract/counter-messages.ts'
import { LabError } from '../contract/errors.ts'
import { parseSave } from '../domain/iptables/parse-save.ts'
import { type Counters, type RuleSet, rulesByChain, type Table } from '../domain/iptables/rule-set.ts'
import { targetOf } from '../domain/iptables/rule-spec.ts'
import type { HostId } from '../domain/topology/plan-network.ts'
import type { Where } from '../system/command/run-command.ts'
import type { IptablesTool } from '../system/iptables/iptables-tool.ts'
import {
  getChains,
  getRuleCounters,
  getRuleSetGeneration,
  getTableRuleCounters,
  type RuleCounters,
} from '../system/netlink/nf-tables-messages.ts'
import { NetlinkError, type NetlinkSocket, openNetlinkSocket } from '../system/netlink/socket.ts'
import type { LabNetwork } from '../system/sandbox/lab-network.ts'

/** Somebody may change rules between our look at the text and at the counters; then both are read again. */
const READ_ATTEMPTS = 5

interface KnownTable {
  readonly table: Table
  readonly chains: ReadonlyMap<string, { readonly policy?: string; readonly texts: readonly string[] }>
  /** How many rules jump or go to each chain. */
  readonly references: ReadonlyMap<string, number>
}

interface KnownRules {
  readonly generation: number
  readonly text: string
  readonly ruleSet: RuleSet
  readonly tables: ReadonlyMap<string, KnownTable>
}

/**
 * The rules of one host as its kernel has them. The text is asked of iptables-save when the rule set's
 * generation has moved; counters come over netlink, for the chains that are wanted only.
 */
export class RuleReader {
  readonly #host: HostId
  readonly #iptables: IptablesTool
  readonly #where: Where
  readonly #socket: NetlinkSocket
  readonly #statistics: readonly number[]
  #known: KnownRules | undefined

  constructor(host: HostId, network: LabNetwork, iptables: IptablesTool) {
    this.#host = host
    this.#iptables = iptables
    this.#where = (work) => network.inNetwork(host, work)
    this.#socket = this.#where(() => openNetlinkSocket('netfilter'))
    // They go on showing the namespace that they were opened in.
    this.#statistics = this.#where(() =>
      ['dev', 'snmp'].map((name) => openSync(`/proc/thread-self/net/${name}`, 'r')),
    )
  }

  close(): void {
    this.#socket.close()
    for (const file of this.#statistics) closeSync(file)
  }

  /**
   * Another text whenever a counter may be different: the rules' generation, what each link has received, and how
   * many IP packets came in and were sent (one of the host's own may be dropped ahead of every link). Costs 0.1 ms
   * where reading 10,000 counters costs 70. Undefined where nothing tells that rules were changed.
   */
  movement(): string | undefined {
    if (this.#iptables.backend === 'legacy') return undefined
    return `${this.generation()}\n${this.#statistics.map(readWhole).join('')}`
  }

  generation(): number {
    return getRuleSetGeneration(this.#socket)
  }

  /** iptables-save text, without counters. */
  async text(): Promise<string> {
    return (await this.#rules()).text
  }

  /** iptables-save text with the counters of this moment. */
  async textWithCounters(): Promise<string> {
    return await this.#save(['-c'])
  }

  async ruleSet(): Promise<RuleSet> {
    return (await this.#rules()).ruleSet
  }

  /**
   * The chains asked for, with counters of this moment. Without a chain all of the table, without a table all
   * tables; a chain alone is looked for in every table. Fails with `not-found` for what does not exist.
   */
  async listings(tableName?: string, chainName?: string): Promise<ChainListing[]> {
    const rules = await this.#rules()
    if (tableName !== undefined && !rules.tables.has(tableName)) {
      if (!['raw', 'mangle', 'nat', 'filter', 'security'].includes(tableName))
        throw new LabError('not-found', `there is no table ${tableName}`)
      if (chainName === undefined) return []
    }
    const tables = [...rules.tables.values()].filter(
      ({ table, chains }) =>
        (tableName === undefined || table.name === tableName) &&
        (chainName === undefined || chains.has(chainName)),
    )
    if (chainName !== undefined && tables.length === 0)
      throw new LabError('not-found', `${this.#host} has no chain ${chainName}${inTable(tableName)}`)
    const listings: ChainListing[] = []
    for (const { table } of tables)
      listings.push(...(await this.chains(table.name, chainName === undefined ? undefined : [chainName])))
    return listings
  }

  /** The named chains of one table (all by default), as far as they exist. */
  async chains(tableName: string, names?: readonly string[]): Promise<ChainListing[]> {
    if (this.#iptables.backend === 'legacy') return await this.#legacyChains(tableName, names)
    for (let attempt = 1; ; attempt += 1) {
      const rules = await this.#rules()
      const known = rules.tables.get(tableName)
      if (!known) return []
      const listings = this.#count(known, names ?? [...known.chains.keys()])
      if (listings && this.generation() === rules.generation) return listings
      if (attempt === READ_ATTEMPTS)
        throw new LabError(
          'conflict',
          `the rules of ${this.#host} change faster than they can be read; try again`,
        )
      this.#known = undefined
    }
  }

  /** Legacy iptables has no counters over netlink: all of a table comes with each look. */
  async #legacyChains(tableName: string, names: readonly string[] | undefined): Promise<ChainListing[]> {
    const table = parse(this.#host, await this.#save(['-c', '-t', tableName])).tables[0]
    if (!table) return []
    const { references } = knownTable(table)
    const rules = rulesByChain(table)
    return table.chains
      .filter(({ name }) => names === undefined || names.includes(name))
      .map(({ name, policy, counters }) => ({
        table: tableName,
        chain: name,
        ...(policy === undefined ? {} : { policy, counters: wire(counters) }),
        references: references.get(name) ?? 0,
        rules: (rules.get(name) ?? []).map((rule) => ({ text: rule.text, counters: wire(rule.counters) })),
      }))
  }

  /** Undefined where text and kernel do not fit together. */
  #count(known: KnownTable, names: readonly string[]): ChainListing[] | undefined {
    const tableName = known.table.name
    const wanted = names.filter((name) => known.chains.has(name))
    const builtIn = wanted.some((name) => known.chains.get(name)?.policy !== undefined)
    try {
      const states = new Map(
        builtIn ? getChains(this.#socket, 'ip', tableName).map((state) => [state.name, state]) : [],
      )
      const whole = wanted.length > 64 ? getTableRuleCounters(this.#socket, 'ip', tableName) : undefined
      const listings: ChainListing[] = []
      for (const name of wanted) {
        const chain = known.chains.get(name)
        const counted: readonly RuleCounters[] = whole
          ? (whole.get(name) ?? [])
          : getRuleCounters(this.#socket, 'ip', tableName, name)
        if (!chain || counted.length !== chain.texts.length) return undefined
        // iptables-save also shows built-in chains that the kernel does not have yet.
        const base = states.get(name)?.base
        const policy = base?.policy ?? chain.policy
        listings.push({
          table: tableName,
          chain: name,
          ...(policy === undefined ? {} : { policy, counters: wire(base?.counters) }),
          references: known.references.get(name) ?? 0,
          rules: chain.texts.map((text, at) => ({ text, counters: wire(counted[at]) })),
        })
      }
      return listings
    } catch (error) {
      if (error instanceof NetlinkError && error.code === 'ENOENT') return undefined // a chain has just gone
      throw error
    }
  }

  async #rules(): Promise<KnownRules> {
    for (let attempt = 1; ; attempt += 1) {
      const generation = this.generation()
      const isLegacy = this.#iptables.backend === 'legacy' // whose changes move no generation
      if (!isLegacy && this.#known?.generation === generation) return this.#known
      const text = await this.#save([])
      if (this.generation() !== generation && attempt < READ_ATTEMPTS) continue
      if (this.#known?.text === text) return this.#known
      const ruleSet = parse(this.#host, text)
      this.#known = {
        generation,
        text,
        ruleSet,
        tables: new Map(ruleSet.tables.map((table) => [table.name, knownTable(table)])),
      }
      return this.#known
    }
  }

  #save(args: readonly string[]): Promise<string> {
    return this.#iptables.save(this.#where, args)
  }
}

const page = Buffer.alloc(64 * 1024)

/** A file of /proc from its start, which makes the kernel write it anew. */
function readWhole(file: number): string {
  let text = ''
  for (let at = 0; ; ) {
    const length = readSync(file, page, 0, page.length, at)
    if (length === 0) return text
    text += page.toString('latin1', 0, length)
    at += length
  }
}

function parse(host: HostId, text: string): RuleSet {
  if (text.trim() === '') return { tables: [] } // a host that nobody gave a rule yet
  const { ruleSet, problems } = parseSave(text)
  if (ruleSet) return ruleSet
  const why = problems.map(({ message }) => message).join('; ')
  throw new LabError('internal', `iptables-save of ${host} cannot be read: ${why}`)
}

const inTable = (name: string | undefined): string => (name === undefined ? '' : ` in the table ${name}`)

const wire = (counters: Counters | undefined): WireCounters => ({
  packets: String(counters?.packets ?? 0n),
  bytes: String(counters?.bytes ?? 0n),
})

function knownTable(table: Table): KnownTable {
  const references = new Map<string, number>()
  for (const rule of table.rules) {
    const target = targetOf(rule)?.name
    if (target) references.set(target, (references.get(target) ?? 0) + 1)
  }
  const rules = rulesByChain(table)
  return {
    table,
    references,
    chains: new Map(
      table.chains.map(({ name, policy }) => [
        name,
        {
          ...(policy === undefined ? {} : { policy }),
          texts: (rules.get(name) ?? []).map(({ text }) => text),
        },
      ]),
    ),
  }
}
