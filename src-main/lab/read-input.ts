import { LabError } from '../contract/errors.ts'
import type { ManifestFile, ObjectRef } from '../contract/lab-contract.ts'
import { type AppliedObject, appliedObjects } from '../domain/kubernetes/cluster.ts'
import type { ObjectRef as ClusterRef } from '../domain/kubernetes/object-names.ts'
import type { Kind } from '../domain/kubernetes/objects.ts'
import { parseManifests } from '../domain/kubernetes/parse-manifests.ts'
import { formatProblem, type Problem } from '../domain/kubernetes/problem.ts'
import { parseKinds, resourceNames } from '../domain/kubernetes/resource-names.ts'

/** All objects of all files; any error in one refuses them all. */
export function parseAll(manifests: readonly ManifestFile[]): {
  items: AppliedObject[]
  problems: Problem[]
} {
  const items: AppliedObject[] = []
  const problems: Problem[] = []
  for (const { file, text } of manifests) {
    const parsed = parseManifests(file, text)
    problems.push(...parsed.problems)
    items.push(...appliedObjects(parsed))
  }
  refuseErrors(problems)
  return { items, problems }
}

/** Fails with `bad-input` and all errors, where there is one. */
export function refuseErrors(problems: readonly Problem[]): void {
  const errors = problems.filter(({ severity }) => severity === 'error')
  if (errors.length > 0)
    throw new LabError('bad-input', errors.map(formatProblem).join('\n'), { problems: errors })
}

/** Fails with `bad-input` for a word that names no kind. */
export function kindsNamed(text: string): readonly Kind[] {
  const kinds = parseKinds(text)
  if (!kinds)
    throw new LabError(
      'bad-input',
      `the lab has no kind "${text}"; it knows ${Object.values(resourceNames)
        .map(({ prefix }) => prefix.split('.')[0])
        .join(', ')}`,
    )
  return kinds
}

export function objectRef({ kind, namespace, name }: ObjectRef): ClusterRef {
  const [found = 'Pod'] = kindsNamed(kind)
  return { kind: found, namespace: resourceNames[found].isNamespaced ? namespace : '', name }
}
