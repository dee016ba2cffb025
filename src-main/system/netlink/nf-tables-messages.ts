import {
  findAttribute,
  NetlinkDecodeError,
  type NetlinkRequest,
  readString,
  readU8,
  readU32be,
  readU64be,
  valueEnd,
  walkAttributes,
  writeBody,
} from './codec.ts'
import {
  type NfnetlinkFamily,
  nfnetlinkFamilies,
  nfnetlinkGroups,
  nfnetlinkHeaderLength,
  subsystem,
} from './nfnetlink.ts'
import { type NetlinkSocket, openNetlinkSocket } from './socket.ts'
import { type NetlinkWatch, watchNetlink } from './watch.ts'

// Numbers of include/uapi/linux/netfilter/nf_tables.h.
const nftables = (message: number) => subsystem.nfTables | message
const NFT_MSG_NEWTABLE = nftables(0)
const NFT_MSG_DELTABLE = nftables(2)
const NFT_MSG_NEWCHAIN = nftables(3)
const NFT_MSG_GETCHAIN = nftables(4)
const NFT_MSG_DELCHAIN = nftables(5)
const NFT_MSG_NEWRULE = nftables(6)
const NFT_MSG_GETRULE = nftables(7)
const NFT_MSG_DELRULE = nftables(8)
const NFT_MSG_NEWGEN = nftables(15)
const NFT_MSG_GETGEN = nftables(16)

const NFTA_TABLE_NAME = 1
const NFTA_CHAIN = { table: 1, handle: 2, name: 3, hook: 4, policy: 5, type: 7, counters: 8 } as const
const NFTA_HOOK_HOOKNUM = 1
const NFTA_HOOK_PRIORITY = 2
const NFTA_RULE = { table: 1, chain: 2, handle: 3, expressions: 4 } as const
const NFTA_LIST_ELEM = 1
const NFTA_EXPR_NAME = 1
const NFTA_EXPR_DATA = 2
const NFTA_COUNTER_BYTES = 1
const NFTA_COUNTER_PACKETS = 2
const NFTA_GEN = { id: 1, processId: 2, processName: 3 } as const

export interface RuleCounters {
  /** As `nft -a list` and trace events name the rule; unique in its table, never given twice. */
  readonly handle: number
  readonly packets: bigint
  readonly bytes: bigint
}

function rulesRequest(family: NfnetlinkFamily, table: string, chain?: string): NetlinkRequest {
  const body = writeBody((w) => {
    w.u8(nfnetlinkFamilies[family]).u8(0).u16be(0)
    w.attributeString(NFTA_RULE.table, table)
    if (chain !== undefined) w.attributeString(NFTA_RULE.chain, chain)
  })
  const what = `list rules of ${family} ${table}${chain === undefined ? '' : ` ${chain}`}`
  return { type: NFT_MSG_GETRULE, flags: 0, body, what }
}

/**
 * The counters of one chain's rules, in chain order, equal to `iptables -vnxL`'s. A rule without a counter has
 * zeros; a chain that does not exist has no rules.
 */
export function getRuleCounters(
  socket: NetlinkSocket,
  family: NfnetlinkFamily,
  table: string,
  chain: string,
): RuleCounters[] {
  return socket.dump(rulesRequest(family, table, chain), decodeRuleCounters)
}

/**
 * The counters of a whole table, by chain; chains without rules are not among them. Above some 10,000 rules the
 * kernel's walk becomes quadratic: ask chain by chain then.
 */
export function getTableRuleCounters(
  socket: NetlinkSocket,
  family: NfnetlinkFamily,
  table: string,
): Map<string, RuleCounters[]> {
  const chains = new Map<string, RuleCounters[]>()
  const rules = socket.dump(rulesRequest(family, table), (buffer, start, end) => ({
    chain: stringAttribute(buffer, start + nfnetlinkHeaderLength, end, NFTA_RULE.chain),
    counters: decodeRuleCounters(buffer, start, end),
  }))
  for (const { chain, counters } of rules) {
    const list = chains.get(chain)
    if (list) list.push(counters)
    else chains.set(chain, [counters])
  }
  return chains
}

