import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { NodeConfig } from '../../../src-main/domain/kube-proxy/node-config.ts'
import type { EndpointSlice, NodeObject, Service } from '../../../src-main/domain/kubernetes/objects.ts'
import { parseManifests } from '../../../src-main/domain/kubernetes/parse-manifests.ts'
import { formatProblem } from '../../../src-main/domain/kubernetes/problem.ts'

const goldenFolder = fileURLToPath(new URL('../../golden/', import.meta.url))

export interface ClusterObjects {
  readonly services: readonly Service[]
  readonly endpointSlices: readonly EndpointSlice[]
  readonly nodes: readonly NodeObject[]
}

/** One recorded case: the objects at each step and what the real kube-proxy made of them. */
export interface Golden {
  readonly name: string
  readonly config: NodeConfig
  /** The first is the first full sync. */
  readonly steps: readonly ClusterObjects[]
  /** The recorded file, or undefined when the case has none; step 1 has no infix in its name. */
  expected(family: 'IPv4' | 'IPv6', kind: 'jumps' | 'rules' | 'save', step?: number): string | undefined
}

export const goldens: readonly Golden[] = readdirSync(goldenFolder)
  .filter((name) => /^\d{3}-/.test(name))
  .sort()
  .map(loadGolden)

function loadGolden(name: string): Golden {
  const read = (file: string) => readFileSync(join(goldenFolder, name, file), 'utf8')
  const steps = ['manifests.yaml', 'manifests.step2.yaml', 'manifests.step3.yaml'].filter((file) =>
    existsSync(join(goldenFolder, name, file)),
  )
  return {
    name,
    config: JSON.parse(read('node.json')),
    steps: steps.map((file) => loadObjects(`${name}/${file}`, read(file))),
    expected(family, kind, step = 1) {
      const file = `expected.${family === 'IPv6' ? 'ip6.' : ''}${step > 1 ? `step${step}.` : ''}${kind}`
      return existsSync(join(goldenFolder, name, file)) ? read(file) : undefined
    },
  }
}

function loadObjects(file: string, text: string): ClusterObjects {
  const { objects, problems } = parseManifests(file, text)
  const error = problems.find(({ severity }) => severity === 'error')
  if (error) throw new Error(formatProblem(error))
  return {
    services: objects.filter((each) => each.kind === 'Service'),
    endpointSlices: objects.filter((each) => each.kind === 'EndpointSlice'),
    nodes: objects.filter((each) => each.kind === 'Node'),
  }
}
