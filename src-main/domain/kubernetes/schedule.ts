import type { ClusterDraft } from './cluster-draft.ts'
import type { ClusterNode } from './cluster-objects.ts'
import type { Pod } from './objects.ts'

/** Chooses nodes for pods: fewest pods of the same owner first, then fewest pods, then the cluster's node order. */
export class Scheduler {
  readonly #nodes: readonly ClusterNode[]
  readonly #byName: ReadonlyMap<string, ClusterNode>
  readonly #total = new Map<string, number>()
  readonly #perOwner = new Map<string, Map<string, number>>()

  constructor(draft: ClusterDraft) {
    const { nodes } = draft.config
    const workers = nodes.filter((node) => node.role === 'worker')
    // Without workers the control plane must carry the pods, as in a cluster of one node.
    this.#nodes = workers.length > 0 ? workers : nodes
    this.#byName = new Map(nodes.map((node) => [node.name, node]))
    for (const pod of draft.all('Pod')) if (pod.status.podIPs.length > 0) this.place(pod, pod.spec.nodeName)
  }

  node(name: string): ClusterNode | undefined {
    return this.#byName.get(name)
  }

  /** Counts a pod on its node. */
  place(pod: Pod, nodeName: string): void {
    this.#total.set(nodeName, (this.#total.get(nodeName) ?? 0) + 1)
    if (pod.status.terminating) return
    const owner = ownerOf(pod)
    let counts = this.#perOwner.get(owner)
    if (!counts) {
      counts = new Map()
      this.#perOwner.set(owner, counts)
    }
    counts.set(nodeName, (counts.get(nodeName) ?? 0) + 1)
  }

  /** The best node that is not among the full ones; undefined when there is none. */
  choose(pod: Pod, full: ReadonlySet<string>): ClusterNode | undefined {
    const counts = this.#perOwner.get(ownerOf(pod))
    let best: { node: ClusterNode; like: number; total: number } | undefined
    for (const node of this.#nodes) {
      if (full.has(node.name)) continue
      const like = counts?.get(node.name) ?? 0
      const total = this.#total.get(node.name) ?? 0
      if (best && (like > best.like || (like === best.like && total >= best.total))) continue
      best = { node, like, total }
    }
    return best?.node
  }
}

function ownerOf({ metadata }: Pod): string {
  const owner = metadata.ownerReferences?.[0]
  return owner
    ? `${metadata.namespace}/${owner.kind}/${owner.name}`
    : `${metadata.namespace}/Pod/${metadata.name}`
}
