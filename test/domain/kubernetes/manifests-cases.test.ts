import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Service } from '../../../src-main/domain/kubernetes/objects.ts'
import { parseManifests } from '../../../src-main/domain/kubernetes/parse-manifests.ts'

const root = new URL('../../', import.meta.url)
const cases = [
  '42-list-and-same-port-two-protocols',
  '43-kompose-headless-no-ports',
  '44-wrong-scalar-types',
  '47-helm-output',
  '48-selector-and-port-names',
]

/** What the real API code said about one file, as the case's EXPECT.md records it. */
interface Expectation {
  readonly case: string
  readonly file: string
  readonly lines: readonly string[]
}

function readExpectations(name: string): Expectation[] {
  const text = readFileSync(new URL(`cases/${name}/EXPECT.md`, root), 'utf8')
  const blocks = text.matchAll(/^([\w-]+\.yaml)[^\n]*:\n+```text\n([\s\S]*?)```/gm)
  return [...blocks].map(([, file = '', body = '']) => ({
    case: name,
    file,
    lines: body.split('\n').map((line) => line.trim()),
  }))
}

const expectations = cases.flatMap(readExpectations)

function parseCase({ case: name, file }: Expectation) {
  return parseManifests(file, readFileSync(new URL(`cases/${name}/${file}`, root), 'utf8'))
}

function linesAfter({ lines }: Expectation, mark: string): string[] {
  return lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length))
}

/** The fields that the lab keeps, in the API's own shape; cluster IPs are the allocation's. */
function asApiSpec({ spec }: Service): Record<string, unknown> {
  const isExternalName = spec.type === 'ExternalName'
  const isExternal = spec.type === 'NodePort' || spec.type === 'LoadBalancer'
  return dropEmpty({
    type: spec.type,
    selector: spec.selector,
    ports: spec.ports.map((port) => dropEmpty({ ...port })),
    sessionAffinity: spec.sessionAffinity,
    externalName: spec.externalName,
    ipFamilies: spec.ipFamilies,
    ipFamilyPolicy: spec.ipFamilyPolicy,
    externalTrafficPolicy: isExternal ? spec.externalTrafficPolicy : '',
    internalTrafficPolicy: isExternalName ? '' : spec.internalTrafficPolicy,
  })
}

function dropEmpty(fields: Record<string, unknown>): Record<string, unknown> {
  const isEmpty = (value: unknown) => ['""', '0', '[]', '{}'].includes(JSON.stringify(value))
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)))
}

test('every manifest of these cases has an expectation', () => {
  const files = cases.flatMap((name) =>
    readdirSync(new URL(`cases/${name}`, root)).filter((file) => file.endsWith('.yaml')),
  )
  // Cases 48 describes one file in prose only.
  expect(expectations.map(({ file }) => file).sort()).toEqual(
    files.filter((file) => file !== 'other-namespace.yaml').sort(),
  )
})

describe.each(expectations)('$case/$file', (expectation) => {
  const { objects, problems } = parseCase(expectation)
  const errors = problems.filter(({ severity }) => severity === 'error')
  const decodeErrors = linesAfter(expectation, 'strict: ')
  const parseErrors = linesAfter(expectation, 'PARSE-ERROR: ')
  const invalid = linesAfter(expectation, 'invalid: ')

  test('has exactly the errors of the API server', () => {
    if (decodeErrors.length + parseErrors.length > 0) {
      expect(errors).not.toEqual([])
      return
    }
    if (expectation.file === 'install-debug-head.yaml') return
    const said = errors.map(({ path, message }) => `${path}: ${message}`)
    // Go prints its own struct for an equal port.
    const wanted = invalid.map((line) => line.replace(/core\.ServicePort\{.*\}$/, '{'))
    expect(said.map((line, index) => line.slice(0, wanted[index]?.length))).toEqual(wanted)
    expect(said).toHaveLength(invalid.length)
  })

  test('names the field whose type is wrong', () => {
    for (const line of decodeErrors) {
      const [, goPath, type] = /Go struct field \w+\.(\S+) of type (\w+)/.exec(line) ?? []
      if (goPath === undefined) continue
      const paths = errors.map(({ path }) => path.replace(/\[\d+\]/g, ''))
      expect(paths.some((path) => path.startsWith(goPath))).toBe(true)
      expect(errors[0]?.message).toContain(
        type === 'int32' ? 'must be an integer, found' : 'must be a string, found',
      )
    }
  })

  test('gets the defaults of the API server', () => {
    if (errors.length > 0) return
    const specs = linesAfter(expectation, 'spec after defaults: ').map((line) => {
      const { clusterIP, clusterIPs, ...spec } = JSON.parse(line)
      return spec
    })
    const services = objects.filter((object) => object.kind === 'Service')
    expect(services.map(asApiSpec)).toEqual(specs)
  })
})

