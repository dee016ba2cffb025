import { describe, expect, test } from 'vitest'
import { parseManifests } from '../../../src-main/domain/kubernetes/parse-manifests.ts'
import { resolvePlainScalar } from '../../../src-main/domain/kubernetes/yaml-scalar.ts'

function names(text: string): string[] {
  return parseManifests('f', text).objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
}

/** `line path: message` of each problem; warnings are marked. */
function problems(text: string): string[] {
  return parseManifests('f', text).problems.map(({ severity, line, path, message }) => {
    const place = path === '' ? `${line}` : `${line} ${path}`
    return `${severity === 'warning' ? 'warning ' : ''}${place}: ${message}`
  })
}

const service = (name: string) => `apiVersion: v1
kind: Service
metadata:
  name: ${name}
spec:
  ports:
  - port: 80
`

describe('scalars as kubectl reads them', () => {
  test.each([
    ['010', 8],
    ['0x50', 80],
    ['0b101', 5],
    ['0o17', 15],
    ['8_080', 8080],
    ['08080', 8080],
    ['8e1', 80],
    ['.5', 0.5],
    ['-0', 0],
    ['+12', 12],
    ['-010', -8],
    ['yes', true],
    ['On', true],
    ['y', true],
    ['OFF', false],
    ['N', false],
    ['null', null],
    ['~', null],
    ['', null],
    ['12:30', '12:30'],
    ['2024-01-01', '2024-01-01'],
    ['tRue', 'tRue'],
    ['1.2.3', '1.2.3'],
    ['0x', '0x'],
    ['-', '-'],
    ['10.96.0.1', '10.96.0.1'],
    ['.inf', Number.POSITIVE_INFINITY],
  ])('%s is %j', (source, value) => {
    expect(resolvePlainScalar(source)).toBe(value)
  })
})

describe('documents', () => {
  test('are split at lines that begin with ---, empty ones skipped', () => {
    const text = `# head\n---\n---\n# only a comment\n--- # Source: x\n${service('a')}---   \n${service('b')}...\n---\n`
    expect(names(text)).toEqual(['Service a', 'Service b'])
    expect(problems(text)).toEqual([])
  })

  test.each([
    ['CRLF', (text: string) => text.replaceAll('\n', '\r\n')],
    ['CR', (text: string) => text.replaceAll('\n', '\r')],
    ['a byte order mark', (text: string) => `\uFEFF${text}`],
    ['no last line end', (text: string) => text.trimEnd()],
  ])('may have %s', (_, change) => {
    const text = change(`${service('a')}---\n${service('b')}  externalIPs: x\n`)
    expect(names(text)).toEqual(['Service a'])
    expect(problems(text)).toEqual(['16 spec.externalIPs: must be a list, found the string "x"'])
  })

  test('know their lines behind comments and empty lines', () => {
    const { sources } = parseManifests('f', `\n# x\n---\n\n# y\n${service('a')}---\n${service('b')}`)
    expect(sources).toEqual([
      { file: 'f', line: 6 },
      { file: 'f', line: 14 },
    ])
  })

  test('a separator with a tail is an error, and what follows is still looked at', () => {
    expect(problems(`${service('a')}---${service('b')}  selecter: {}\n`)).toEqual([
      '8: invalid Yaml document separator: apiVersion: v1; write "---" on a line of its own',
      '15 spec.selecter: unknown field "spec.selecter"; did you mean "selector"?',
    ])
    expect(problems('----\n')).toEqual([
      '1: invalid Yaml document separator: -; write "---" on a line of its own',
    ])
  })

  test('text behind ... is not read, which is said', () => {
    expect(problems(`${service('a')}...\n${service('b')}`)).toEqual([
      'warning 9: what follows a line of "..." is not read; separate documents with "---"',
    ])
  })

  test('a tab in an indent has a message of its own', () => {
    expect(problems('apiVersion: v1\nkind: Service\nmetadata:\n\tname: a\n')).toEqual([
      '4: a tab is used to indent; YAML allows only spaces there',
    ])
  })

  test('broken YAML names its line and does not stop the other documents', () => {
    const text = `a: [1\n---\n${service('b')}`
    expect(names(text)).toEqual(['Service b'])
    expect(problems(text)[0]).toMatch(/^\d+: this is not valid YAML: /)
  })

  test.each([
    ['{{ .Values.x }}', 'a: {{ .Values.x }}\n', 1],
    ['{{- if }}', 'a: 1\n{{- if .Values.x }}\nb: 2\n{{- end }}\n', 2],
    ['{{ include "x" . }}', `a: 1\nb: {{ include "x" . }}\n`, 2],
    ['quoted', service('"{{ .Release.Name }}"'), 4],
  ])('a template is recognised: %s', (_, text, line) => {
    expect(problems(text)).toContain(
      `${line}: this is a template, not a manifest; run "helm template" first and use its output`,
    )
  })

  test('braces alone make no template', () => {
    const text = `# {{ .Values.x }}\n${service('a').replace('spec:', '  annotations: {note: "{{ x }}"}\nspec:')}`
    expect(problems(text)).toEqual([])
  })

  test('must be mappings', () => {
    expect(problems('- a\n---\nhello\n---\n5\n')).toEqual([
      '1: an object must be a mapping with apiVersion, kind and metadata, found a list',
      '3: an object must be a mapping with apiVersion, kind and metadata, found the string "hello"',
      '5: an object must be a mapping with apiVersion, kind and metadata, found the number 5',
    ])
  })
})

