/** One line of the table. Without `bound` and `limit` it is told, not judged. */
export interface Measure {
  readonly label: string
  readonly value: number
  readonly unit: string
  /** The same work done in the plainest way, from the same run and in the same unit. */
  readonly baseline?: number
  readonly baselineIs?: string
  /** The largest value / baseline that is good. */
  readonly bound?: number
  /** The largest value that is good. */
  readonly limit?: number
}

export interface Bench {
  readonly name: string
  run(options: BenchOptions): Promise<Measure[]>
}

export interface BenchOptions {
  /** At full size: minutes instead of seconds. */
  readonly full: boolean
}

export function isOver({ value, baseline, bound, limit }: Measure): boolean {
  if (limit !== undefined && !(value <= limit)) return true
  return bound !== undefined && baseline !== undefined && !(value / baseline <= bound)
}

export function median(values: readonly number[] = []): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** Runs it and tells how many milliseconds it took. */
export async function timed<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly ms: number }> {
  const start = performance.now()
  const result = await work()
  return { result, ms: performance.now() - start }
}
