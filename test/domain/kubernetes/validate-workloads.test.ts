import { describe, expect, test } from 'vitest'
import { parseManifests } from '../../../src-main/domain/kubernetes/parse-manifests.ts'

type Mapping = Record<string, unknown>

const container = { name: 'web', image: 'example.test/web:1' }
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } }
const deploymentSpec = { selector: { matchLabels: { app: 'web' } }, template }

function parse(kind: string, spec: Mapping, metadata: Mapping = {}) {
  const apiVersion = kind === 'Pod' ? 'v1' : 'apps/v1'
  return parseManifests(
    'f',
    JSON.stringify({ apiVersion, kind, metadata: { name: 'web', ...metadata }, spec }),
  )
}

function problems(kind: string, spec: Mapping, metadata?: Mapping): string[] {
  return parse(kind, spec, metadata).problems.map(({ severity, path, message }) => {
    return `${severity === 'warning' ? 'warning ' : ''}${path}: ${message}`
  })
}

const pod = (...containers: Mapping[]) => problems('Pod', { containers })
const ports = (...list: Mapping[]) => pod({ ...container, ports: list })
const deployment = (change: Mapping) => problems('Deployment', { ...deploymentSpec, ...change })

test('a Deployment with its defaults', () => {
  expect(parse('Deployment', deploymentSpec)).toMatchObject({
    problems: [],
    objects: [
      {
        kind: 'Deployment',
        metadata: { name: 'web', namespace: 'default' },
        spec: {
          replicas: 1,
          selector: { matchLabels: { app: 'web' }, matchExpressions: [] },
          template: {
            metadata: { labels: { app: 'web' }, annotations: {} },
            spec: { containers: [{ ...container, ports: [] }], nodeName: '', hostNetwork: false },
          },
        },
      },
    ],
  })
})

test('fields of the real API that the lab does not keep are accepted', () => {
  const probe = { httpGet: { path: '/', port: 'http' }, initialDelaySeconds: 3 }
  const full = {
    ...container,
    ports: [{ name: 'http', containerPort: 80, hostIP: '0.0.0.0' }],
    env: [{ name: 'A', value: 'b' }],
    resources: { limits: { cpu: '1', memory: '1Gi' } },
    livenessProbe: probe,
    readinessProbe: probe,
    securityContext: { runAsUser: 1 },
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
    imagePullPolicy: 'Always',
  }
  const spec = {
    ...deploymentSpec,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } },
    revisionHistoryLimit: 3,
    progressDeadlineSeconds: 600,
    minReadySeconds: 1,
    template: {
      metadata: { creationTimestamp: null, labels: { app: 'web' } },
      spec: {
        containers: [full],
        initContainers: [container],
        volumes: [{ name: 'data', emptyDir: {} }],
        affinity: {},
        tolerations: [{ operator: 'Exists' }],
        restartPolicy: 'Always',
        terminationGracePeriodSeconds: 5,
      },
    },
  }
  expect(problems('Deployment', spec, { managedFields: [], uid: 'x', generation: 2 })).toEqual([])
})

