import type { EntryJump } from './entry-jumps.ts'

/**
 * What the kernel holds in filter and nat, as far as kube-proxy wrote it: per chain its rules in order, each as it
 * was written after `-A CHAIN `. Built-in chains stand first, in the order of iptables-save.
 */
export type KernelTables = Readonly<Record<'filter' | 'nat', ReadonlyMap<string, readonly string[]>>>

export const builtInChains = {
  filter: ['INPUT', 'FORWARD', 'OUTPUT'],
  nat: ['PREROUTING', 'INPUT', 'OUTPUT', 'POSTROUTING'],
} as const

export const emptyTables: KernelTables = {
  filter: new Map(builtInChains.filter.map((chain) => [chain, []])),
  nat: new Map(builtInChains.nat.map((chain) => [chain, []])),
}

/** Makes what is missing, each missing jump on top of its chain. */
export function applyEntryJumps(tables: KernelTables, jumps: readonly EntryJump[]): KernelTables {
  const next = copyTables(tables)
  for (const { table, chain, from, text } of jumps) {
    const content = next[table]
    if (!content.has(chain)) content.set(chain, [])
    const rules = content.get(from)
    if (rules && !rules.includes(text)) content.set(from, [text, ...rules])
  }
  return next
}

/**
 * What `iptables-restore --noflush` of the text leaves. Throws where iptables-restore would refuse it: a rule in or a
 * jump to a chain that is not there, a number or text that no rule has, a chain deleted while it is filled or in use.
 */
export function applyRestore(tables: KernelTables, restore: string): KernelTables {
  const next = copyTables(tables)
  const pending: Pending = { next, table: undefined, own: new Set() }
  for (const [i, line] of restore.split('\n').entries()) {
    if (line === '' || line.startsWith('#')) continue
    const problem = applyLine(pending, line)
    if (problem) throw new Error(`line ${i + 1}: ${problem}: ${line}`)
  }
  if (pending.table) throw new Error('the text ends before COMMIT')
  return next
}

type MutableTables = Record<'filter' | 'nat', Map<string, readonly string[]>>

interface Pending {
  readonly next: MutableTables
  table: 'filter' | 'nat' | undefined
  /** Chains whose array is not shared with the tables before. */
  own: Set<string>
}

function copyTables(tables: KernelTables): MutableTables {
  return { filter: new Map(tables.filter), nat: new Map(tables.nat) }
}

function applyLine(pending: Pending, line: string): string | undefined {
  if (line === '*filter' || line === '*nat') {
    pending.table = line === '*nat' ? 'nat' : 'filter'
    pending.own = new Set()
    return undefined
  }
  if (!pending.table) return 'no table'
  const content = pending.next[pending.table]
  if (line === 'COMMIT') {
    pending.table = undefined
    return undefined
  }
  if (line.startsWith(':')) {
    content.set(line.slice(1).split(' ')[0] as string, [])
    return undefined
  }
  const [command, chain, words] = splitWords(line)
  const old = content.get(chain)
  if (!old) return `no chain ${chain}`
  if (command === '-X') {
    if (old.length > 0) return 'the chain is not empty'
    const jump = new RegExp(`(?:^| )-j ${chain}$`)
    for (const rules of content.values())
      if (rules.some((rule) => jump.test(rule))) return 'a rule still jumps there'
    content.delete(chain)
    return undefined
  }
  const rules = pending.own.has(chain) ? (old as string[]) : [...old]
  content.set(chain, rules)
  pending.own.add(chain)
  const numbered = /^(\d+)(?: (.*))?$/.exec(words)
  const text = numbered ? (numbered[2] ?? '') : words
  const target = /(?:^| )-j (KUBE-\S+)/.exec(text)?.[1]
  if (target !== undefined && !content.has(target)) return `no chain ${target}`
  switch (command) {
    case '-A':
      rules.push(words)
      return undefined
    case '-I': {
      const at = numbered ? Number(numbered[1]) - 1 : 0
      if (at > rules.length) return 'no such number'
      rules.splice(at, 0, text)
      return undefined
    }
    case '-D': {
      const at = numbered ? Number(numbered[1]) - 1 : rules.indexOf(words)
      if (at < 0 || at >= rules.length) return 'no such rule'
      rules.splice(at, 1)
      return undefined
    }
    default:
      return 'unknown command'
  }
}

/** Command, chain and the rest of the line as it stands. */
function splitWords(line: string): [string, string, string] {
  const first = line.indexOf(' ')
  const second = line.indexOf(' ', first + 1)
  return second < 0
    ? [line.slice(0, first), line.slice(first + 1), '']
    : [line.slice(0, first), line.slice(first + 1, second), line.slice(second + 1)]
}
