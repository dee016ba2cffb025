import type { PodCondition } from '../frame/pod-conditions.ts'
import type { Selection } from '../lab-state.svelte.ts'
import { cablesOf, findPodItem, type PodItem, type TopologyModel } from './topology-model.ts'

/** What choosing an action does; the component carries it out. */
export type ActionEffect =
  | { readonly kind: 'terminal'; readonly target: string; readonly command?: string }
  | {
      readonly kind: 'condition'
      readonly namespace: string
      readonly name: string
      readonly condition: PodCondition
    }
  | { readonly kind: 'rules'; readonly node: string }
  | { readonly kind: 'capture'; readonly host: string; readonly link: string }

export type ActionIcon =
  | 'terminal'
  | 'capture'
  | 'rules'
  | 'ready'
  | 'not-ready'
  | 'terminating'
  | 'delete'
  | 'hairpin'

export interface TopologyAction {
  /** Short, for a button. */
  readonly label: string
  /** The whole of it, for a menu and a tooltip. */
  readonly title: string
  readonly icon: ActionIcon
  readonly effect: ActionEffect
}

/** What can be done with what is picked, most wanted first. Empty for what the picture does not show. */
export function topologyActions(
  selection: Selection | undefined,
  model: TopologyModel,
): readonly TopologyAction[] {
  switch (selection?.kind) {
    case 'client':
      return [
        terminal('client', 'Open a terminal in the client'),
        capture('Capture', 'Capture packets at the client’s eth0', 'client', 'eth0'),
      ]
    case 'node': {
      const { node } = selection
      return [
        terminal(`node/${node}`, `Open a terminal in ${node}`),
        {
          label: 'Rules',
          title: `Show the iptables rules of ${node}`,
          icon: 'rules',
          effect: { kind: 'rules', node },
        },
        capture('Capture', `Capture packets at eth0 of ${node}`, `node/${node}`, 'eth0'),
      ]
    }
    case 'pod': {
      const pod = findPodItem(model, selection.namespace, selection.name)
      return pod ? podActions(pod) : []
    }
    case 'link':
      return linkActions(selection.id, model)
    default:
      return []
  }
}

function podActions(pod: PodItem): TopologyAction[] {
  const { namespace, name } = pod
  const condition = (to: PodCondition, label: string, title: string, icon: ActionIcon): TopologyAction => ({
    label,
    title,
    icon,
    effect: { kind: 'condition', namespace, name, condition: to },
  })
  const far = pod.cable?.far
  return [
    terminal(pod.id, 'Open a terminal in the pod'),
    ...(pod.cable ? [capture('Capture', 'Capture in the pod, at its eth0', pod.id, 'eth0')] : []),
    ...(far
      ? [
          capture(
            'At node',
            `Capture on ${pod.node}, at the other end of the cable (${far.name})`,
            far.host,
            far.name,
          ),
        ]
      : []),
    ...(pod.state === 'ready'
      ? [
          condition(
            'not-ready',
            'Not ready',
            'Let its readiness fail: no Service sends it new connections',
            'not-ready',
          ),
        ]
      : [condition('ready', 'Ready', 'Make it ready: its Services send to it again', 'ready')]),
    ...(pod.state === 'terminating'
      ? []
      : [
          condition(
            'terminating',
            'Terminating',
            'Begin to end it: it still answers, and is on its way out',
            'terminating',
          ),
        ]),
    condition('deleted', 'Delete', 'Delete the pod; a Deployment makes another one', 'delete'),
  ]
}

function linkActions(id: string, model: TopologyModel): TopologyAction[] {
  const cable = cablesOf(model).find(({ near, far }) => near.id === id || far.id === id)
  if (!cable) {
    const link = model.nodes
      .flatMap(({ bridge, extra }) => [...(bridge ? [bridge] : []), ...extra])
      .find((candidate) => candidate.id === id)
    return link ? [capture('Capture', `Capture at ${link.name}`, link.host, link.name)] : []
  }
  const { near, far } = cable
  if (far.host === 'switch') return [capture('Capture', `Capture at ${near.name}`, near.host, near.name)]
  return [
    capture('Capture', `Capture on the node, at ${far.name}`, far.host, far.name),
    ...(far.bridge === undefined
      ? []
      : [
          {
            label: 'Hairpin',
            title: `Show the bridge port’s hairpin state`,
            icon: 'hairpin',
            effect: { kind: 'terminal', target: far.host, command: `bridge -d link show dev ${far.name}` },
          } satisfies TopologyAction,
        ]),
  ]
}

function terminal(target: string, title: string): TopologyAction {
  return { label: 'Terminal', title, icon: 'terminal', effect: { kind: 'terminal', target } }
}

function capture(label: string, title: string, host: string, link: string): TopologyAction {
  return { label, title: `${title} (tcpdump)`, icon: 'capture', effect: { kind: 'capture', host, link } }
}
