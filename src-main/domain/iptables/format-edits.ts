import type { TableDiff } from './diff-rule-sets.ts'

/**
 * The restore text (for `iptables-restore --noflush`) that turns the rule set before a difference into the one
 * after it. Empty without a difference.
 */
export function formatEdits(diff: readonly TableDiff[]): string {
  return diff
    .map(({ table, chains }) => {
      const made = chains.filter(({ change, policy }) => change === 'added' && policy === undefined)
      const gone = chains.filter(({ change }) => change === 'removed')
      const policies = chains.flatMap(({ chain, policy }) =>
        policy?.after === undefined ? [] : [`:${chain} ${policy.after} [0:0]`],
      )
      const removed = chains.flatMap(({ chain, rules }) =>
        rules
          .flatMap((rule) => (rule.kind === 'removed' || rule.kind === 'moved' ? [rule.before] : []))
          .sort((a, b) => b - a) // from below, so that the numbers above stay true
          .map((number) => `-D ${chain} ${number}`),
      )
      const added = chains.flatMap(({ chain, rules }) =>
        rules
          .flatMap((rule) => (rule.kind === 'added' || rule.kind === 'moved' ? [rule] : []))
          .sort((a, b) => a.after - b.after)
          .map((rule) => `-I ${chain} ${rule.after} ${rule.text}`.trimEnd()),
      )
      const lines = [
        `*${table}`,
        ...policies,
        ...made.map(({ chain }) => `:${chain} - [0:0]`),
        ...removed,
        ...added,
        ...gone.map(({ chain }) => `-X ${chain}`),
        'COMMIT',
      ]
      return `${lines.join('\n')}\n`
    })
    .join('')
}
