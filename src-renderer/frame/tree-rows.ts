import type { LabStatus, TargetId } from '../../src-main/contract/lab-contract.ts'
import type { Pod, Service } from '../../src-main/domain/kubernetes/objects.ts'
import type { Selection } from '../lab-state.svelte.ts'
import { nodeTarget, podTarget } from '../terminal/target-words.ts'
import { groupBy } from './group-by.ts'
import { type PodState, podState } from './lab-words.ts'
import { typeWords } from './service-words.ts'

interface RowBase {
  /** Unique in the tree; stays with what it stands for. */
  readonly key: string
  readonly level: 1 | 2 | 3
  readonly name: string
  readonly expanded?: boolean
  readonly selection?: Selection
  /** Where Enter opens a terminal. */
  readonly target?: TargetId
}

export type TreeRow = RowBase &
  (
    | { readonly kind: 'section'; readonly count: number }
    | { readonly kind: 'node'; readonly address: string; readonly pods: number }
    | { readonly kind: 'pod'; readonly state: PodState }
    | { readonly kind: 'service'; readonly type: string }
    | { readonly kind: 'client'; readonly address: string }
  )

export interface TreeInput {
  readonly status: LabStatus | undefined
  readonly pods: readonly Pod[]
  readonly services: readonly Service[]
  /** Keys of rows that are folded. */
  readonly folded: ReadonlySet<string>
  /** Only rows with this text, and what they hang on; case does not matter. */
  readonly filter: string
}

/** Names outside the default namespace carry it. */
const shownName = ({ namespace, name }: { namespace: string; name: string }): string =>
  namespace === 'default' ? name : `${namespace}/${name}`

/** The sidebar's rows from top to bottom, as they stand when folded rows keep theirs to themselves. */
export function buildTreeRows({ status, pods, services, folded, filter }: TreeInput): readonly TreeRow[] {
  const wanted = filter.trim().toLowerCase()
  const fits = (text: string): boolean => text.toLowerCase().includes(wanted)
  const isOpen = (key: string): boolean => wanted !== '' || !folded.has(key)
  const nodeNames = new Set(status?.nodes.map(({ name }) => name))
  const podsByNode = groupBy(pods, ({ spec }) => (nodeNames.has(spec.nodeName) ? spec.nodeName : ''))

  const podRow = (pod: Pod): TreeRow => {
    const { namespace, name } = pod.metadata
    return {
      kind: 'pod',
      key: podTarget(pod.metadata),
      level: 3,
      name: shownName(pod.metadata),
      state: podState(pod),
      selection: { kind: 'pod', namespace, name },
      ...(pod.status.podIPs.length > 0 ? { target: podTarget(pod.metadata) } : {}),
    }
  }
  const podRows = (node: string): readonly TreeRow[] =>
    (podsByNode.get(node) ?? []).filter(({ metadata }) => fits(shownName(metadata))).map(podRow)

  const nodeRows = (status?.nodes ?? []).flatMap(({ name, address }): readonly TreeRow[] => {
    const key = nodeTarget(name)
    const own = podRows(name)
    const count = podsByNode.get(name)?.length ?? 0
    if (wanted !== '' && own.length === 0 && !fits(name)) return []
    return [
      {
        kind: 'node',
        key,
        level: 2,
        name,
        address,
        pods: count,
        ...(count > 0 ? { expanded: isOpen(key) } : {}),
        selection: { kind: 'node', node: name },
        target: key,
      },
      ...(isOpen(key) ? own : []),
    ]
  })
  const unscheduled = podRows('').map((row): TreeRow => ({ ...row, level: 2 }))
  const serviceRows = services
    .filter(({ metadata }) => fits(shownName(metadata)))
    .map((service): TreeRow => {
      const { namespace, name } = service.metadata
      return {
        kind: 'service',
        key: `service/${namespace}/${name}`,
        level: 2,
        name: shownName(service.metadata),
        type: typeWords(service),
        selection: { kind: 'service', namespace, name },
      }
    })
  const clientRows: readonly TreeRow[] =
    status && fits('client')
      ? [
          {
            kind: 'client',
            key: 'client',
            level: 2,
            name: 'client',
            address: status.client.address,
            selection: { kind: 'client' },
            target: 'client',
          },
        ]
      : []

  const section = (name: string, count: number, rows: readonly TreeRow[]): readonly TreeRow[] => {
    const key = `section/${name}`
    const expanded = isOpen(key)
    return [{ kind: 'section', key, level: 1, name, count, expanded }, ...(expanded ? rows : [])]
  }
  return [
    ...section('Nodes', status?.nodes.length ?? 0, nodeRows),
    ...(unscheduled.length > 0 ? section('Without a node', unscheduled.length, unscheduled) : []),
    ...section('Services', services.length, serviceRows),
    ...section('Outside', clientRows.length, clientRows),
  ]
}

/** What a key does in the tree: to which row it goes, or what it folds. */
export type TreeStep =
  | { readonly do: 'go'; readonly row: TreeRow }
  | { readonly do: 'fold'; readonly key: string; readonly expanded: boolean }

export function treeStep(
  rows: readonly TreeRow[],
  current: string | undefined,
  key: string,
): TreeStep | undefined {
  const place = rows.findIndex((row) => row.key === current)
  const row = rows[place]
  const go = (to: TreeRow | undefined): TreeStep | undefined => to && { do: 'go', row: to }
  switch (key) {
    case 'ArrowDown':
      return go(rows[place + 1])
    case 'ArrowUp':
      return go(rows[place < 0 ? 0 : place - 1])
    case 'Home':
      return go(rows[0])
    case 'End':
      return go(rows.at(-1))
    case 'ArrowRight':
      if (row?.expanded === false) return { do: 'fold', key: row.key, expanded: true }
      return row?.expanded ? go(rows[place + 1]) : undefined
    case 'ArrowLeft':
      if (row?.expanded) return { do: 'fold', key: row.key, expanded: false }
      return go(rows.slice(0, Math.max(0, place)).findLast(({ level }) => level < (row?.level ?? 1)))
    default:
      return undefined
  }
}

/** Whether a row stands for what is selected. */
export function isSelected(row: TreeRow, selection: Selection | undefined): boolean {
  const own = row.selection
  if (!own || !selection || own.kind !== selection.kind) return false
  switch (own.kind) {
    case 'node':
      return selection.kind === 'node' && selection.node === own.node
    case 'pod':
    case 'service':
      return 'namespace' in selection && selection.namespace === own.namespace && selection.name === own.name
    case 'client':
      return true
    default:
      return false
  }
}

/** A name with its end kept: what tells pods of one Deployment apart stands there. */
export function splitName(name: string, tail = 5): { readonly head: string; readonly tail: string } {
  return name.length > 16 ? { head: name.slice(0, -tail), tail: name.slice(-tail) } : { head: name, tail: '' }
}