/**
 * The counters of some rules of a chain, in the order of `handles`; undefined for rules that are gone. A chain
 * of 10,000 rules takes the kernel 100 ms to list: this reads the few that somebody looks at.
 */
export function getRuleCountersByHandle(
  socket: NetlinkSocket,
  family: NfnetlinkFamily,
  table: string,
  chain: string,
  handles: readonly number[],
): (RuleCounters | undefined)[] {
  const requests = handles.map((handle): NetlinkRequest => {
    const body = writeBody((w) => {
      w.u8(nfnetlinkFamilies[family]).u8(0).u16be(0)
      w.attributeString(NFTA_RULE.table, table).attributeString(NFTA_RULE.chain, chain)
      w.attributeU64be(NFTA_RULE.handle, BigInt(handle))
    })
    return {
      type: NFT_MSG_GETRULE,
      flags: 0,
      body,
      what: `read rule ${handle} of ${family} ${table} ${chain}`,
    }
  })
  return socket.getEach(requests, decodeRuleCounters)
}

/** Reads handle and counter of an NFT_MSG_NEWRULE message without making anything but its result. */
export function decodeRuleCounters(buffer: Buffer, start: number, end: number): RuleCounters {
  const attributes = start + nfnetlinkHeaderLength
  if (attributes > end) throw new NetlinkDecodeError('a rule message is shorter than its header')
  const handleAt = findAttribute(buffer, attributes, end, NFTA_RULE.handle)
  if (handleAt < 0) throw new NetlinkDecodeError('a rule message names no handle')
  const handle = readSafeU64be(buffer, handleAt, valueEnd(buffer, handleAt))
  const listAt = findAttribute(buffer, attributes, end, NFTA_RULE.expressions)
  if (listAt >= 0) {
    const listEnd = valueEnd(buffer, listAt)
    let at = listAt
    while (at < listEnd) {
      const expression = findAttribute(buffer, at, listEnd, NFTA_LIST_ELEM)
      if (expression < 0) break
      const expressionEnd = valueEnd(buffer, expression)
      if (isCounter(buffer, expression, expressionEnd)) {
        return decodeCounter(buffer, expression, expressionEnd, handle)
      }
      at = expressionEnd + ((4 - ((expressionEnd - listAt) & 3)) & 3)
    }
  }
  return { handle, packets: 0n, bytes: 0n }
}

const counterName = Buffer.from('counter\0')

function isCounter(buffer: Buffer, start: number, end: number): boolean {
  const at = findAttribute(buffer, start, end, NFTA_EXPR_NAME)
  if (at < 0 || valueEnd(buffer, at) - at !== counterName.length) return false
  for (let i = 0; i < counterName.length; i++) if (buffer[at + i] !== counterName[i]) return false
  return true
}

function decodeCounter(buffer: Buffer, start: number, end: number, handle: number): RuleCounters {
  const data = findAttribute(buffer, start, end, NFTA_EXPR_DATA)
  if (data < 0) throw new NetlinkDecodeError('a counter has no values')
  const dataEnd = valueEnd(buffer, data)
  return {
    handle,
    packets: counterValue(buffer, data, dataEnd, NFTA_COUNTER_PACKETS),
    bytes: counterValue(buffer, data, dataEnd, NFTA_COUNTER_BYTES),
  }
}

function counterValue(buffer: Buffer, start: number, end: number, type: number): bigint {
  const at = findAttribute(buffer, start, end, type)
  if (at < 0) throw new NetlinkDecodeError('a counter lacks a value')
  return readU64be(buffer, at, valueEnd(buffer, at))
}

/** A number that the kernel counts up from 1: it never comes near 2^53. */
function readSafeU64be(buffer: Buffer, start: number, end: number): number {
  return readU32be(buffer, start, end) * 2 ** 32 + readU32be(buffer, start + 4, end)
}

function stringAttribute(buffer: Buffer, start: number, end: number, type: number): string {
  const at = findAttribute(buffer, start, end, type)
  return at < 0 ? '' : readString(buffer, at, valueEnd(buffer, at))
}

