import { isOver, type Measure } from './measure.ts'

export interface BenchResult {
  readonly name: string
  readonly measures: readonly Measure[]
}

const HEADING = ['what', 'value', 'baseline', 'ratio', 'bound', '']

/** All measures in one table; numbers stand at the right of their column. */
export function formatTable(results: readonly BenchResult[]): string {
  const rows = results.flatMap(({ name, measures }) => [[name], ...measures.map(row)])
  const widths = HEADING.map((title, at) =>
    Math.max(title.length, ...rows.filter(({ length }) => length > 1).map((cells) => cells[at]?.length ?? 0)),
  )
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (at > 0 && at < 5 ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd()
  return `${[line(HEADING), ...rows.map((cells) => (cells.length > 1 ? line(cells) : `\n${cells[0]}`))].join('\n')}\n`
}

function row(measure: Measure): string[] {
  const { label, value, unit, baseline, baselineIs, bound, limit } = measure
  const isJudged = limit !== undefined || (bound !== undefined && baseline !== undefined)
  return [
    `  ${label}${baselineIs ? ` / ${baselineIs}` : ''}`,
    quantity(value, unit),
    baseline === undefined ? '' : quantity(baseline, unit),
    baseline === undefined ? '' : `${(value / baseline).toFixed(2)} ×`,
    [
      ...(bound === undefined ? [] : [`${bound.toFixed(2)} ×`]),
      ...(limit === undefined ? [] : [quantity(limit, unit)]),
    ].join(', '),
    isJudged ? (isOver(measure) ? 'OVER' : 'ok') : '',
  ]
}

function quantity(value: number, unit: string): string {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return `${value.toFixed(digits)} ${unit}`.trim()
}
