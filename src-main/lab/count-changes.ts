import type { TableDiff } from '../domain/iptables/diff-rule-sets.ts'

/** How many rules a difference adds and removes. */
export function countChanges(changes: readonly TableDiff[]): { added: number; removed: number } {
  const rules = changes.flatMap(({ chains }) => chains.flatMap(({ rules: lines }) => lines))
  return {
    added: rules.filter(({ kind }) => kind === 'added').length,
    removed: rules.filter(({ kind }) => kind === 'removed').length,
  }
}
