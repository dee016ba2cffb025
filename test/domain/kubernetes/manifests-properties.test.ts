import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseManifests } from '../../../src-main/domain/kubernetes/parse-manifests.ts'

const root = new URL('../../', import.meta.url)
const samples = [
  'golden/052-lb-all-features/manifests.yaml',
  'golden/091-topology-node-hints-fall-back-to-zone/manifests.yaml',
  'cases/42-list-and-same-port-two-protocols/list.yaml',
  'cases/47-helm-output/normal.yaml',
  'cases/48-selector-and-port-names/other-namespace.yaml',
].map((file) => readFileSync(new URL(file, root), 'utf8'))

function expectSound(text: string): void {
  const { objects, sources, problems } = parseManifests('f', text)
  const lineCount = text.split(/\r\n|\r|\n/).length
  expect(sources).toHaveLength(objects.length)
  for (const { line } of [...problems, ...sources]) {
    expect(line).toBeGreaterThanOrEqual(1)
    expect(line).toBeLessThanOrEqual(lineCount)
  }
  for (const { message } of problems) expect(message).not.toBe('')
}

const timeout = 60_000

test('any text is answered', { timeout }, () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), expectSound), { numRuns: 1000 })
  const yamlish = fc.array(
    fc.constantFrom(
      ...[
        'a',
        'kind',
        'items',
        'List',
        'v1',
        ': ',
        ':',
        '\n',
        '\n  ',
        '- ',
        '---\n',
        '{',
        '}',
        '[',
        ']',
        '"',
        "'",
        '|',
      ],
      ...[
        '&a ',
        '*a',
        '<<',
        '!!int ',
        '{{',
        '}}',
        '#',
        ' ',
        '\t',
        '\r',
        '\uFEFF',
        '?',
        ',',
        '...\n',
        '%',
        '0',
        'é',
        '\0',
      ],
    ),
    { maxLength: 30 },
  )
  fc.assert(
    fc.property(yamlish, (parts) => expectSound(parts.join(''))),
    { numRuns: 2000 },
  )
})

test('any JSON value is answered', { timeout }, () => {
  const object = fc.record({
    apiVersion: fc.constantFrom('v1', 'apps/v1', 'discovery.k8s.io/v1'),
    kind: fc.constantFrom(
      'Service',
      'Pod',
      'Deployment',
      'EndpointSlice',
      'Endpoints',
      'Node',
      'Namespace',
      'List',
    ),
    metadata: fc.oneof(fc.jsonValue(), fc.record({ name: fc.jsonValue(), labels: fc.jsonValue() })),
    spec: fc.oneof(
      fc.jsonValue(),
      fc.dictionary(
        fc.constantFrom(
          'ports',
          'selector',
          'template',
          'type',
          'clusterIPs',
          'replicas',
          'containers',
          'podCIDRs',
        ),
        fc.jsonValue(),
      ),
    ),
    ports: fc.jsonValue(),
    endpoints: fc.jsonValue(),
    subsets: fc.jsonValue(),
    items: fc.jsonValue(),
  })
  fc.assert(
    fc.property(object, (value) => expectSound(JSON.stringify(value))),
    { numRuns: 800 },
  )
})

test('every cut of a manifest is answered', { timeout }, () => {
  const cut = fc.tuple(fc.constantFrom(...samples), fc.double({ min: 0, max: 1, noNaN: true }))
  fc.assert(
    fc.property(cut, ([text, share]) => expectSound(text.slice(0, Math.floor(text.length * share)))),
    { numRuns: 200 },
  )
})

test('YAML and JSON of the same object give the same', () => {
  const value = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', labels: { app: 'web' } },
    spec: {
      type: 'NodePort',
      ports: [{ name: 'http', port: 80, nodePort: 30080 }],
      selector: { app: 'web' },
    },
  }
  const yaml = `apiVersion: v1
kind: Service
metadata:
  name: web
  labels:
    app: web
spec:
  type: NodePort
  ports:
  - name: http
    port: 80
    nodePort: 30080
  selector:
    app: web
`
  expect(parseManifests('f', yaml)).toEqual(parseManifests('f', JSON.stringify(value)))
})

test('thousands of brackets do not break the reader', { timeout }, () => {
  expectSound('['.repeat(20_000))
  expectSound(`a: ${'{a: '.repeat(20_000)}`)
  expectSound(`{"kind":"Service","apiVersion":"v1","metadata":${'['.repeat(20_000)}${']'.repeat(20_000)}}`)
  expectSound(`{"apiVersion":"v1","kind":${'['.repeat(20_000)}${']'.repeat(20_000)}}`)
  expectSound('- '.repeat(20_000))
})

test('an alias for each of many lists does not multiply', () => {
  const levels = Array.from({ length: 30 }, (_, level) => {
    const items =
      level === 0
        ? 'x'
        : Array(9)
            .fill(`*a${level - 1}`)
            .join(', ')
    return `a${level}: &a${level} [${items}]`
  })
  expectSound(`${levels.join('\n')}\napiVersion: v1\nkind: List\nitems: *a29\n`)
})

const objectCount = 10_000

function buildLargeManifest(): { yaml: string; json: string } {
  const documents: string[] = []
  const items: unknown[] = []
  for (let index = 0; index < objectCount; index++) {
    const name = `svc-${index}`
    documents.push(`apiVersion: v1
kind: Service
metadata:
  name: ${name}
spec:
  clusterIP: 10.${96 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}
  selector:
    app: ${name}
  ports:
  - name: http
    port: 80
    targetPort: 8080
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: ${name}-abc12
  labels:
    kubernetes.io/service-name: ${name}
addressType: IPv4
endpoints:
- addresses:
  - 10.244.1.7
  conditions:
    ready: true
  nodeName: worker1
- addresses:
  - 10.244.2.7
  conditions:
    ready: true
  nodeName: worker2
ports:
- name: http
  port: 8080
  protocol: TCP
`)
    const ports = [{ name: 'http', port: 80, targetPort: 8080 }]
    items.push({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { ports, selector: { app: name } },
    })
  }
  return {
    yaml: documents.join('---\n'),
    json: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 1),
  }
}

test('ten thousand Services and EndpointSlices are read', { timeout }, () => {
  const { yaml, json } = buildLargeManifest()
  expect(parseManifests('f', yaml).objects).toHaveLength(2 * objectCount)
  expect(parseManifests('f', json).objects).toHaveLength(objectCount)
})
