import { describe, expect, test } from 'vitest'
import { parseManifests } from '../../../src-main/domain/kubernetes/parse-manifests.ts'

type Mapping = Record<string, unknown>

function parse(apiVersion: string, kind: string, fields: Mapping, metadata: Mapping = {}) {
  return parseManifests(
    'f',
    JSON.stringify({ apiVersion, kind, metadata: { name: 'web', ...metadata }, ...fields }),
  )
}

function problems(parsed: ReturnType<typeof parse>): string[] {
  return parsed.problems.map(({ severity, path, message }) => {
    return `${severity === 'warning' ? 'warning ' : ''}${path}: ${message}`
  })
}

const labels = { 'kubernetes.io/service-name': 'web' }
const parseSlice = (fields: Mapping) => {
  return parse('discovery.k8s.io/v1', 'EndpointSlice', { addressType: 'IPv4', ...fields }, { labels })
}
const slice = (fields: Mapping) => problems(parseSlice(fields))
const endpoint = (fields: Mapping) => slice({ endpoints: [{ addresses: ['10.244.1.7'], ...fields }] })

describe('EndpointSlice', () => {
  test('defaults', () => {
    const { objects, problems: found } = parseSlice({
      endpoints: [
        {
          addresses: ['10.244.1.7'],
          conditions: { ready: null, serving: true },
          hints: { forZones: [{ name: 'a' }] },
        },
      ],
      ports: [{}, { name: 'http', port: 8080, appProtocol: 'http' }],
    })
    expect(found).toEqual([])
    expect(objects).toEqual([
      {
        kind: 'EndpointSlice',
        metadata: { name: 'web', namespace: 'default', labels, annotations: {} },
        addressType: 'IPv4',
        endpoints: [
          { addresses: ['10.244.1.7'], conditions: { serving: true }, hints: { forZones: [{ name: 'a' }] } },
        ],
        ports: [
          { name: '', protocol: 'TCP' },
          { name: 'http', protocol: 'TCP', port: 8080 },
        ],
      },
    ])
  })

  test('address types and addresses', () => {
    expect(slice({ addressType: undefined })).toEqual(['addressType: Required value'])
    expect(slice({ addressType: 'ipv4' })).toEqual([
      'addressType: Unsupported value: "ipv4": supported values: "FQDN", "IPv4", "IPv6"',
    ])
    expect(endpoint({ addresses: [] })).toEqual([
      'endpoints[0].addresses: Required value: must contain at least 1 address',
    ])
    expect(endpoint({ addresses: ['fd00::1', '127.0.0.1', 'x'] })).toEqual([
      'endpoints[0].addresses[0]: Invalid value: "fd00::1": must be a valid IPv4 address',
      'endpoints[0].addresses[1]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      'endpoints[0].addresses[2]: Invalid value: "x": must be a valid IPv4 address',
    ])
    expect(slice({ addressType: 'IPv6', endpoints: [{ addresses: ['10.0.0.1'] }] })).toEqual([
      'endpoints[0].addresses[0]: Invalid value: "10.0.0.1": must be a valid IPv6 address',
    ])
    expect(slice({ addressType: 'FQDN', endpoints: [{ addresses: ['a.example.test.', 'a'] }] })).toEqual([
      'endpoints[0].addresses[1]: Invalid value: "a": should be a domain with at least two segments separated by dots',
    ])
  })

  test('counts', () => {
    const address = '10.244.1.7'
    expect(slice({ endpoints: Array(1001).fill({ addresses: [address] }) })).toEqual([
      'endpoints: Too many: 1001: must have at most 1000 items',
    ])
    expect(endpoint({ addresses: Array(101).fill(address) })).toEqual([
      'endpoints[0].addresses: Too many: 101: must have at most 100 items',
    ])
    const forZones = Array.from({ length: 9 }, (_, index) => ({ name: `z${index}` }))
    expect(endpoint({ hints: { forZones } })).toEqual([
      'endpoints[0].hints.forZones: Too many: 9: must have at most 8 items',
    ])
    const ports = Array.from({ length: 20_001 }, (_, index) => ({ name: `p${index}`, port: 1 }))
    expect(slice({ ports })).toEqual(['ports: Too many: 20001: must have at most 20000 items'])
  })

  test('ports', () => {
    expect(
      slice({
        ports: [
          { name: 'a', port: 1 },
          { name: 'a', port: 2 },
          { name: 'A' },
          { protocol: 'tcp', name: 'b' },
        ],
      }),
    ).toEqual([
      'ports[1].name: Duplicate value: "a"',
      expect.stringContaining('ports[2].name: Invalid value: "A": a lowercase RFC 1123 label'),
      'ports[3].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"',
    ])
    expect(slice({ ports: [{ port: 65536 }] })).toEqual([
      'ports[0].port: Invalid value: 65536: must be between 1 and 65535, inclusive',
    ])
  })

  test('the rest of an endpoint', () => {
    expect(endpoint({ hostname: 'a.b', nodeName: 'N', zone: 'a' })).toEqual([
      'endpoints[0].hostname: Invalid value: "a.b": must not contain dots',
      expect.stringContaining('endpoints[0].nodeName: Invalid value: "N": a lowercase RFC 1123 subdomain'),
    ])
    expect(endpoint({ hints: { forNodes: [{ name: 'a' }, { name: 'a' }] } })).toEqual([
      'endpoints[0].hints.forNodes[1].name: Duplicate value: "a"',
    ])
    expect(endpoint({ conditions: { ready: 'yes', Serving: true } })).toEqual([
      'endpoints[0].conditions.Serving: unknown field "endpoints[0].conditions.Serving"; did you mean "serving"?',
      'endpoints[0].conditions.ready: must be true or false, found the string "yes"',
    ])
    expect(endpoint({ targetRef: { kind: 'Pod', name: 'web-1', namespace: 'default', uid: 'x' } })).toEqual(
      [],
    )
  })

  test('without its Service there is a warning', () => {
    const parsed = parse('discovery.k8s.io/v1', 'EndpointSlice', { addressType: 'IPv4' })
    expect(problems(parsed)).toEqual([
      'warning metadata.labels: without the label kubernetes.io/service-name no Service has these endpoints',
    ])
    expect(parsed.objects).toHaveLength(1)
  })
})