describe('anchors, merges and equal keys', () => {
  test('merge keys and aliases work', () => {
    const text = `apiVersion: v1
kind: Service
metadata: {name: a, labels: &labels {app: web, tier: front}}
spec:
  selector:
    <<: *labels
    tier: back
  ports:
  - &port {name: one, port: 80}
  - <<: [{name: two}, *port]
    port: 81
`
    expect(problems(text)).toEqual([])
    expect(parseManifests('f', text).objects).toMatchObject([
      {
        spec: {
          selector: { app: 'web', tier: 'back' },
          ports: [
            { name: 'one', port: 80 },
            { name: 'two', port: 81 },
          ],
        },
      },
    ])
  })

  test('a merge behind a key replaces it, as in kubectl, and that is said', () => {
    const text = `apiVersion: v1
kind: Namespace
metadata:
  name: a
  labels:
    app: one
    <<: {app: two}
`
    expect(parseManifests('f', text).objects).toMatchObject([{ metadata: { labels: { app: 'two' } } }])
    expect(problems(text)).toEqual([
      'warning 7: the merge key "<<" replaces "app", which stands before it; put "<<" first',
    ])
  })

  test('a problem of a merged value is shown where it is written', () => {
    const text = `x: &port
  port: "80"
apiVersion: v1
kind: Service
metadata: {name: a}
spec:
  ports:
  - <<: *port
`
    expect(problems(text)).toContain(
      '2 spec.ports[0].port: must be an integer, found the string "80"; remove the quotes',
    )
  })

  test('anchors end with their document', () => {
    expect(problems('a: &x 1\n---\nb: *x\n')[2]).toContain(
      'there is no anchor "&x" before this alias in the document (anchors end at "---")',
    )
  })

  test('a value that contains itself is refused', () => {
    expect(problems('a: &x [*x]\n')).toEqual(['1: the value of anchor "&x" contains itself'])
  })

  test('of two equal keys the last one wins, with a warning', () => {
    const text = `${service('a')}  selector: {app: a}\n  selector: {app: b}\n`
    expect(parseManifests('f', text).objects).toMatchObject([{ spec: { selector: { app: 'b' } } }])
    expect(problems(text)).toEqual([
      'warning 9: the key "selector" stands twice in this mapping; the last one wins',
    ])
  })

  test('keys that are no text become text', () => {
    const text = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: a, labels: {1: "x", on: "y"}}\n'
    expect(parseManifests('f', text).objects).toMatchObject([
      { metadata: { labels: { '1': 'x', true: 'y' } } },
    ])
  })

  test('block scalars and tags are read', () => {
    const text = `apiVersion: v1
kind: Namespace
metadata:
  name: a
  annotations:
    text: |
      one
      two
    number: !!str 5
`
    expect(parseManifests('f', text).objects).toMatchObject([
      { metadata: { annotations: { text: 'one\ntwo\n', number: '5' } } },
    ])
  })
})

describe('lists', () => {
  test('are expanded, also where kind comes last, and nested', () => {
    const item = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    const list = {
      apiVersion: 'v1',
      items: [item('a'), { apiVersion: 'v1', kind: 'List', items: [item('b')] }],
      kind: 'List',
    }
    expect(names(JSON.stringify(list))).toEqual(['Namespace a', 'Namespace b'])
    expect(problems('apiVersion: v1\nkind: List\n')).toEqual([])
  })

  test('a typed list tells its items their kind', () => {
    const text = `apiVersion: v1
kind: ServiceList
metadata: {resourceVersion: "1"}
items:
- metadata: {name: a}
  spec: {ports: [{port: 80}]}
- metadata: {name: B}
  spec: {ports: [{port: 80}]}
`
    expect(names(text)).toEqual(['Service a'])
    expect(problems(text)[0]).toMatch(/^7 metadata.name: Invalid value: "B": a DNS-1035 label/)
    expect(parseManifests('f', text).sources).toEqual([{ file: 'f', line: 5 }])
  })

  test('the items of unknown kinds are named one by one', () => {
    const text = 'apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: a}\n'
    expect(problems(text)).toEqual(['warning 4: v1 ConfigMap is not something this lab runs; skipped'])
  })

  test('an items field that is no list is an error', () => {
    expect(problems('apiVersion: v1\nkind: List\nitems: {a: b}\n')).toEqual([
      '3 items: must be a list of objects',
    ])
  })
})

