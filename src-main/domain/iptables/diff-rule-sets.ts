import { type Chain, type ChainName, type Rule, type RuleSet, rulesByChain, type Table } from './rule-set.ts'
import { type Edit, shortestEdits } from './shortest-edits.ts'

/** One line of a chain's edit script, top to bottom; rule numbers count from 1. */
export type RuleChange =
  | { readonly kind: 'kept'; readonly text: string; readonly before: number; readonly after: number }
  | { readonly kind: 'removed'; readonly text: string; readonly before: number }
  | { readonly kind: 'added'; readonly text: string; readonly after: number }
  /** An equal rule was taken out at `before` and put in at `after`; it stands at its new place. */
  | { readonly kind: 'moved'; readonly text: string; readonly before: number; readonly after: number }

export interface ChainDiff {
  readonly chain: ChainName
  readonly change: 'added' | 'removed' | 'changed'
  readonly policy?: { readonly before: string | undefined; readonly after: string | undefined }
  /** All rules of the chain in order, kept ones too, so that a view can show any context. */
  readonly rules: readonly RuleChange[]
}

export interface TableDiff {
  readonly table: string
  readonly change: 'added' | 'removed' | 'changed'
  /** Only the chains that differ. */
  readonly chains: readonly ChainDiff[]
}

/** What differs between two rule sets, by table and chain; equal ones are left out, counters do not count. */
export function diffRuleSets(before: RuleSet, after: RuleSet): TableDiff[] {
  const names = new Set([...before.tables, ...after.tables].map(({ name }) => name))
  return [...names].flatMap((name) => {
    const old = before.tables.find((table) => table.name === name)
    const now = after.tables.find((table) => table.name === name)
    const chains = diffChains(old, now)
    const change = !old ? 'added' : now ? 'changed' : 'removed'
    return chains.length === 0 && change === 'changed' ? [] : [{ table: name, change, chains }]
  })
}

function diffChains(before: Table | undefined, after: Table | undefined): ChainDiff[] {
  const oldChains = new Map(before?.chains.map((chain) => [chain.name, chain]))
  const newChains = new Map(after?.chains.map((chain) => [chain.name, chain]))
  const oldRules = before ? rulesByChain(before) : new Map<ChainName, Rule[]>()
  const newRules = after ? rulesByChain(after) : new Map<ChainName, Rule[]>()
  const names = new Set([...oldRules.keys(), ...newRules.keys()])
  return [...names].flatMap((chain) => {
    const old = oldChains.get(chain)
    const now = newChains.get(chain)
    const rules = diffRules(oldRules.get(chain) ?? [], newRules.get(chain) ?? [])
    const policy = policyChange(old, now)
    const change = !oldRules.has(chain) ? 'added' : newRules.has(chain) ? 'changed' : 'removed'
    if (change === 'changed' && !policy && rules.every(({ kind }) => kind === 'kept')) return []
    return [{ chain, change, ...(policy ? { policy } : {}), rules }]
  })
}

function policyChange(before: Chain | undefined, after: Chain | undefined): ChainDiff['policy'] | undefined {
  return before?.policy === after?.policy ? undefined : { before: before?.policy, after: after?.policy }
}

function diffRules(before: readonly Rule[], after: readonly Rule[]): RuleChange[] {
  const edits = shortestEdits(
    before.map(({ text }) => text),
    after.map(({ text }) => text),
  )
  const moves = pairMoves(edits, before, after)
  return edits.flatMap((edit): RuleChange[] => {
    switch (edit.kind) {
      case 'kept':
        return [
          {
            kind: 'kept',
            text: before[edit.before]?.text ?? '',
            before: edit.before + 1,
            after: edit.after + 1,
          },
        ]
      case 'removed': {
        const text = before[edit.before]?.text ?? ''
        return moves.removed.has(edit.before) ? [] : [{ kind: 'removed', text, before: edit.before + 1 }]
      }
      case 'added': {
        const text = after[edit.after]?.text ?? ''
        const from = moves.added.get(edit.after)
        if (from === undefined) return [{ kind: 'added', text, after: edit.after + 1 }]
        return [{ kind: 'moved', text, before: from + 1, after: edit.after + 1 }]
      }
      default:
        return edit satisfies never
    }
  })
}

function pairMoves(edits: readonly Edit[], before: readonly Rule[], after: readonly Rule[]) {
  const removedAt = new Map<string, number[]>()
  for (const edit of edits) {
    if (edit.kind !== 'removed') continue
    const text = before[edit.before]?.text ?? ''
    const places = removedAt.get(text)
    if (places) places.push(edit.before)
    else removedAt.set(text, [edit.before])
  }
  for (const places of removedAt.values()) places.reverse()
  const removed = new Set<number>()
  const added = new Map<number, number>()
  for (const edit of edits) {
    if (edit.kind !== 'added') continue
    const from = removedAt.get(after[edit.after]?.text ?? '')?.pop()
    if (from === undefined) continue
    removed.add(from)
    added.set(edit.after, from)
  }
  return { removed, added }
}

/**
 * The differences as lines: `*nat`, then `+ -A …`, `- -A …`, `> -A …  (moved from 3 to 5)`, `+ :CHAIN -`, and up to
 * `context` kept rules around each change with two blanks before them. Empty without a difference.
 */
export function formatDiff(diff: readonly TableDiff[], { context = 0 }: { context?: number } = {}): string {
  const lines = diff.flatMap(({ table, change, chains }) => [
    `${change === 'added' ? '+ ' : change === 'removed' ? '- ' : ''}*${table}`,
    ...chains.flatMap((chain) => chainLines(chain, context)),
  ])
  return lines.map((line) => `${line}\n`).join('')
}

function chainLines({ chain, change, policy, rules }: ChainDiff, context: number): string[] {
  const head: string[] = []
  if (change === 'added') head.push(`+ :${chain} ${policy?.after ?? '-'}`)
  else if (change === 'removed') head.push(`- :${chain} ${policy?.before ?? '-'}`)
  else if (policy) head.push(`- :${chain} ${policy.before ?? '-'}`, `+ :${chain} ${policy.after ?? '-'}`)
  const near = changedNear(rules, context)
  const body = rules.filter((_, index) => near(index)).map((rule) => ruleLine(chain, rule))
  return [...head, ...body]
}

/** Tells of an index whether a change lies within `context` rules of it. */
function changedNear(rules: readonly RuleChange[], context: number): (index: number) => boolean {
  const shown = new Uint8Array(rules.length)
  rules.forEach(({ kind }, index) => {
    if (kind !== 'kept') shown.fill(1, Math.max(0, index - context), index + context + 1)
  })
  return (index) => shown[index] === 1
}

function ruleLine(chain: ChainName, change: RuleChange): string {
  const rule = `-A ${chain}${change.text === '' ? '' : ` ${change.text}`}`
  switch (change.kind) {
    case 'kept':
      return `  ${rule}`
    case 'added':
      return `+ ${rule}`
    case 'removed':
      return `- ${rule}`
    case 'moved':
      return `> ${rule}  (moved from ${change.before} to ${change.after})`
    default:
      return change satisfies never
  }
}
