import { formatSave } from './format-save.ts'
import { type RuleSet, rulesByChain, type Table } from './rule-set.ts'
import { ruleArgs } from './rule-words.ts'

/** Says what a chain is for, in one line; undefined where there is nothing to say. */
export type ChainRemark = (table: string, chain: string) => string | undefined

/**
 * A rule set as a shell script of iptables commands, chain by chain, with a comment over each chain that `remark`
 * knows. Built-in chains come last, so that nothing leads into a chain that is not whole yet.
 */
export function formatScript(ruleSet: RuleSet, remark: ChainRemark, command = 'iptables'): string {
  const lines = ['#!/bin/sh', 'set -e', '']
  for (const table of ruleSet.tables) lines.push(...tableCommands(table, remark, command))
  return `${lines.join('\n')}\n`
}

function tableCommands(table: Table, remark: ChainRemark, command: string): string[] {
  const call = `${command} -t ${table.name}`
  const own = table.chains.filter(({ policy }) => policy === undefined)
  const builtIn = table.chains.filter(({ policy }) => policy !== undefined)
  const rules = rulesByChain(table)
  const lines = [`# table ${table.name}`, ...own.map(({ name }) => `${call} -N ${name}`), '']
  for (const { name, policy } of [...own, ...builtIn]) {
    const about = remark(table.name, name)
    const commands = (rules.get(name) ?? []).map((rule) =>
      [call, '-A', name, ...ruleArgs(rule).map(forShell)].join(' '),
    )
    if (policy !== undefined && policy !== 'ACCEPT') commands.push(`${call} -P ${name} ${policy}`)
    if (commands.length === 0) continue
    lines.push(...(about === undefined ? [] : [`# ${about}`]), ...commands, '')
  }
  return lines
}

function forShell(word: string): string {
  return /^[\w./:,%+@=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** The save text with a comment line over each table for each chain that `remark` knows. */
export function formatCommentedSave(ruleSet: RuleSet, remark: ChainRemark): string {
  return formatSave({
    tables: ruleSet.tables.map((table) => ({
      ...table,
      head: table.chains.flatMap(({ name }) => {
        const about = remark(table.name, name)
        return about === undefined ? [] : [`# ${name}: ${about}`]
      }),
      remarks: [],
    })),
  })
}
