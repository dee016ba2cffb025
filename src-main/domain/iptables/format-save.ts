import type { RuleSet, Table } from './rule-set.ts'
import { formatLine } from './save-lines.ts'

/** The text that parseSave reads back as this rule set; counters are written where the rule set has them. */
export function formatSave(ruleSet: RuleSet): string {
  const lines: string[] = []
  for (const table of ruleSet.tables) pushTable(lines, table)
  for (const remark of ruleSet.tail ?? []) lines.push(remark)
  return lines.length === 0 ? '' : `${lines.join('\n')}${ruleSet.noFinalNewline ? '' : '\n'}`
}

function pushTable(lines: string[], table: Table): void {
  for (const remark of table.head ?? []) lines.push(remark)
  lines.push(`*${table.name}`)
  const remarks = table.remarks ?? []
  let nextRemark = 0
  let at = 0
  const push = (line: string): void => {
    for (let remark = remarks[nextRemark]; remark && remark.at <= at; remark = remarks[++nextRemark])
      lines.push(remark.text)
    lines.push(line)
    at++
  }
  for (const chain of table.chains) push(formatLine({ kind: 'chain', ...chain }))
  for (const rule of table.rules) push(formatLine({ kind: 'command', command: '-A', ...rule }))
  for (; nextRemark < remarks.length; nextRemark++) lines.push(remarks[nextRemark]?.text ?? '')
  lines.push('COMMIT')
}
