import type { Cluster, ObjectOf } from './cluster-objects.ts'
import type { Kind, KubernetesObject } from './objects.ts'
import { resourceNames } from './resource-names.ts'
import { buildTableContext, type Column, tableColumns } from './table-columns.ts'

export interface TableOptions {
  /** `-o wide`. */
  readonly wide: boolean
  /** RFC 3339; ages are counted up to here. */
  readonly now: string
  /** A NAMESPACE column comes first, where the kind has namespaces. */
  readonly allNamespaces: boolean
  /** `pod/` before each name, as kubectl writes when several kinds are asked for. */
  readonly prefixed: boolean
}

/** Objects of one kind, e.g. from listShown. */
export interface TableRequest {
  readonly kind: Kind
  readonly objects: readonly KubernetesObject[]
}

/**
 * What `kubectl get` prints for these kinds: a table each, empty ones left out, a blank line between. Empty when there
 * are no objects at all; formatNoResources has the words for that.
 */
export function formatTables(
  cluster: Cluster,
  requests: readonly TableRequest[],
  options: TableOptions,
): string {
  const context = buildTableContext(cluster, options.wide, options.now)
  return requests
    .filter(({ objects }) => objects.length > 0)
    .map(({ kind, objects }) => {
      const columns = tableColumns(kind, options.wide) as unknown as readonly Column<KubernetesObject>[]
      const { isNamespaced, prefix } = resourceNames[kind]
      const rows = objects.map((object) => {
        const cells = columns.map(({ cell }) => cell(object as ObjectOf<Kind>, context))
        if (options.prefixed) cells[0] = `${prefix}/${cells[0] ?? ''}`
        return options.allNamespaces && isNamespaced ? [object.metadata.namespace, ...cells] : cells
      })
      const titles = columns.map(({ title }) => title)
      return alignColumns([
        options.allNamespaces && isNamespaced ? ['NAMESPACE', ...titles] : titles,
        ...rows,
      ])
    })
    .join('\n')
}

/** `No resources found in default namespace.`; kubectl writes it to stderr. */
export function formatNoResources(kinds: readonly Kind[], namespace: string | undefined): string {
  const isNamespaced = kinds.some((kind) => resourceNames[kind].isNamespaced)
  return namespace === undefined || !isNamespaced
    ? 'No resources found\n'
    : `No resources found in ${namespace} namespace.\n`
}

/** Rows of equal length as lines: three blanks between columns, no column narrower than six, nothing behind the last. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((cell, index) => {
      widths[index] = Math.max(widths[index] ?? 6, [...cell].length + 3)
    })
  }
  const formatRow = (row: readonly string[]) =>
    row.map((cell, index) => (index < row.length - 1 ? padEnd(cell, widths[index] ?? 0) : cell)).join('')
  return rows.map((row) => `${formatRow(row)}\n`).join('')
}

function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - [...text].length))
}
