import type { ChainName } from '../iptables/rule-set.ts'
import type { ChainWrite } from './chain-writes.ts'
import type { ProxyRule } from './rule-origin.ts'

/** One line of a restore text. */
export type ChainEdit =
  /** `:CHAIN - [0:0]`: made where missing, else emptied. */
  | { readonly kind: 'open'; readonly chain: ChainName }
  | { readonly kind: 'append'; readonly rule: ProxyRule }
  /** `position` counts from 1, in the chain as it is when the line's turn comes. */
  | { readonly kind: 'insert'; readonly rule: ProxyRule; readonly position: number }
  /** By content: if somebody has changed the chain by hand, that fails instead of hitting another rule. */
  | { readonly kind: 'delete'; readonly rule: ProxyRule }
  /** Of a chain that is empty by then. */
  | { readonly kind: 'remove'; readonly chain: ChainName }

/** Edits that belong in one transaction. */
export type Step = readonly ChainEdit[]

/** Above this, a chain whose content is known is edited line by line instead of written anew. */
const longChain = 100

export function formatEdit(edit: ChainEdit): string {
  switch (edit.kind) {
    case 'open':
      return `:${edit.chain} - [0:0]`
    case 'append':
      return `-A ${edit.rule.chain} ${edit.rule.text}`
    case 'insert':
      return `-I ${edit.rule.chain} ${edit.position} ${edit.rule.text}`
    case 'delete':
      return `-D ${edit.rule.chain} ${edit.rule.text}`
    case 'remove':
      return `-X ${edit.chain}`
    default:
      return edit satisfies never
  }
}

/** In rules' worth of kernel message: what is not a whole rule takes less than half of one. */
export function costOf(edits: readonly ChainEdit[]): number {
  let cost = 0
  for (const { kind } of edits) cost += kind === 'append' || kind === 'insert' ? 1 : 0.5
  return cost
}

/** The write as the fewest transactions of at most `limit`; each leaves the chain in a state that serves. */
export function planSteps({ chain, rules, before }: ChainWrite, limit: number, long = longChain): Step[] {
  if (typeof before !== 'string') {
    const tooMuch = rules.length + 1 > limit
    if (tooMuch || rules.length > long || before.length > long) {
      const groups = diffRules(before, rules)
      if (tooMuch || costOf(groups.flat()) < rules.length)
        return groups.flatMap((group) => splitEdits(group, limit))
    }
  }
  const steps = splitEdits(
    rules.map((rule) => ({ kind: 'append', rule })),
    limit - 1,
  )
  const open: ChainEdit = { kind: 'open', chain }
  return steps.length === 0 ? [[open]] : steps.map((step, i) => (i === 0 ? [open, ...step] : step))
}

/**
 * From one content to the other, a group for each Service port. The groups go from the chain's end to its start, so
 * that a position is the same before and after the groups ahead of it.
 */
export function diffRules(before: readonly ProxyRule[], now: readonly ProxyRule[]): ChainEdit[][] {
  const edits: PlacedEdit[] = []
  for (const { index, inserts, old } of comparePlaces(before, now).reverse()) {
    // Each pushes the one before it down.
    for (const rule of [...inserts].reverse()) edits.push({ kind: 'insert', rule, index })
    if (old) edits.push({ kind: 'delete', rule: old, index })
  }
  return groupByPort(edits).map(orderGroup)
}

interface PlacedEdit {
  readonly kind: 'insert' | 'delete'
  readonly rule: ProxyRule
  /** In the old content, from 0. */
  readonly index: number
}

/**
 * All new rules come before the first old one goes: whatever stands between, a packet finds a whole Service. Only a
 * rule that moves must go first, or its deletion would hit the new one.
 */
function orderGroup(group: readonly PlacedEdit[]): ChainEdit[] {
  const inserted = new Set(group.flatMap(({ kind, rule }) => (kind === 'insert' ? [rule.text] : [])))
  const deletes = group.filter(({ kind }) => kind === 'delete')
  const [moved, gone] = [true, false].map((moves) =>
    deletes.filter(({ rule }) => inserted.has(rule.text) === moves),
  ) as [PlacedEdit[], PlacedEdit[]]
  const inserts = group.flatMap(({ kind, rule, index }): ChainEdit[] =>
    kind === 'insert'
      ? [{ kind, rule, position: index + 1 - moved.filter((each) => each.index < index).length }]
      : [],
  )
  const remove = (edits: readonly PlacedEdit[]) =>
    edits.map(({ rule }): ChainEdit => ({ kind: 'delete', rule }))
  return [...remove(moved), ...inserts, ...remove(gone)]
}

function groupByPort(edits: readonly PlacedEdit[]): PlacedEdit[][] {
  const groups: PlacedEdit[][] = []
  let last: string | undefined
  for (const edit of edits) {
    const port = portKey(edit.rule)
    if (port === last) groups.at(-1)?.push(edit)
    else groups.push([edit])
    last = port
  }
  return groups
}

interface Place {
  /** Of the old content, from 0. */
  readonly index: number
  /** To stand in front of what is there. */
  readonly inserts: readonly ProxyRule[]
  /** What is there, if it must go. */
  readonly old: ProxyRule | undefined
}

/** Where the contents differ, from start to end; the rules of both stand in the same order but for moves. */
function comparePlaces(before: readonly ProxyRule[], now: readonly ProxyRule[]): Place[] {
  const left = countTexts(before)
  const places: Place[] = []
  let j = 0
  for (let index = 0; index <= before.length; index++) {
    const old = before[index]
    const inserts: ProxyRule[] = []
    for (let rule = now[j]; rule && rule.text !== old?.text && !left.get(rule.text); rule = now[++j])
      inserts.push(rule)
    const stays = old !== undefined && now[j]?.text === old.text
    if (stays) j++
    if (old) left.set(old.text, (left.get(old.text) ?? 0) - 1)
    if (inserts.length > 0 || (old && !stays)) places.push({ index, inserts, old: stays ? undefined : old })
  }
  return places
}

function countTexts(rules: readonly ProxyRule[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { text } of rules) counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}

/** Which Service port an edit is about; empty for the node's own rules. */
export function portOf(edit: ChainEdit): string {
  return 'rule' in edit ? portKey(edit.rule) : ''
}

function portKey({ port }: ProxyRule): string {
  return port ? `${port.name} ${port.protocol}` : ''
}

function splitEdits(edits: readonly ChainEdit[], limit: number): ChainEdit[][] {
  const steps: ChainEdit[][] = []
  let step: ChainEdit[] = []
  for (const edit of edits) {
    if (step.length > 0 && costOf(step) + costOf([edit]) > limit) {
      steps.push(step)
      step = []
    }
    step.push(edit)
  }
  if (step.length > 0) steps.push(step)
  return steps
}