export interface ChainState {
  readonly table: string
  readonly name: string
  readonly handle: number
  /** Of base chains, such as nat's PREROUTING; the others hang on no hook. */
  readonly base:
    | {
        readonly hook: number
        readonly priority: number
        readonly type: string
        readonly policy: 'ACCEPT' | 'DROP'
        /** What the policy was applied to; undefined where the chain does not count. */
        readonly counters: { readonly packets: bigint; readonly bytes: bigint } | undefined
      }
    | undefined
}

/** The chains of one table, with policies and their counters as in `iptables -vnxL`. */
export function getChains(socket: NetlinkSocket, family: NfnetlinkFamily, table: string): ChainState[] {
  const body = writeBody((w) => {
    w.u8(nfnetlinkFamilies[family]).u8(0).u16be(0)
  })
  // Kernels do not filter this list by table.
  const what = `list chains of ${family} ${table}`
  return socket.dump({ type: NFT_MSG_GETCHAIN, flags: 0, body, what }, (buffer, start, end) => {
    const chain = decodeChain(buffer, start, end)
    return chain.table === table ? chain : undefined
  })
}

export function decodeChain(buffer: Buffer, start: number, end: number): ChainState {
  let table = ''
  let name = ''
  let handle = 0
  let type = ''
  let policy: 'ACCEPT' | 'DROP' = 'ACCEPT'
  let counters: { packets: bigint; bytes: bigint } | undefined
  let hook: { hook: number; priority: number } | undefined
  walkAttributes(buffer, start + nfnetlinkHeaderLength, end, (attribute, from, to) => {
    switch (attribute) {
      case NFTA_CHAIN.table:
        table = readString(buffer, from, to)
        break
      case NFTA_CHAIN.name:
        name = readString(buffer, from, to)
        break
      case NFTA_CHAIN.handle:
        handle = readSafeU64be(buffer, from, to)
        break
      case NFTA_CHAIN.type:
        type = readString(buffer, from, to)
        break
      case NFTA_CHAIN.policy:
        policy = readU32be(buffer, from, to) === 0 ? 'DROP' : 'ACCEPT'
        break
      case NFTA_CHAIN.hook:
        hook = decodeHook(buffer, from, to)
        break
      case NFTA_CHAIN.counters:
        counters = {
          packets: counterValue(buffer, from, to, NFTA_COUNTER_PACKETS),
          bytes: counterValue(buffer, from, to, NFTA_COUNTER_BYTES),
        }
        break
    }
  })
  return { table, name, handle, base: hook && { ...hook, type, policy, counters } }
}

function decodeHook(buffer: Buffer, start: number, end: number): { hook: number; priority: number } {
  let hook = 0
  let priority = 0
  walkAttributes(buffer, start, end, (attribute, from, to) => {
    if (attribute === NFTA_HOOK_HOOKNUM) hook = readU32be(buffer, from, to)
    else if (attribute === NFTA_HOOK_PRIORITY) priority = readU32be(buffer, from, to) | 0
  })
  return { hook, priority }
}

/** A number that changes with every change of the namespace's nf_tables rules. */
export function getRuleSetGeneration(socket: NetlinkSocket): number {
  const body = writeBody((w) => {
    w.u8(0).u8(0).u16be(0)
  })
  const request: NetlinkRequest = {
    type: NFT_MSG_GETGEN,
    flags: 0,
    body,
    what: 'read the rule set generation',
  }
  const [generation] = socket.getEach(
    [request],
    (buffer, start, end) => decodeGeneration(buffer, start, end).generation,
  )
  if (generation === undefined) throw new Error('the kernel gave no rule set generation')
  return generation
}

export type RuleSetEvent =
  | {
      readonly kind: 'table' | 'chain' | 'rule'
      readonly change: 'new' | 'delete'
      readonly family: NfnetlinkFamily | number
      readonly table: string
      /** Empty for tables. */
      readonly chain: string
      /** Of rules; 0 for the others. */
      readonly handle: number
    }
  | {
      /** Ends a transaction. The process is the one that made it (its pid as the machine's own namespace sees it). */
      readonly kind: 'generation'
      readonly generation: number
      readonly processId: number
      readonly processName: string
    }

