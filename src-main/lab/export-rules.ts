import { rmSync, writeFileSync } from 'node:fs'
import { LabError } from '../contract/errors.ts'
import type { ChainOrigin } from '../contract/lab-contract.ts'
import { type ChainRemark, formatCommentedSave, formatScript } from '../domain/iptables/format-script.ts'
import type { RuleSet } from '../domain/iptables/rule-set.ts'
import { rulesByChain } from '../domain/iptables/rule-set.ts'
import { findTool } from '../system/command/find-tool.ts'
import { runCommand } from '../system/command/run-command.ts'

export interface ExportedNode {
  readonly node: string
  /** iptables-save text. */
  readonly text: string
  readonly ruleSet: RuleSet
  readonly origins: Readonly<Record<string, ChainOrigin>>
}

export type RuleFormat = 'save' | 'restore' | 'script' | 'nft' | 'json'

/** The rule sets of nodes in one text; where there are several, a comment names the node over each. */
export async function exportNodes(nodes: readonly ExportedNode[], format: RuleFormat): Promise<string> {
  if (format === 'json') return `${JSON.stringify({ nodes: nodes.map(nodeAsJson) }, null, 2)}\n`
  const texts: string[] = []
  for (const node of nodes)
    texts.push((nodes.length > 1 ? `# node ${node.node}\n` : '') + (await exportNode(node, format)))
  return texts.join('\n')
}

async function exportNode(node: ExportedNode, format: Exclude<RuleFormat, 'json'>): Promise<string> {
  switch (format) {
    case 'save':
      return node.text
    case 'restore':
      return `# Load into an empty network namespace or a spare machine: iptables-restore < FILE\n${formatCommentedSave(node.ruleSet, remarks(node))}`
    case 'script':
      return formatScript(node.ruleSet, remarks(node))
    case 'nft':
      return await translate(node.text)
    default:
      return format satisfies never
  }
}

async function translate(text: string): Promise<string> {
  const tool = findTool('iptables-restore-translate')
  if (!tool)
    throw new LabError(
      'unavailable',
      'iptables-restore-translate is not installed (it comes with the nft back end of iptables)',
    )
  // The tool reads a file only; the sandbox's /tmp goes with it.
  const file = `/tmp/export-${process.hrtime.bigint()}`
  writeFileSync(file, text)
  const { code, stdout, stderr } = await runCommand([tool, '-f', file])
  rmSync(file)
  if (code !== 0) throw new LabError('command-failed', `${tool} ended with ${code}: ${stderr.trim()}`)
  return stdout
}

function remarks({ origins }: ExportedNode): ChainRemark {
  return (_table, chain) => {
    const origin = origins[chain]
    if (!origin?.service) return undefined
    const port = origin.portName ? `:${origin.portName}` : ''
    const endpoint = origin.endpoint ? ` ${origin.endpoint}` : ''
    return `${origin.role}${endpoint} of Service ${origin.namespace}/${origin.service}${port} ${origin.protocol ?? ''}`.trim()
  }
}

function nodeAsJson({ node, ruleSet, origins }: ExportedNode): unknown {
  return {
    node,
    tables: ruleSet.tables.map((table) => {
      const rules = rulesByChain(table)
      return {
        table: table.name,
        chains: table.chains.map(({ name, policy }) => ({
          chain: name,
          ...(policy === undefined ? {} : { policy }),
          ...(origins[name] ? { origin: origins[name] } : {}),
          rules: (rules.get(name) ?? []).map(({ text }) => text),
        })),
      }
    }),
  }
}
