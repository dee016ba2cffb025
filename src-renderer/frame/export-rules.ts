import type { Requests } from '../../src-main/contract/lab-contract.ts'

export type ExportFormat = Requests['rules/export']['params']['format']

export interface ExportChoice {
  readonly format: ExportFormat
  readonly name: string
  readonly says: string
  readonly suffix: string
}

/** What the rule sets can be taken home as. */
export const EXPORT_CHOICES: readonly ExportChoice[] = [
  { format: 'save', name: 'iptables-save', says: 'as the kernel has it, with counters', suffix: '.rules' },
  {
    format: 'restore',
    name: 'iptables-restore',
    says: 'to load elsewhere, with remarks',
    suffix: '.restore.rules',
  },
  { format: 'script', name: 'Shell script', says: 'one iptables command a rule', suffix: '.sh' },
  { format: 'nft', name: 'nft', says: 'translated for nftables', suffix: '.nft' },
  { format: 'json', name: 'JSON', says: 'tables, chains, rules', suffix: '.json' },
]

/** The whole lab in one file, to start it again. */
export const BUNDLE: ExportChoice = {
  format: 'bundle',
  name: 'Lab bundle',
  says: 'manifests and hand-made rules',
  suffix: '.chainwalk',
}

/** `lab-worker1.rules`; without a node, of all nodes. */
export function exportFileName(lab: string, node: string | undefined, choice: ExportChoice): string {
  const of = choice.format === 'bundle' ? '' : `-${node ?? 'all-nodes'}`
  return `${lab}${of}${choice.suffix}`
}
