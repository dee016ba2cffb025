import type { ClusterDraft } from './cluster-draft.ts'
import { reconcileDeployments } from './deployment-controller.ts'
import { reconcileEndpointSlices } from './endpoint-slice-controller.ts'
import type { Service } from './objects.ts'
import { placePods } from './place-pods.ts'
import { reconcileReplicaSets } from './replica-set-controller.ts'

/**
 * Runs the controllers over what the draft touched. Each looks only downwards (Deployment, ReplicaSet, Pod,
 * EndpointSlice), so one pass in this order is the fixed point. Returns the Services whose endpoints were worked out.
 */
export function reconcileDraft(draft: ClusterDraft, now: string): readonly Service[] {
  reconcileDeployments(draft, now)
  reconcileReplicaSets(draft, now)
  placePods(draft)
  return reconcileEndpointSlices(draft, now)
}