describe('Deployment and ReplicaSet', () => {
  test.each<[string, Mapping, string[]]>([
    ['replicas', { replicas: -1 }, ['spec.replicas: Invalid value: -1: must be greater than or equal to 0']],
    [
      'replicas in quotes',
      { replicas: '3' },
      ['spec.replicas: must be an integer, found the string "3"; remove the quotes'],
    ],
    ['no selector', { selector: null }, ['spec.selector: Required value']],
    [
      'an empty selector',
      { selector: {} },
      ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
    ],
    [
      'a selector that does not match',
      { selector: { matchLabels: { app: 'other' } } },
      [
        'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
      ],
    ],
    [
      'a selector like a Service has',
      { selector: { app: 'web' } },
      [
        'spec.selector.app: unknown field "spec.selector.app"',
        'spec.selector: Invalid value: {}: empty selector is invalid for deployment',
      ],
    ],
    [
      'expressions',
      {
        selector: {
          matchExpressions: [
            { key: 'app', operator: 'In' },
            { key: 'app', operator: 'Exists', values: ['a'] },
            { key: 'app', operator: 'Is' },
          ],
        },
      },
      [
        "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
        "spec.selector.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        'spec.selector.matchExpressions[2].operator: Invalid value: "Is": not a valid selector operator',
      ],
    ],
    [
      'a restart policy',
      { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } },
      ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
    ],
    [
      'a mistyped field',
      { replica: 2 },
      ['spec.replica: unknown field "spec.replica"; did you mean "replicas"?'],
    ],
  ])('%s', (_, change, expected) => {
    expect(
      deployment(change).filter(
        (line) => !line.includes('matchExpressions') || !line.includes('does not match'),
      ),
    ).toEqual(expect.arrayContaining(expected))
    expect(problems('ReplicaSet', { ...deploymentSpec, ...change })).toEqual(expect.arrayContaining(expected))
  })

  test('a selector of the wrong type says nothing about the template', () => {
    expect(deployment({ selector: { matchLabels: { app: 1 } } })).toEqual([
      'spec.selector.matchLabels.app: must be a string, found the number 1; put it in quotes: "1"',
    ])
  })

  test('without a spec', () => {
    expect(problems('Deployment', {})).toEqual([
      'spec.template.spec.containers: Required value',
      'spec.selector: Required value',
    ])
  })
})

describe('containers', () => {
  test('need a name, an image and to be there', () => {
    expect(pod()).toEqual(['spec.containers: Required value'])
    expect(pod({})).toEqual([
      'spec.containers[0].name: Required value',
      'spec.containers[0].image: Required value',
    ])
    expect(pod(container, container)).toEqual(['spec.containers[1].name: Duplicate value: "web"'])
    expect(pod({ ...container, name: 'a_b' })[0]).toContain(
      'spec.containers[0].name: Invalid value: "a_b": a lowercase RFC 1123 label',
    )
    expect(pod({ ...container, image: ' x' })).toEqual([
      'spec.containers[0].image: Invalid value: " x": must not have leading or trailing whitespace',
    ])
    expect(pod({ ...container, port: [] })).toEqual([
      'spec.containers[0].port: unknown field "spec.containers[0].port"; did you mean "ports"?',
    ])
  })

  test('ports', () => {
    expect(ports({ containerPort: 80 }, { containerPort: 80, protocol: 'UDP' })).toEqual([])
    expect(ports({})).toEqual(['spec.containers[0].ports[0].containerPort: Required value'])
    expect(ports({ containerPort: 65536 })).toEqual([
      'spec.containers[0].ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive',
    ])
    expect(ports({ containerPort: 80, name: 'a' }, { containerPort: 81, name: 'a' })).toEqual([
      'spec.containers[0].ports[1].name: Duplicate value: "a"',
    ])
    expect(ports({ containerPort: 80, name: 'Http--' })).toEqual([
      'spec.containers[0].ports[0].name: Invalid value: "Http--": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'spec.containers[0].ports[0].name: Invalid value: "Http--": must not contain consecutive hyphens',
      'spec.containers[0].ports[0].name: Invalid value: "Http--": must not begin or end with a hyphen',
    ])
    expect(ports({ containerPort: '80' })).toEqual([
      'spec.containers[0].ports[0].containerPort: must be an integer, found the string "80"; remove the quotes',
    ])
    expect(
      ports({ containerPort: 80, hostPort: 0 }, { port: 81, containerPort: 81, protocol: 'tcp' }),
    ).toEqual([
      'spec.containers[0].ports[1].port: unknown field "spec.containers[0].ports[1].port"',
      'spec.containers[0].ports[1].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"',
    ])
  })

  test('that share a port are warned of', () => {
    const one = { ...container, ports: [{ containerPort: 80 }] }
    expect(pod(one, { ...one, name: 'side' })).toEqual([
      'warning spec.containers[1].ports[0]: TCP port 80 is already declared by the container "web"; only one server can listen on it',
    ])
  })
})

