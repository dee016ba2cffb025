import { LabError } from '../../src-main/contract/errors.ts'
import { parseManifests } from '../../src-main/domain/kubernetes/parse-manifests.ts'
import type { Problem } from '../../src-main/domain/kubernetes/problem.ts'

export interface ManifestCheck {
  readonly objects: number
  readonly problems: readonly Problem[]
}

export function checkManifest(file: string, text: string): ManifestCheck {
  const { objects, problems } = parseManifests(file, text)
  return { objects: objects.length, problems }
}

/** The problems that a refusal of the lab carries; none when it failed in another way. */
export function problemsOf(error: unknown): readonly Problem[] {
  if (!(error instanceof LabError) || error.code !== 'bad-input') return []
  const { details } = error
  if (typeof details !== 'object' || details === null || !('problems' in details)) return []
  return Array.isArray(details.problems) ? (details.problems as Problem[]) : []
}

/** Both lists in the order of lines, what both say only once. */
export function mergeProblems(one: readonly Problem[], other: readonly Problem[]): readonly Problem[] {
  const seen = new Set<string>()
  return [...one, ...other]
    .filter(({ line, path, message }) => {
      const key = `${line} ${path} ${message}`
      if (seen.has(key)) return false
      seen.add(key)
      return true
    })
    .toSorted((a, b) => a.line - b.line)
}

/** `2 errors, 1 warning`; empty without any. */
export function countProblems(problems: readonly Problem[]): string {
  const count = (severity: Problem['severity']): string[] => {
    const found = problems.filter((problem) => problem.severity === severity).length
    return found === 0 ? [] : [`${found} ${severity}${found === 1 ? '' : 's'}`]
  }
  return [...count('error'), ...count('warning')].join(', ')
}
