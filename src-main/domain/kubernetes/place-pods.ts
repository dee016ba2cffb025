import { PodAddresses } from './allocate-pod-address.ts'
import type { ClusterDraft } from './cluster-draft.ts'
import type { Labels, Pod } from './objects.ts'
import { type PinnedAddress, parsePinnedAddresses } from './pinned-addresses.ts'
import { Scheduler } from './schedule.ts'
import { workloadOf } from './workload-of.ts'

/** Gives pods that have no address yet a node and addresses, and calls them ready; others stay Pending, with a warning. */
export function placePods(draft: ClusterDraft): void {
  const waiting = waitingPods(draft)
  if (waiting.length === 0) return
  const placement: Placement = {
    draft,
    scheduler: new Scheduler(draft),
    addresses: new PodAddresses(draft),
    full: new Set(),
  }
  const pinsOf = new Map<Labels, readonly PinnedAddress[]>()
  for (const pod of waiting) {
    const { annotations } = pod.metadata
    const pins = pinsOf.get(annotations) ?? parsePinnedAddresses(annotations, draft.config.nodes).pins
    pinsOf.set(annotations, pins)
    const placed = placePod(placement, pod, pins)
    if (!placed) continue
    placement.scheduler.place(pod, placed.spec.nodeName)
    draft.put(placed)
  }
}

interface Placement {
  readonly draft: ClusterDraft
  readonly scheduler: Scheduler
  readonly addresses: PodAddresses
  /** Nodes found without a free pod address. */
  readonly full: Set<string>
}

/** Pods without address: the touched ones, and all others too when a pod left or a node changed. */
function waitingPods(draft: ClusterDraft): Pod[] {
  const touched = draft.touched('Pod')
  const mayHaveRoom =
    draft.touched('Node').length > 0 ||
    touched.some(({ namespace, name }) => !draft.get('Pod', namespace, name))
  const pods = mayHaveRoom
    ? [...draft.all('Pod')]
    : touched.flatMap(({ namespace, name }) => draft.get('Pod', namespace, name) ?? [])
  return pods.filter((pod) => pod.status.podIPs.length === 0)
}

function placePod(
  { draft, scheduler, addresses, full }: Placement,
  pod: Pod,
  pins: readonly PinnedAddress[],
) {
  const given = pod.spec.nodeName
  const warn = (path: string, message: string) =>
    draft.report('warning', workloadOf(draft, pod), path, message)
  if (given !== '' && !scheduler.node(given)) {
    const isOwned = pod.metadata.ownerReferences !== undefined
    const path = isOwned ? 'spec.template.spec.nodeName' : 'spec.nodeName'
    warn(path, `node "${given}" does not exist: pod "${pod.metadata.name}" stays Pending`)
    return undefined
  }
  if (pod.spec.hostNetwork) {
    const node = scheduler.node(given) ?? scheduler.choose(pod, new Set())
    return node && withPlace(pod, node.name, [node.internalIP])
  }
  const pin = pins.find(
    ({ address, nodeName }) => !addresses.isTaken(address) && (given === '' || given === nodeName),
  )
  if (pin) {
    addresses.take(pin.address)
    return withPlace(pod, pin.nodeName, [pin.address])
  }
  for (;;) {
    const node = given === '' ? scheduler.choose(pod, full) : scheduler.node(given)
    const found = node && addresses.next(node)
    if (node && found) {
      if (found.length === 0)
        warn('', `pod "${pod.metadata.name}" has no address: node "${node.name}" has no podCIDR`)
      return withPlace(pod, node.name, found)
    }
    if (!node || given !== '') {
      warn(
        '',
        `pod "${pod.metadata.name}" stays Pending: there is no free pod address${node ? ` on ${node.name}` : ''}`,
      )
      return undefined
    }
    full.add(node.name)
  }
}

function withPlace(pod: Pod, nodeName: string, podIPs: readonly string[]): Pod {
  const spec = { ...pod.spec, nodeName }
  return { ...pod, spec, status: { ...pod.status, podIPs, ready: podIPs.length > 0 } }
}
