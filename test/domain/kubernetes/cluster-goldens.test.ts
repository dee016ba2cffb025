import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { appliedObjects } from '../../../src-main/domain/kubernetes/cluster.ts'
import { createClusterFromManifests } from '../../../src-main/domain/kubernetes/cluster-from-manifests.ts'
import { getObject, listObjects } from '../../../src-main/domain/kubernetes/cluster-objects.ts'
import { parseManifests } from '../../../src-main/domain/kubernetes/parse-manifests.ts'
import { formatProblem } from '../../../src-main/domain/kubernetes/problem.ts'
import { now } from './cluster-fixture.ts'

const goldens = new URL('../../golden/', import.meta.url)
const files = readdirSync(goldens, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name }) =>
    readdirSync(new URL(`${name}/`, goldens))
      .filter((file) => /^manifests.*\.yaml$/.test(file))
      .map((file) => `${name}/${file}`),
  )

describe("the goldens' manifests make clusters that keep every object as given", () => {
  it.each(files)('%s', (file) => {
    const parsed = parseManifests(file, readFileSync(new URL(file, goldens), 'utf8'))
    const { cluster, problems } = createClusterFromManifests(appliedObjects(parsed), now)
    expect(problems.filter(({ severity }) => severity === 'error').map(formatProblem)).toEqual([])
    for (const given of parsed.objects) {
      const stored = getObject(cluster, given.kind, given.metadata.namespace, given.metadata.name)
      expect({ ...stored, metadata: { ...stored?.metadata, creationTimestamp: undefined } }).toEqual(given)
    }
    const slices = listObjects(cluster, 'EndpointSlice')
    const made = slices.filter(({ metadata }) => metadata.ownerReferences !== undefined)
    expect(made.flatMap(({ endpoints }) => endpoints)).toEqual([])
  })
})
