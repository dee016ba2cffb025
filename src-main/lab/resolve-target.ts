import { LabError } from '../contract/errors.ts'
import type { Deployment, NodeObject, Pod, ReplicaSet } from '../domain/kubernetes/objects.ts'
import { matchesSelector } from '../domain/kubernetes/select.ts'
import { CLIENT, type HostId, nodeHost, podHost } from '../domain/topology/plan-network.ts'

export interface TargetChoices {
  readonly nodes: readonly NodeObject[]
  readonly pods: readonly Pod[]
  readonly workloads: readonly (Deployment | ReplicaSet)[]
}

/**
 * What a person names as a place to run a command in: `client`, `node/NAME`, `pod/NAME` or
 * `pod/NAMESPACE/NAME` (a unique prefix will do), `deployment/NAME` or `replicaset/NAME` (the first pod).
 * Fails with `not-found` or `bad-input`, naming what there is.
 */
export function resolveTarget(text: string, choices: TargetChoices): HostId {
  if (text === 'client') return CLIENT
  const [kind = '', ...names] = text.split('/')
  const name = names.at(-1) ?? ''
  const namespace = names.length === 2 ? (names[0] ?? 'default') : 'default'
  if (names.length < 1 || names.length > 2 || name === '')
    throw new LabError(
      'bad-input',
      `"${text}" is no target: use client, node/NAME, pod/NAME, pod/NAMESPACE/NAME or deployment/NAME`,
    )
  switch (kind) {
    case 'node':
    case 'nodes':
    case 'no': {
      const found = pick(
        text,
        choices.nodes.map((node) => node.metadata.name),
        name,
      )
      return nodeHost(found)
    }
    case 'pod':
    case 'pods':
    case 'po': {
      const pods = choices.pods.filter((pod) => pod.metadata.namespace === namespace)
      const found = pick(
        text,
        pods.map((pod) => pod.metadata.name),
        name,
      )
      return hostOf(pods.find((pod) => pod.metadata.name === found))
    }
    case 'deployment':
    case 'deployments':
    case 'deploy':
    case 'replicaset':
    case 'replicasets':
    case 'rs': {
      const wanted = kind.startsWith('d') ? 'Deployment' : 'ReplicaSet'
      const workloads = choices.workloads.filter(
        (workload) => workload.kind === wanted && workload.metadata.namespace === namespace,
      )
      const found = pick(
        text,
        workloads.map((workload) => workload.metadata.name),
        name,
      )
      const selector = workloads.find((workload) => workload.metadata.name === found)?.spec.selector
      const pods = choices.pods.filter(
        (pod) =>
          pod.metadata.namespace === namespace &&
          selector !== undefined &&
          matchesSelector(selector, pod.metadata.labels) &&
          pod.status.podIPs.length > 0,
      )
      if (pods.length === 0) throw new LabError('not-found', `${text} has no pod`)
      return hostOf(pods[0])
    }
    default:
      throw new LabError(
        'bad-input',
        `"${kind}" is no kind of target: use client, node/NAME, pod/NAME or deployment/NAME`,
      )
  }
}

/** The host that a pod's commands run in: its own, or its node's for a pod in the host network. */
export function hostOf(pod: Pod | undefined): HostId {
  if (!pod) throw new LabError('not-found', 'no such pod')
  const { namespace, name } = pod.metadata
  if (pod.status.podIPs.length === 0)
    throw new LabError('conflict', `pod ${namespace}/${name} is not running: it has no node or no address`)
  return pod.spec.hostNetwork ? nodeHost(pod.spec.nodeName) : podHost(namespace, name)
}

function pick(text: string, names: readonly string[], wanted: string): string {
  if (names.includes(wanted)) return wanted
  const found = names.filter((name) => name.startsWith(wanted))
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  if (found.length > 1)
    throw new LabError('bad-input', `${text} can mean ${list(found)}; write more of the name`)
  throw new LabError(
    'not-found',
    names.length > 0 ? `${text} does not exist; there is ${list(names)}` : `${text} does not exist`,
  )
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(', ')
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown
}
