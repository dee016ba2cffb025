import type { Hop } from './journey.ts'
import { hopsOf, type Walk, type WalkPath } from './walk-path.ts'

/** How a prediction fared against what was traced. */
export interface WalkComparison {
  /** The predicted path that goes along with the traced hops for longest. */
  readonly path: WalkPath
  /** True where the traced hops are that path's, from first to last. */
  readonly isSame: boolean
  /** Where the two part; undefined where they do not. A side without a hop has ended there. */
  readonly parting: { readonly at: number; readonly walked?: Hop; readonly traced?: Hop } | undefined
}

/** Compares a walk with the hops that a journey has on the walk's node. Undefined for a walk without paths. */
export function compareWalk(walk: Pick<Walk, 'paths'>, traced: readonly Hop[]): WalkComparison | undefined {
  let best: WalkComparison | undefined
  for (const path of walk.paths) {
    const walked = hopsOf(path)
    const length = Math.max(walked.length, traced.length)
    let at = 0
    while (at < length && isSameHop(walked[at], traced[at])) at++
    if (at === length) return { path, isSame: true, parting: undefined }
    if (best?.parting && best.parting.at >= at) continue
    const [own, other] = [walked[at], traced[at]]
    const parting = { at, ...(own ? { walked: own } : {}), ...(other ? { traced: other } : {}) }
    best = { path, isSame: false, parting }
  }
  return best
}

function isSameHop(a: Hop | undefined, b: Hop | undefined): boolean {
  if (!a || !b) return false
  return (
    a.hook === b.hook &&
    a.table === b.table &&
    a.chain === b.chain &&
    a.rule === b.rule &&
    a.verdict === b.verdict
  )
}
