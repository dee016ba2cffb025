import { describe, expect, it } from 'vitest'
import { formatEntryCommands } from '../../../src-main/domain/kube-proxy/entry-jumps.ts'
import { formatRestore } from '../../../src-main/domain/kube-proxy/restore.ts'
import { goldens } from './load-golden.ts'
import { syncSteps } from './sync-steps.ts'

describe.each(goldens)('$name', (golden) => {
  it.each(golden.config.ipFamilies)('%s equals what the real kube-proxy wrote', (family) => {
    const plans = syncSteps(golden, family)
    const [first] = plans
    expect(`${formatEntryCommands(first?.entryJumps ?? [], family).join('\n')}\n`).toBe(
      golden.expected(family, 'jumps'),
    )
    for (const [i, plan] of plans.entries())
      expect(formatRestore(plan.restore)).toBe(golden.expected(family, 'rules', i + 1))
  })
})
