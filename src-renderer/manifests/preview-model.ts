import type { NodeRuleDiff, ObjectChange } from '../../src-main/contract/lab-contract.ts'
import { formatExplanation } from '../../src-main/domain/iptables/explain-parts.ts'
import { explainRule } from '../../src-main/domain/iptables/explain-rule.ts'

export type DiffSign = '+' | '-' | '>'

export interface DiffLine {
  readonly sign: DiffSign
  /** A rule, or a chain that comes (`:NAME -`) or goes. */
  readonly kind: 'rule' | 'chain'
  readonly chain: string
  /** Without the sign. */
  readonly text: string
  /** After `-A CHAIN`; empty for a chain. */
  readonly rule: string
}

export interface TableChanges {
  readonly table: string
  /** Rules, not chains. */
  readonly added: number
  readonly removed: number
  readonly lines: readonly DiffLine[]
}

/** Rule changes that are the same on all of these nodes. */
export interface NodeChanges {
  readonly nodes: readonly string[]
  readonly added: number
  readonly removed: number
  readonly tables: readonly TableChanges[]
}

export interface RulePreview {
  readonly groups: readonly NodeChanges[]
  /** Nodes whose rules stay as they are. */
  readonly unchanged: readonly string[]
}

/** The lab's answer to show: nodes with equal changes together, most changes first. */
export function buildPreview(diffs: readonly NodeRuleDiff[]): RulePreview {
  const byText = new Map<string, string[]>()
  for (const { node, text } of diffs) {
    const nodes = byText.get(text)
    if (nodes) nodes.push(node)
    else byText.set(text, [node])
  }
  const groups = [...byText].flatMap(([text, nodes]): NodeChanges[] => {
    const tables = parseDiff(text)
    if (tables.length === 0) return []
    return [{ nodes, tables, added: sum(tables, 'added'), removed: sum(tables, 'removed') }]
  })
  return {
    groups: groups.toSorted((one, other) => changesOf(other) - changesOf(one)),
    unchanged: byText.get('') ?? [],
  }
}

/** Reads what the lab writes as a difference; lines that show only context are left out. */
export function parseDiff(text: string): TableChanges[] {
  const tables: { table: string; lines: DiffLine[] }[] = []
  for (const line of text.split('\n')) {
    const table = /^(?:[+-] )?\*(\S+)$/.exec(line)?.[1]
    if (table !== undefined) tables.push({ table, lines: [] })
    const parsed = parseLine(line)
    if (parsed) tables.at(-1)?.lines.push(parsed)
  }
  return tables.map(({ table, lines }) => ({
    table,
    lines,
    added: countRules(lines, '+'),
    removed: countRules(lines, '-'),
  }))
}

function parseLine(line: string): DiffLine | undefined {
  const [, sign, text = ''] = /^([+\->]) (.*)$/.exec(line) ?? []
  if (sign === undefined) return undefined
  const rule = /^-A (\S+) ?(.*)$/.exec(text)
  if (rule) return { sign: sign as DiffSign, kind: 'rule', chain: rule[1] ?? '', text, rule: rule[2] ?? '' }
  const chain = /^:(\S+) /.exec(text)?.[1]
  return chain === undefined ? undefined : { sign: sign as DiffSign, kind: 'chain', chain, text, rule: '' }
}

/** What a line of the difference means, for somebody who does not read iptables yet. */
export function explainLine({ kind, chain, rule, sign }: DiffLine, table: string): string {
  if (kind === 'chain') return sign === '-' ? `The chain ${chain} goes.` : `A new chain, ${chain}.`
  const text = rule.replace(/ {2}\(moved from \d+ to \d+\)$/, '')
  return `${formatExplanation(explainRule({ chain, text }, { table, family: 'ipv4' }).parts)}.`
}

/** `3 created, 1 unchanged`. */
export function countVerbs(changes: readonly ObjectChange[]): string {
  const counts = new Map<string, number>()
  for (const { verb } of changes) counts.set(verb, (counts.get(verb) ?? 0) + 1)
  return [...counts].map(([verb, count]) => `${count} ${verb}`).join(', ')
}

/** `all 3 nodes`, `worker1 and worker2`. */
export function nameNodes(nodes: readonly string[], all: number): string {
  if (nodes.length === all && all > 1) return `all ${all} nodes`
  if (nodes.length > 4) return `${nodes.slice(0, 3).join(', ')} and ${nodes.length - 3} more`
  const last = nodes.at(-1) ?? ''
  return nodes.length > 1 ? `${nodes.slice(0, -1).join(', ')} and ${last}` : last
}

const countRules = (lines: readonly DiffLine[], sign: DiffSign): number =>
  lines.filter((line) => line.kind === 'rule' && line.sign === sign).length
const sum = (tables: readonly TableChanges[], what: 'added' | 'removed'): number =>
  tables.reduce((total, table) => total + table[what], 0)
const changesOf = ({ added, removed }: NodeChanges): number => added + removed
