import { type ProxierState, planSync, type SyncPlan } from '../../../src-main/domain/kube-proxy/sync.ts'
import type { IpFamily } from '../../../src-main/domain/kubernetes/objects.ts'
import type { Golden } from './load-golden.ts'

/** The plans of a case's syncs, one after another, a second apart. */
export function syncSteps(golden: Golden, family: IpFamily): SyncPlan[] {
  const plans: SyncPlan[] = []
  let state: ProxierState | undefined
  for (const [i, { services, endpointSlices, nodes }] of golden.steps.entries()) {
    const node = nodes.find((each) => each.metadata.name === golden.config.nodeName)
    const input = { services, endpointSlices, node, config: golden.config, family }
    const plan = planSync(state, input, { nowMs: i * 1000 })
    plans.push(plan)
    state = plan.state
  }
  return plans
}
