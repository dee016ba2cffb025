import { type LabState, VIEWS, type View } from '../lab-state.svelte.ts'
import type { DockState } from '../terminal/dock-state.svelte.ts'
import { listTargets, targetName } from '../terminal/target-words.ts'
import { showBeside, startTrace } from '../trace/start-trace.ts'
import { tracePresets } from '../trace/trace-presets.ts'
import { BUNDLE, EXPORT_CHOICES } from './export-rules.ts'
import { type Findable, namedFirst } from './find-actions.ts'
import type { FrameState } from './frame-state.svelte.ts'
import { podState } from './lab-words.ts'
import { setPodCondition } from './pod-conditions.ts'
import { exportToFile } from './save-file.ts'
import { VIEW_NAMES } from './view-names.ts'

export interface Action extends Findable {
  readonly note?: string
  readonly keys?: string
  readonly run: () => void
}

/** With a query of more objects than this, only a longer one offers what there is one of for each object. */
const FEW_PODS = 12

/** Everything that the window can do now. The query may hold a number for what takes one. */
export function listActions(
  lab: LabState,
  dock: DockState,
  frame: FrameState,
  query: string,
): readonly Action[] {
  const connected = lab.connection !== undefined
  return [
    ...viewActions(lab),
    ...(connected
      ? [
          ...terminalActions(lab, dock),
          ...besideActions(lab),
          ...traceActions(lab, query),
          ...nodeActions(lab),
        ]
      : []),
    ...windowActions(dock, frame),
    ...(connected
      ? [...exportActions(lab, frame), ...scaleActions(lab, query), ...podActions(lab, frame)]
      : []),
    ...serviceActions(lab),
  ]
}

function viewActions(lab: LabState): readonly Action[] {
  return VIEWS.map((view: View, place) => ({
    group: 'View',
    name: VIEW_NAMES[view].name,
    note: VIEW_NAMES[view].says,
    keys: `Ctrl ${place + 1}`,
    run: () => {
      lab.view = view
    },
  }))
}

