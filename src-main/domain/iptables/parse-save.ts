import { recognizePastedForm } from './pasted-form.ts'
import type { Chain, ChainName, Remark, Rule, RuleSet, Table } from './rule-set.ts'
import { type CommandLine, parseLine } from './save-lines.ts'
import type { TextProblem } from './text-problem.ts'

export interface ParsedSave {
  /** Undefined as soon as one problem is an error: a rule set read by half would mislead. */
  readonly ruleSet: RuleSet | undefined
  readonly problems: readonly TextProblem[]
}

/** So many errors are told one by one; after them one more says how many were left out. */
export const MAX_TOLD_PROBLEMS = 100

/**
 * Reads what iptables-save and ip6tables-save print, with or without counters, losing nothing: formatSave gives
 * the text back. Commands of restore texts (`-I`, `-X`, …) are refused here; see parseRestore.
 */
export function parseSave(text: string): ParsedSave {
  const form = pastedFormOf(text)
  if (form) return { ruleSet: undefined, problems: [form] }
  const problems = new ProblemList()
  const tables: Table[] = []
  let head: string[] = []
  let open: OpenTable | undefined

  const { lines, noFinalNewline } = splitLines(text)
  if (!lines.some((line) => line.startsWith('*'))) return { ruleSet: undefined, problems: [noTable(lines)] }
  for (const [index, written] of lines.entries()) {
    const number = index + 1
    const line = parseLine(written)
    switch (line.kind) {
      case 'refused':
        problems.error(number, refusal(written, line.message, open !== undefined))
        continue
      case 'remark':
        if (/^# Warning: .*tables present/.test(line.text)) problems.warn(number, otherRuleSetHint(line.text))
        if (open) open.remark(line.text)
        else head.push(line.text)
        continue
      case 'table':
        if (open) problems.error(open.line, missingCommit(open.name, `table ${line.name} in line ${number}`))
        if (tables.some((table) => table.name === line.name))
          problems.warn(
            number,
            `table ${line.name} stands twice in this text: two dumps may have been joined`,
          )
        open = new OpenTable(line.name, number, head)
        head = []
        continue
      case 'commit':
        if (open) tables.push(open.close())
        else problems.error(number, 'COMMIT stands outside any table')
        open = undefined
        continue
      case 'chain':
        if (!open) {
          problems.error(number, `chain ${line.name} stands outside any table`)
          continue
        }
        problems.errorIf(number, open.addChain(line))
        continue
      case 'command':
        if (line.command !== '-A') {
          problems.error(number, restoreOnly(line.command, open ? undefined : recognizePastedForm(written)))
          continue
        }
        if (!open) {
          problems.error(number, recognizePastedForm(written) ?? 'a rule stands outside any table')
          continue
        }
        problems.errorIf(number, open.addRule(line))
        continue
      default:
        line satisfies never
    }
  }
  if (open) problems.error(open.line, missingCommit(open.name, 'the end of the text'))
  if (problems.hasErrors) return { ruleSet: undefined, problems: problems.told() }
  return {
    ruleSet: {
      tables,
      ...(head.length > 0 ? { tail: head } : {}),
      ...(noFinalNewline ? { noFinalNewline } : {}),
    },
    problems: problems.told(),
  }
}

/** Why a line is refused: the form that it has been pasted in, else what is wrong with it. */
export function refusal(written: string, message: string, isInTable: boolean): string {
  // Within a table a line of words with a dash is a rule gone wrong, not the start of a listing.
  const isRule = isInTable && written.startsWith('-') && !written.endsWith('\r')
  return (isRule ? undefined : recognizePastedForm(written)) ?? message
}

/** The lines without their line ends; `noFinalNewline` is absent for an ordinary text. */
export function splitLines(text: string): { lines: string[]; noFinalNewline?: true } {
  if (text === '') return { lines: [] }
  const lines = text.split('\n')
  if (lines.at(-1) !== '') return { lines, noFinalNewline: true }
  lines.pop()
  return { lines }
}

/** Collects problems in the order of the text and keeps a text of 100,000 wrong lines readable. */
export class ProblemList {
  hasErrors = false
  readonly #problems: TextProblem[] = []
  #leftOut = 0

  error(line: number, message: string): void {
    this.hasErrors = true
    if (this.#problems.length < MAX_TOLD_PROBLEMS) this.#problems.push({ severity: 'error', line, message })
    else this.#leftOut++
  }

  errorIf(line: number, message: string | undefined): void {
    if (message !== undefined) this.error(line, message)
  }

  warn(line: number, message: string): void {
    if (this.#problems.length < MAX_TOLD_PROBLEMS) this.#problems.push({ severity: 'warning', line, message })
    else this.#leftOut++
  }

  told(): TextProblem[] {
    const told = this.#problems.toSorted((a, b) => a.line - b.line)
    const last = told.at(-1)
    if (this.#leftOut === 0 || !last) return told
    const severity = this.hasErrors ? 'error' : 'warning'
    return [...told, { severity, line: last.line, message: `and ${this.#leftOut} more problems` }]
  }
}

class OpenTable {
  readonly name: string
  readonly line: number
  readonly #head: readonly string[]
  readonly #chains: Chain[] = []
  readonly #rules: Rule[] = []
  readonly #remarks: Remark[] = []
  /** Each chain's one name string, so that 100,000 rules share them. */
  readonly #names = new Map<string, ChainName>()

  constructor(name: string, line: number, head: readonly string[]) {
    this.name = name
    this.line = line
    this.#head = head
  }

  /** The reason when the chain cannot stand here. */
  addChain({ name, policy, counters }: Chain): string | undefined {
    if (this.#names.has(name)) return `chain ${name} is declared twice in table ${this.name}`
    if (this.#rules.length > 0)
      return `chain ${name} is declared behind the first rule; iptables-save writes all chains of a table first`
    this.#names.set(name, name)
    this.#chains.push({ name, ...(policy ? { policy } : {}), ...(counters ? { counters } : {}) })
    return undefined
  }

  /** The reason when the rule cannot stand here. */
  addRule({ chain, text, counters }: CommandLine): string | undefined {
    const name = this.#names.get(chain ?? '')
    if (name === undefined) return `rule for chain ${chain}, which table ${this.name} does not declare`
    this.#rules.push(counters ? { chain: name, text, counters } : { chain: name, text })
    return undefined
  }

  remark(text: string): void {
    this.#remarks.push({ text, at: this.#chains.length + this.#rules.length })
  }

  close(): Table {
    return {
      name: this.name,
      chains: this.#chains,
      rules: this.#rules,
      ...(this.#head.length > 0 ? { head: this.#head } : {}),
      ...(this.#remarks.length > 0 ? { remarks: this.#remarks } : {}),
    }
  }
}

/** When the first line that says anything shows another form, one problem tells more than one for every line. */
export function pastedFormOf(text: string): TextProblem | undefined {
  let from = 0
  for (let line = 1; from < text.length; line++) {
    const end = text.indexOf('\n', from)
    const written = end === -1 ? text.slice(from) : text.slice(from, end)
    const plainRemark =
      written === '' || (written.startsWith('#') && !/^#.*ip6?tables\S* +-|\r$/.test(written))
    if (!plainRemark) {
      const message = recognizePastedForm(written)
      return message === undefined ? undefined : { severity: 'error', line, message }
    }
    if (end === -1) return undefined
    from = end + 1
  }
  return undefined
}

/** One problem for a text of another kind, however many lines it has. */
function noTable(lines: readonly string[]): TextProblem {
  const first = lines.findIndex((line) => line.trim() !== '' && !line.startsWith('#'))
  const line = lines[first]
  if (line === undefined)
    return {
      severity: 'error',
      line: 1,
      message: lines.every((text) => text.trim() === '') ? 'the text is empty' : 'the text holds no table',
    }
  const read = parseLine(line)
  const message = read.kind === 'refused' ? read.message : 'the line stands outside any table'
  return { severity: 'error', line: first + 1, message: `${message}; the text holds no \`*table\` line` }
}

function missingCommit(table: string, what: string): string {
  return `table ${table} has no COMMIT before ${what}: a part of the text is missing`
}

function restoreOnly(command: string, form: string | undefined): string {
  return form ?? `${command} is a command to iptables-restore; iptables-save writes \`-A\` lines only`
}

function otherRuleSetHint(remark: string): string {
  const tool = /use (\S+-save)/.exec(remark)?.[1]
  return `this host has a second rule set that is not in this text${tool ? `; see also ${tool}` : ''}`
}