test('case 43: headless and without ports stays headless', () => {
  const [service] = parseCase({ case: cases[1] ?? '', file: 'headless-no-ports.yaml', lines: [] }).objects
  expect(service).toMatchObject({ spec: { clusterIPs: ['None'], ports: [] } })
})

test('case 44: an error names the type found, the type wanted and the cure', () => {
  const parse = (file: string) => parseCase({ case: '44-wrong-scalar-types', file, lines: [] }).problems
  expect(parse('string-nodeport.yaml')).toEqual([
    {
      severity: 'error',
      file: 'string-nodeport.yaml',
      line: 13,
      kind: 'Service',
      name: 'ui',
      path: 'spec.ports[0].nodePort',
      message: 'must be an integer, found the string "30080"; remove the quotes',
    },
  ])
  expect(parse('selector-bool.yaml').map(({ line, path, message }) => `${line} ${path} ${message}`)).toEqual([
    '9 spec.selector.enabled must be a string, found the boolean true; put it in quotes: "true"',
    '10 spec.selector.version must be a string, found the number 1.10; put it in quotes: "1.10"',
  ])
})

test('case 47: foreign kinds are named and skipped, the rest is read', () => {
  const { objects, problems } = parseCase({ case: '47-helm-output', file: 'normal.yaml', lines: [] })
  expect(objects.map(({ metadata }) => metadata.name)).toEqual(['shop-web', 'json-doc'])
  expect(problems.map(({ severity, line, message }) => `${severity} ${line} ${message}`)).toEqual([
    'warning 3 v1 ServiceAccount is not something this lab runs; skipped',
    'warning 35 monitoring.example.test/v1 ServiceMonitor is not something this lab runs; skipped',
    'warning 44 networking.k8s.io/v1 Ingress is not something this lab runs; skipped',
  ])
})

test('case 47: what Helm leaves behind has messages of its own', () => {
  const first = (file: string) => parseCase({ case: '47-helm-output', file, lines: [] }).problems[0]
  expect(first('unrendered.yaml')).toMatchObject({
    line: 4,
    message: 'this is a template, not a manifest; run "helm template" first and use its output',
  })
  expect(first('glued-separator.yaml')).toMatchObject({
    line: 1,
    message: 'invalid Yaml document separator: apiVersion: v1; write "---" on a line of its own',
  })
  expect(first('lost-apiversion.yaml')).toMatchObject({
    path: 'apiVersion',
    message: 'Object \'apiVersion\' is missing; add "apiVersion: v1"',
  })
  expect(first('install-debug-head.yaml')?.message).toContain('use the output of "helm template" alone')
})

test('case 48: one namespace does not see the other, and both files parse', () => {
  const { objects, problems } = parseCase({
    case: '48-selector-and-port-names',
    file: 'other-namespace.yaml',
    lines: [],
  })
  expect(problems).toEqual([])
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`)).toEqual([
    'Service default/otherns',
    'Deployment shop/web',
  ])
})

test('every golden manifest parses without a problem', { timeout: 60_000 }, () => {
  const golden = new URL('golden/', root)
  const names = readdirSync(golden).filter((name) => /^\d/.test(name))
  expect(names.length).toBeGreaterThan(80)
  for (const name of names) {
    for (const file of readdirSync(new URL(`${name}/`, golden))) {
      if (!/^manifests.*\.yaml$/.test(file)) continue
      const text = readFileSync(new URL(`${name}/${file}`, golden), 'utf8')
      const { objects, sources, problems } = parseManifests(`${name}/${file}`, text)
      expect(problems).toEqual([])
      expect(objects).toHaveLength(text.split(/^---$/m).length)
      expect(sources).toHaveLength(objects.length)
    }
  }
})
