import { ProblemList, pastedFormOf, refusal, splitLines } from './parse-save.ts'
import { recognizePastedForm } from './pasted-form.ts'
import { formatLine, parseLine, type SaveLine } from './save-lines.ts'
import type { TextProblem } from './text-problem.ts'

/** A line of a table of a restore text, in any order that iptables-restore takes. */
export type RestoreLine = Extract<SaveLine, { kind: 'chain' | 'command' | 'remark' }>

export interface RestoreTable {
  readonly name: string
  /** Comment and empty lines before the `*table` line. */
  readonly head: readonly string[]
  readonly lines: readonly RestoreLine[]
}

/** What is given to iptables-restore: commands in order, not yet a state. */
export interface RestoreText {
  readonly tables: readonly RestoreTable[]
  readonly tail: readonly string[]
  readonly noFinalNewline?: true
}

export interface ParsedRestore {
  /** Undefined as soon as one problem is an error. */
  readonly restore: RestoreText | undefined
  readonly problems: readonly TextProblem[]
}

/**
 * Reads a restore text losslessly. Chains need not be declared in it: with --noflush they may exist already. The
 * chain of `-X` or `-A` is therefore not checked.
 */
export function parseRestore(text: string): ParsedRestore {
  const form = pastedFormOf(text)
  if (form) return { restore: undefined, problems: [form] }
  const problems = new ProblemList()
  const tables: RestoreTable[] = []
  let head: string[] = []
  let open: { name: string; line: number; head: string[]; lines: RestoreLine[] } | undefined
  const { lines, noFinalNewline } = splitLines(text)
  for (const [index, written] of lines.entries()) {
    const number = index + 1
    const line = parseLine(written)
    switch (line.kind) {
      case 'refused':
        problems.error(number, refusal(written, line.message, open !== undefined))
        continue
      case 'table':
        if (open) problems.error(open.line, `table ${open.name} has no COMMIT before line ${number}`)
        open = { name: line.name, line: number, head, lines: [] }
        head = []
        continue
      case 'commit':
        if (open) tables.push({ name: open.name, head: open.head, lines: open.lines })
        else problems.error(number, 'COMMIT stands outside any table')
        open = undefined
        continue
      case 'remark':
        if (open) open.lines.push(line)
        else head.push(line.text)
        continue
      case 'chain':
      case 'command':
        if (open) open.lines.push(line)
        else problems.error(number, recognizePastedForm(written) ?? 'the line stands outside any table')
        continue
      default:
        line satisfies never
    }
  }
  if (open) problems.error(open.line, `table ${open.name} has no COMMIT: a part of the text is missing`)
  if (problems.hasErrors) return { restore: undefined, problems: problems.told() }
  return {
    restore: { tables, tail: head, ...(noFinalNewline ? { noFinalNewline } : {}) },
    problems: problems.told(),
  }
}

/** The text that parseRestore reads back as this. */
export function formatRestore(restore: RestoreText): string {
  const lines: string[] = []
  for (const table of restore.tables) {
    for (const remark of table.head) lines.push(remark)
    lines.push(`*${table.name}`)
    for (const line of table.lines) lines.push(formatLine(line))
    lines.push('COMMIT')
  }
  for (const remark of restore.tail) lines.push(remark)
  return lines.length === 0 ? '' : `${lines.join('\n')}${restore.noFinalNewline ? '' : '\n'}`
}