describe('Endpoints', () => {
  const endpoints = (...subsets: Mapping[]) => parse('v1', 'Endpoints', { subsets })

  test('are read', () => {
    const parsed = endpoints({
      addresses: [{ ip: '10.244.1.7', nodeName: 'worker1', targetRef: { kind: 'Pod', name: 'web' } }],
      ports: [{ port: 8080 }],
    })
    expect(parsed).toMatchObject({
      problems: [],
      objects: [
        {
          kind: 'Endpoints',
          subsets: [
            {
              addresses: [{ ip: '10.244.1.7', nodeName: 'worker1', targetRef: { kind: 'Pod', name: 'web' } }],
              notReadyAddresses: [],
              ports: [{ name: '', protocol: 'TCP', port: 8080 }],
            },
          ],
        },
      ],
    })
  })

  test('are checked', () => {
    expect(problems(endpoints({ ports: [{ port: 80 }] }))).toEqual([
      'subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`',
    ])
    expect(
      problems(
        endpoints({
          addresses: [{ ip: '' }, { ip: '169.254.0.1' }, { IP: '10.0.0.1' }],
          ports: [{ port: 0, name: 'a' }, { port: 80 }],
        }),
      ),
    ).toEqual([
      'subsets[0].addresses[0].ip: Invalid value: "": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'subsets[0].addresses[1].ip: Invalid value: "169.254.0.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      'subsets[0].addresses[2].IP: unknown field "subsets[0].addresses[2].IP"; did you mean "ip"?',
      'subsets[0].addresses[2].ip: Invalid value: "": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'subsets[0].ports[1].name: Required value',
    ])
  })
})

describe('Node and Namespace', () => {
  const node = (spec: Mapping, rest: Mapping = {}, metadata?: Mapping) =>
    parse('v1', 'Node', { spec, ...rest }, metadata)
  const cidrDetail = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'

  test('podCIDR and podCIDRs are one', () => {
    const cidrs = (spec: Mapping) =>
      node(spec).objects.map((object) => object.kind === 'Node' && object.spec.podCIDRs)
    expect(cidrs({})).toEqual([[]])
    expect(cidrs({ podCIDR: '10.244.1.0/24' })).toEqual([['10.244.1.0/24']])
    expect(cidrs({ podCIDRs: ['10.244.1.0/24', 'fd00::/64'] })).toEqual([['10.244.1.0/24', 'fd00::/64']])
    expect(cidrs({ podCIDR: '10.244.1.0/24', podCIDRs: ['10.244.2.0/24'] })).toEqual([['10.244.1.0/24']])
  })

  test('are checked', () => {
    expect(problems(node({ podCIDR: '10.244.1.0' }))).toEqual([
      `spec.podCIDR: Invalid value: "10.244.1.0": ${cidrDetail}`,
    ])
    expect(problems(node({ podCIDRs: ['10.244.1.0/24', '10.244.2.0/24'] }))).toEqual([
      'spec.podCIDRs: Invalid value: ["10.244.1.0/24","10.244.2.0/24"]: may specify no more than one CIDR for each IP family',
    ])
    const addresses = [
      { type: 'InternalIP', address: 'x' },
      { type: 'Hostname', address: 'a' },
    ]
    expect(problems(node({}, { status: { addresses, nodeInfo: {} } }))).toEqual([
      'status.addresses[0].address: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ])
    expect(problems(node({}, {}, { namespace: 'default' }))).toEqual([
      'metadata.namespace: Forbidden: not allowed on this type',
    ])
  })

  test('a Namespace has its name as a label', () => {
    expect(parse('v1', 'Namespace', { spec: { finalizers: ['kubernetes'] } })).toMatchObject({
      problems: [],
      objects: [
        { metadata: { name: 'web', namespace: '', labels: { 'kubernetes.io/metadata.name': 'web' } } },
      ],
    })
    expect(problems(parse('v1', 'Namespace', {}, { name: 'a.b' }))).toEqual([
      'metadata.name: Invalid value: "a.b": must not contain dots',
    ])
  })
})