function terminalActions(lab: LabState, dock: DockState): readonly Action[] {
  const few = lab.pods.length <= FEW_PODS
  return listTargets(lab.status, lab.pods).flatMap(({ kind, targets }) =>
    targets.map((target) => ({
      group: 'Terminal',
      name: `New terminal in ${
        kind === 'client'
          ? 'the client'
          : `${kind} ${target
              .split('/')
              .slice(1)
              .join('/')
              .replace(/^default\//, '')}`
      }`,
      hidden: kind === 'pod' && !few,
      run: () => dock.openNew(target),
    })),
  )
}

/** A large lab has too many pairs of them to make an action of each at every key. */
const TRACED_HOSTS = 10
const TRACED_SERVICES = 20

/** Trace a request from a host to a Service: those that the query names come first. */
function traceActions(lab: LabState, query: string): readonly Action[] {
  const nodes = lab.status?.nodes ?? []
  const services = namedFirst(lab.services, ({ metadata }) => metadata.name, query).slice(0, TRACED_SERVICES)
  return listTargets(lab.status, lab.pods).flatMap(({ kind, targets }) =>
    namedFirst(targets, targetName, query)
      .slice(0, TRACED_HOSTS)
      .flatMap((target, place) =>
        tracePresets(target, services, nodes, lab.node).map(({ name, command }, at) => ({
          group: 'Trace',
          name: `Trace ${name} from ${kind === 'client' ? 'the client' : `${kind} ${targetName(target)}`}`,
          hidden: at > 0 || place > 0,
          run: () => void startTrace(lab, target, command),
        })),
      ),
  )
}

function besideActions(lab: LabState): readonly Action[] {
  return [
    {
      group: 'Trace',
      name: 'Show the connections that a node tracks',
      note: 'conntrack',
      run: () => void showBeside(lab, 'connections'),
    },
    {
      group: 'Trace',
      name: 'Capture packets on a link',
      note: 'tcpdump',
      run: () => void showBeside(lab, 'capture'),
    },
    {
      group: 'Trace',
      name: 'Show the log lines of rules',
      note: 'NFLOG',
      run: () => void showBeside(lab, 'log'),
    },
  ]
}

function nodeActions(lab: LabState): readonly Action[] {
  return (lab.status?.nodes ?? []).map(({ name, address }) => ({
    group: 'Node',
    name: `Show node ${name}`,
    note: address,
    run: () => {
      lab.node = name
      lab.selection = { kind: 'node', node: name }
    },
  }))
}

function windowActions(dock: DockState, frame: FrameState): readonly Action[] {
  const { active } = dock
  return [
    {
      group: 'Window',
      name: dock.visible ? 'Hide the terminals' : 'Show the terminals',
      keys: 'Ctrl `',
      run: () => {
        dock.visible = !dock.visible
      },
    },
    ...(active
      ? [
          {
            group: 'Window',
            name: dock.sides.shown.length > 1 ? 'One terminal' : 'Two terminals side by side',
            run: () => dock.toggleSplit(),
          },
          {
            group: 'Window',
            name: `Close the terminal ${targetName(active.target)}`,
            run: () => dock.close(active),
          },
        ]
      : []),
    {
      group: 'Window',
      name: dock.readable
        ? 'Terminals: stop reading for screen readers'
        : 'Terminals: readable for screen readers',
      run: () => dock.setReadable(!dock.readable),
    },
    {
      group: 'Window',
      name: frame.sidebarOpen ? 'Fold the list of nodes and Services' : 'Show the list of nodes and Services',
      run: () => frame.setSidebar(!frame.sidebarOpen),
    },
    {
      group: 'Window',
      name: frame.inspectorOpen ? 'Fold the inspector' : 'Show the inspector',
      run: () => frame.setInspector(!frame.inspectorOpen),
    },
    {
      group: 'Window',
      name: frame.projector ? 'Leave projector mode' : 'Projector mode',
      note: 'larger type, stronger contrast',
      run: () => frame.toggleProjector(),
    },
    {
      group: 'Window',
      name: 'Theme: dark',
      run: () => frame.setTheme('dark'),
    },
    {
      group: 'Window',
      name: 'Theme: light',
      run: () => frame.setTheme('light'),
    },
    {
      group: 'Window',
      name: 'Theme: as the system',
      run: () => frame.setTheme('system'),
    },
    {
      group: 'Window',
      name: 'Keys',
      keys: '?',
      run: () => {
        frame.sheet = 'help'
      },
    },
  ]
}

function exportActions(lab: LabState, frame: FrameState): readonly Action[] {
  const places = [lab.node, undefined]
  return [
    ...places.flatMap((node) =>
      EXPORT_CHOICES.map((choice) => ({
        group: 'Export',
        name: `Export ${node ? `rules of ${node}` : 'rules of all nodes'} as ${choice.name}`,
        run: () => void exportToFile(lab, frame, choice, node),
      })),
    ),
    {
      group: 'Export',
      name: 'Export the lab as a bundle',
      note: BUNDLE.says,
      run: () => void exportToFile(lab, frame, BUNDLE, undefined),
    },
  ]
}

function scaleActions(lab: LabState, query: string): readonly Action[] {
  const asked = /(?:^|\s)(\d{1,3})(?:\s|$)/.exec(query)?.[1]
  return lab.deployments.flatMap(({ metadata, spec: { replicas } }) => {
    const counts = new Set([replicas + 1, Math.max(0, replicas - 1), 0, ...(asked ? [Number(asked)] : [])])
    counts.delete(replicas)
    return [...counts].map((count) => ({
      group: 'Deployment',
      name: `Scale ${metadata.name} to ${count}`,
      note: `now ${replicas}`,
      hidden: lab.deployments.length > 2 || (count === 0 && replicas > 1),
      run: () =>
        void lab.attempt((connection) =>
          connection.request('objects/scale', {
            ref: { kind: 'deployment', namespace: metadata.namespace, name: metadata.name },
            replicas: count,
          }),
        ),
    }))
  })
}

const CONDITION_NAMES = {
  ready: 'ready',
  'not-ready': 'not ready',
  terminating: 'terminating',
} as const

function podActions(lab: LabState, frame: FrameState): readonly Action[] {
  return lab.pods.flatMap((pod) => {
    const { namespace, name } = pod.metadata
    const state = podState(pod)
    const shown = namespace === 'default' ? name : `${namespace}/${name}`
    const conditions = Object.entries(CONDITION_NAMES) as [keyof typeof CONDITION_NAMES, string][]
    return [
      {
        group: 'Pod',
        name: `Show pod ${shown}`,
        hidden: true,
        run: () => {
          lab.selection = { kind: 'pod', namespace, name }
          frame.setInspector(true)
        },
      },
      ...conditions
        .filter(([, words]) => words !== state)
        .map(([condition, words]) => ({
          group: 'Pod',
          name: `Make pod ${shown} ${words}`,
          note: `now ${state}`,
          hidden: true,
          run: () => void setPodCondition(lab, pod, condition),
        })),
      {
        group: 'Pod',
        name: `Delete pod ${shown}`,
        hidden: true,
        run: () => void setPodCondition(lab, pod, 'deleted'),
      },
    ]
  })
}

function serviceActions(lab: LabState): readonly Action[] {
  return lab.services.map(({ metadata: { namespace, name } }) => ({
    group: 'Service',
    name: `Show Service ${namespace === 'default' ? name : `${namespace}/${name}`}`,
    hidden: true,
    run: () => {
      lab.selection = { kind: 'service', namespace, name }
    },
  }))
}