const eventKinds = new Map<number, { kind: 'table' | 'chain' | 'rule'; change: 'new' | 'delete' }>([
  [NFT_MSG_NEWTABLE, { kind: 'table', change: 'new' }],
  [NFT_MSG_DELTABLE, { kind: 'table', change: 'delete' }],
  [NFT_MSG_NEWCHAIN, { kind: 'chain', change: 'new' }],
  [NFT_MSG_DELCHAIN, { kind: 'chain', change: 'delete' }],
  [NFT_MSG_NEWRULE, { kind: 'rule', change: 'new' }],
  [NFT_MSG_DELRULE, { kind: 'rule', change: 'delete' }],
])

const familyNames = new Map<number, NfnetlinkFamily>(
  Object.entries(nfnetlinkFamilies).map(([name, value]) => [value, name as NfnetlinkFamily]),
)

/** A message of the group `nfTables`; undefined for sets and other objects. */
export function decodeRuleSetEvent(
  buffer: Buffer,
  start: number,
  end: number,
  type: number,
): RuleSetEvent | undefined {
  if (type === NFT_MSG_NEWGEN) return { kind: 'generation', ...decodeGeneration(buffer, start, end) }
  const event = eventKinds.get(type)
  if (!event) return undefined
  const family = readU8(buffer, start, end)
  const attributes = start + nfnetlinkHeaderLength
  const chainAttribute = { table: undefined, chain: NFTA_CHAIN.name, rule: NFTA_RULE.chain }[event.kind]
  const handleAt = event.kind === 'rule' ? findAttribute(buffer, attributes, end, NFTA_RULE.handle) : -1
  return {
    ...event,
    family: familyNames.get(family) ?? family,
    // The first attribute of all three is the table's name.
    table: stringAttribute(buffer, attributes, end, NFTA_TABLE_NAME),
    chain: chainAttribute === undefined ? '' : stringAttribute(buffer, attributes, end, chainAttribute),
    handle: handleAt < 0 ? 0 : readSafeU64be(buffer, handleAt, valueEnd(buffer, handleAt)),
  }
}

function decodeGeneration(buffer: Buffer, start: number, end: number) {
  let generation = 0
  let processId = 0
  let processName = ''
  walkAttributes(buffer, start + nfnetlinkHeaderLength, end, (attribute, from, to) => {
    if (attribute === NFTA_GEN.id) generation = readU32be(buffer, from, to)
    else if (attribute === NFTA_GEN.processId) processId = readU32be(buffer, from, to)
    else if (attribute === NFTA_GEN.processName) processName = readString(buffer, from, to)
  })
  return { generation, processId, processName }
}

export interface RuleSetWatcher {
  /** What was changed since the last call, in order; a `generation` ends each transaction. */
  onChange(events: readonly RuleSetEvent[]): void
  /** Too much changed at once to be told one by one (a load of some hundred rules does that): read all anew. */
  onOverrun(): void
  onError(error: Error): void
}

/** Follows changes of the nf_tables rules in the calling thread's network namespace, whoever makes them. */
export function watchRuleSet(watcher: RuleSetWatcher): NetlinkWatch {
  const socket = openNetlinkSocket('netfilter', { isBlocking: false, receiveBufferBytes: 4 * 1024 * 1024 })
  socket.join(nfnetlinkGroups.nfTables)
  let events: RuleSetEvent[] = []
  return watchNetlink(socket, {
    onMessage(buffer, start, end, type) {
      const event = decodeRuleSetEvent(buffer, start, end, type)
      if (event) events.push(event)
    },
    onPause() {
      if (events.length === 0) return
      const changes = events
      events = []
      watcher.onChange(changes)
    },
    onOverrun: () => watcher.onOverrun(),
    onError: (error) => watcher.onError(error),
  })
}