describe('JSON', () => {
  const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

  test('one value, or several after each other', () => {
    expect(names(JSON.stringify(namespace('a')))).toEqual(['Namespace a'])
    expect(names(` ${JSON.stringify(namespace('a'))}\n${JSON.stringify(namespace('b'))}\n`)).toEqual([
      'Namespace a',
      'Namespace b',
    ])
  })

  test('documents in JSON between separators', () => {
    expect(names(`${JSON.stringify(namespace('a'))}\n---\n${JSON.stringify(namespace('b'))}\n`)).toEqual([
      'Namespace a',
      'Namespace b',
    ])
  })

  test('flow YAML that only looks like JSON', () => {
    expect(names('{apiVersion: v1, kind: Namespace, metadata: {name: a}}')).toEqual(['Namespace a'])
  })

  test('problems have the line of their field', () => {
    const text = JSON.stringify(
      {
        apiVersion: 'v1',
        kind: 'List',
        items: [
          namespace('a'),
          {
            apiVersion: 'v1',
            kind: 'Service',
            metadata: { name: 'b "}' },
            spec: { ports: [{ port: 80 }, { port: '81', name: 'x' }], type: 'NodePort' },
          },
        ],
      },
      null,
      2,
    )
    const lines = text.split('\n')
    const lineOf = (part: string) => lines.findIndex((line) => line.includes(part)) + 1
    const found = parseManifests('f', text).problems.map(({ line, path }) => [line, path])
    expect(found).toEqual([
      [lineOf('b \\"}'), 'metadata.name'],
      [lineOf('"port": 80') - 1, 'spec.ports[0].name'],
      [lineOf('"81"'), 'spec.ports[1].port'],
    ])
    expect(parseManifests('f', text).sources).toEqual([{ file: 'f', line: 5 }])
  })
})

describe('objects', () => {
  test('need kind and apiVersion', () => {
    expect(problems('metadata: {name: a}\n')).toEqual([
      "1 kind: Object 'Kind' is missing",
      "1 apiVersion: Object 'apiVersion' is missing",
    ])
    expect(problems('apiVersion: 1\nkind: [Service]\n')).toEqual([
      '1 apiVersion: must be a string, found the number 1',
      '2 kind: must be a string, found a list',
    ])
  })

  test('of unknown kinds or versions are skipped with a warning', () => {
    expect(
      problems(
        'apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Secret\n',
      ),
    ).toEqual([
      'warning 1: extensions/v1beta1 Deployment is not something this lab runs; skipped; Deployment is read with "apiVersion: apps/v1"',
      'warning 5: v1 Secret is not something this lab runs; skipped',
    ])
  })

  test('may stand once in a file', () => {
    const other = service('a').replace('name: a', 'name: a\n  namespace: other')
    expect(problems(`${service('a')}---\n${other}`)).toEqual([])
    expect(
      problems(`${service('a')}---\n${service('a').replace('name: a', 'name: a\n  namespace: default')}`),
    ).toEqual(['12 metadata.name: Duplicate value: "a": the same Service is already on line 1'])
  })

  test('are named with their namespace in problems', () => {
    const text = service('a').replace('name: a', 'name: a\n  namespace: shop').replace('port: 80', 'port: x')
    expect(parseManifests('f', text).problems).toMatchObject([{ kind: 'Service', name: 'shop/a', line: 8 }])
  })

  test('unknown fields are errors, with a suggestion', () => {
    expect(problems(service('a').replace('ports:', 'prots:'))).toEqual([
      '5 spec.ports: Required value',
      '6 spec.prots: unknown field "spec.prots"; did you mean "ports"?',
    ])
    expect(problems(service('a').replace('port:', 'Port:'))).toContain(
      '7 spec.ports[0].Port: unknown field "spec.ports[0].Port"; did you mean "port"?',
    )
  })

  test('a field named __proto__ is a field', () => {
    expect(problems(`${service('a')}  "__proto__": {type: NodePort}\n`)).toEqual([
      '8 spec.__proto__: unknown field "spec.__proto__"',
    ])
    const json = '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","labels":{"__proto__":"x"}}}'
    expect(problems(json)[0]).toContain('metadata.labels: Invalid value: "__proto__": name part must consist')
  })
})
