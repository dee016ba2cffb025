import { formatAddress } from './allocate-address.ts'
import type { ClusterDraft } from './cluster-draft.ts'
import type { ClusterNode } from './cluster-objects.ts'
import { parsePinnedAddresses, podIpsAnnotation, podRange } from './pinned-addresses.ts'

/** Which pod addresses are in use or promised to somebody, and which comes next. */
export class PodAddresses {
  readonly #draft: ClusterDraft
  readonly #taken = new Set<string>()
  readonly #pinned: ReadonlySet<string>

  constructor(draft: ClusterDraft) {
    this.#draft = draft
    for (const pod of draft.all('Pod')) for (const address of pod.status.podIPs) this.#taken.add(address)
    this.#pinned = collectPinned(draft)
  }

  isTaken(address: string): boolean {
    return this.#taken.has(address)
  }

  take(address: string): void {
    this.#taken.add(address)
  }

  /** One address a podCIDR of the node, or undefined when one of them is used up. A node without podCIDRs gives []. */
  next(node: ClusterNode): readonly string[] | undefined {
    const found: string[] = []
    for (const cidr of node.podCIDRs) {
      const address = this.#nextOf(cidr)
      if (address === undefined) return undefined
      found.push(address)
    }
    for (const address of found) this.#taken.add(address)
    return found
  }

  /** As the host-local plugin does it: onwards from the last one given, round to the beginning when the end is reached. */
  #nextOf(cidr: string): string | undefined {
    const range = podRange(cidr)
    if (!range || range.first > range.last) return undefined
    const count = range.last - range.first + 1n
    const last = range.network + BigInt(this.#draft.lastPodOffset(cidr))
    const start = last < range.first ? 0n : last - range.first + 1n
    for (let step = 0n; step < count; step++) {
      const value = range.first + ((start + step) % count)
      const address = formatAddress({ family: range.family, value })
      if (this.#taken.has(address) || this.#pinned.has(address)) continue
      this.#draft.setLastPodOffset(cidr, Number(value - range.network))
      return address
    }
    return undefined
  }
}

/** Every address that some template or pod pins, in use or not: others do not get it. */
function collectPinned(draft: ClusterDraft): ReadonlySet<string> {
  const pinned = new Set<string>()
  const { nodes } = draft.config
  const add = (annotations: Readonly<Record<string, string>>) => {
    if (annotations[podIpsAnnotation] === undefined) return
    for (const pin of parsePinnedAddresses(annotations, nodes).pins) pinned.add(pin.address)
  }
  for (const deployment of draft.all('Deployment')) add(deployment.spec.template.metadata.annotations)
  for (const replicaSet of draft.all('ReplicaSet')) {
    // An old ReplicaSet of a Deployment promises nothing any more.
    if (replicaSet.spec.replicas > 0) add(replicaSet.spec.template.metadata.annotations)
  }
  for (const pod of draft.all('Pod')) if (!pod.metadata.ownerReferences) add(pod.metadata.annotations)
  return pinned
}
