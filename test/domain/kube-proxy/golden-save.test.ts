import { describe, expect, it } from 'vitest'
import { formatSave } from '../../../src-main/domain/kube-proxy/format-save.ts'
import {
  applyEntryJumps,
  applyRestore,
  emptyTables,
} from '../../../src-main/domain/kube-proxy/kernel-tables.ts'
import { formatRestore } from '../../../src-main/domain/kube-proxy/restore.ts'
import { goldens } from './load-golden.ts'
import { syncSteps } from './sync-steps.ts'

describe.each(goldens)('$name', (golden) => {
  it.each(golden.config.ipFamilies)('%s leaves what iptables-save printed', (family) => {
    let tables = emptyTables
    for (const [i, plan] of syncSteps(golden, family).entries()) {
      tables = applyEntryJumps(tables, plan.entryJumps)
      // applyRestore throws on a jump to a chain that is not there.
      tables = applyRestore(tables, formatRestore(plan.restore))
      expect(formatSave(tables, family)).toBe(golden.expected(family, 'save', i + 1))
    }
  })
})