describe('chainwalk.dev annotations', () => {
  const ips = 'chainwalk.dev/pod-ips'
  const path = 'metadata.annotations[chainwalk.dev/pod-ips]'
  const annotated = (annotations: Mapping) => problems('Pod', { containers: [container] }, { annotations })

  test('pod-ips is a comma list of addresses', () => {
    expect(annotated({ [ips]: '10.244.1.7, 10.244.2.7,fd00::7' })).toEqual([])
    expect(annotated({ [ips]: '10.244.1.7,x' })).toEqual([
      `${path}: Invalid value: "10.244.1.7,x": "x" is not an IP address; give a comma list such as 10.244.1.7,10.244.2.7`,
    ])
    expect(annotated({ [ips]: '' })).toHaveLength(1)
    expect(annotated({ [ips]: '10.244.1.7,10.244.1.7' })).toEqual([
      `${path}: Invalid value: "10.244.1.7,10.244.1.7": 10.244.1.7 stands twice in the list`,
    ])
    expect(annotated({ [ips]: '127.0.0.1' })[0]).toContain('may not be in the loopback range')
  })

  test('pod-ips belongs on a pod or a pod template', () => {
    const onTemplate = {
      ...template,
      metadata: { ...template.metadata, annotations: { [ips]: '10.244.1.7' } },
    }
    expect(deployment({ template: onTemplate })).toEqual([])
    expect(problems('Deployment', deploymentSpec, { annotations: { [ips]: '10.244.1.7' } })).toEqual([
      `warning ${path}: "${ips}" has an effect only on a Pod or in a pod template (spec.template.metadata.annotations)`,
    ])
  })

  test('other keys of the lab are warned of', () => {
    expect(annotated({ 'chainwalk.dev/pod-ip': '10.244.1.7', 'example.test/x': 'y' })).toEqual([
      `warning metadata.annotations[chainwalk.dev/pod-ip]: unknown annotation "chainwalk.dev/pod-ip"; did you mean ${ips}?`,
    ])
  })
})

describe('metadata', () => {
  const named = (metadata: Mapping) => problems('Pod', { containers: [container] }, metadata)

  test.each<[string, Mapping, string]>([
    ['no name', { name: undefined }, 'metadata.name: Required value: name is required'],
    [
      'generateName',
      { name: null, generateName: 'a-' },
      'metadata.name: Required value: generateName cannot be used with apply; give a name',
    ],
    ['a number', { name: 5 }, 'metadata.name: must be a string, found the number 5; put it in quotes: "5"'],
    ['upper case', { name: 'Web' }, 'metadata.name: Invalid value: "Web": a lowercase RFC 1123 subdomain'],
    ['a long name', { name: 'a'.repeat(254) }, 'must be no more than 253 characters'],
    [
      'a bad namespace',
      { namespace: 'a_b' },
      'metadata.namespace: Invalid value: "a_b": a lowercase RFC 1123 label',
    ],
    [
      'a label key',
      { labels: { '/a': 'b' } },
      'metadata.labels: Invalid value: "/a": prefix part must be non-empty',
    ],
    [
      'a long label key',
      { labels: { ['a'.repeat(64)]: 'b' } },
      'name part must be no more than 63 characters',
    ],
    ['a label value', { labels: { a: 'b'.repeat(64) } }, 'must be no more than 63 characters'],
    [
      'an annotation key',
      { annotations: { 'a b': 'c' } },
      'metadata.annotations: Invalid value: "a b": name part must consist',
    ],
    [
      'large annotations',
      { annotations: { a: 'b'.repeat(262_144) } },
      'metadata.annotations: Too long: must have at most 262144 bytes',
    ],
    [
      'an unknown field',
      { label: {} },
      'metadata.label: unknown field "metadata.label"; did you mean "labels"?',
    ],
  ])('%s', (_, metadata, expected) => {
    const found = named(metadata)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(expected)
  })
})
