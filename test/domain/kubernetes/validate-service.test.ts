import { describe, expect, test } from 'vitest'
import type { Service } from '../../../src-main/domain/kubernetes/objects.ts'
import { parseManifests } from '../../../src-main/domain/kubernetes/parse-manifests.ts'

type Mapping = Record<string, unknown>

const onePort = [{ port: 80 }]

/** A Service of the spec, with one port where it gives none. */
function parse(spec: Mapping, rest: Mapping = {}) {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { ports: onePort, ...spec },
    ...rest,
  }
  return parseManifests('f', JSON.stringify(service))
}

/** Each `path: message`, errors only. */
function errors(spec: Mapping, rest?: Mapping): string[] {
  const { problems } = parse(spec, rest)
  return problems
    .filter(({ severity }) => severity === 'error')
    .map(({ path, message }) => `${path}: ${message}`)
}

function specOf(spec: Mapping, rest?: Mapping): Service['spec'] {
  const { objects, problems } = parse(spec, rest)
  expect(problems).toEqual([])
  const [service] = objects
  if (service?.kind !== 'Service') throw new Error('no Service was parsed')
  return service.spec
}

describe('defaults', () => {
  test('of a bare Service', () => {
    expect(parse({}).objects).toEqual([
      {
        kind: 'Service',
        metadata: { name: 'web', namespace: 'default', labels: {}, annotations: {} },
        spec: {
          type: 'ClusterIP',
          selector: {},
          ports: [{ name: '', protocol: 'TCP', port: 80, targetPort: 80, nodePort: 0 }],
          clusterIPs: [],
          ipFamilies: ['IPv4'],
          ipFamilyPolicy: 'SingleStack',
          externalIPs: [],
          externalName: '',
          externalTrafficPolicy: 'Cluster',
          internalTrafficPolicy: 'Cluster',
          sessionAffinity: 'None',
          sessionAffinityTimeoutSeconds: 10800,
          loadBalancerIP: '',
          loadBalancerClass: '',
          loadBalancerSourceRanges: [],
          allocateLoadBalancerNodePorts: true,
          healthCheckNodePort: 0,
          publishNotReadyAddresses: false,
          trafficDistribution: '',
        },
        status: { loadBalancer: { ingress: [] } },
      },
    ])
  })

  test('targetPort is the port when missing, 0 or empty', () => {
    for (const targetPort of [undefined, null, 0, '']) {
      expect(specOf({ ports: [{ port: 81, targetPort }] }).ports[0]?.targetPort).toBe(81)
    }
    expect(specOf({ ports: [{ port: 81, targetPort: 'http' }] }).ports[0]?.targetPort).toBe('http')
  })

  test('families follow the cluster IPs', () => {
    expect(specOf({ clusterIP: 'fd00::10' })).toMatchObject({
      clusterIPs: ['fd00::10'],
      ipFamilies: ['IPv6'],
    })
    expect(specOf({ clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9'] }).clusterIPs).toEqual(['10.96.0.9'])
    const both = {
      clusterIP: '10.96.0.9',
      clusterIPs: ['10.96.0.9', 'fd00::9'],
      ipFamilyPolicy: 'PreferDualStack',
    }
    expect(specOf(both).ipFamilies).toEqual(['IPv4', 'IPv6'])
    expect(specOf({ ipFamilies: ['IPv6'] }).ipFamilies).toEqual(['IPv6'])
    expect(specOf({ ipFamilyPolicy: 'RequireDualStack' })).toMatchObject({
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'RequireDualStack',
    })
  })

  test('headless without selector asks for both families', () => {
    expect(specOf({ clusterIP: 'None' })).toMatchObject({
      clusterIPs: ['None'],
      ipFamilies: ['IPv4', 'IPv6'],
      ipFamilyPolicy: 'RequireDualStack',
    })
    expect(specOf({ clusterIP: 'None', selector: { app: 'a' } })).toMatchObject({
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    })
  })

  test('session affinity', () => {
    const config = { clientIP: { timeoutSeconds: 60 } }
    expect(specOf({ sessionAffinity: 'ClientIP' }).sessionAffinityTimeoutSeconds).toBe(10800)
    expect(
      specOf({ sessionAffinity: 'ClientIP', sessionAffinityConfig: config }).sessionAffinityTimeoutSeconds,
    ).toBe(60)
    expect(specOf({ sessionAffinityConfig: config }).sessionAffinity).toBe('None')
  })

  test('load balancer addresses are virtual IPs', () => {
    const ingress = [
      { ip: '203.0.113.1' },
      { ip: '203.0.113.2', ipMode: 'Proxy' },
      { hostname: 'lb.example.test' },
    ]
    const { objects, problems } = parse({ type: 'LoadBalancer' }, { status: { loadBalancer: { ingress } } })
    expect(problems).toEqual([])
    expect(objects).toMatchObject([
      {
        status: {
          loadBalancer: {
            ingress: [
              { ip: '203.0.113.1', ipMode: 'VIP' },
              { ip: '203.0.113.2', ipMode: 'Proxy' },
              { hostname: 'lb.example.test' },
            ],
          },
        },
      },
    ])
  })

  test('source ranges lose their blanks', () => {
    const spec = { type: 'LoadBalancer', loadBalancerSourceRanges: [' 10.0.0.0/8 ', 'fd00::/8'] }
    expect(specOf(spec).loadBalancerSourceRanges).toEqual(['10.0.0.0/8', 'fd00::/8'])
  })
})

describe('ports', () => {
  const inRange = 'must be between 1 and 65535, inclusive'
  const ports = (...list: Mapping[]) => ({ ports: list })
  const nodePorts = (...list: Mapping[]) => ({ type: 'NodePort', ports: list })

  test.each<[string, Mapping, string[]]>([
    ['none', { ports: [] }, ['spec.ports: Required value']],
    ['null', { ports: null }, ['spec.ports: Required value']],
    ['too low', ports({ port: 0 }), [`spec.ports[0].port: Invalid value: 0: ${inRange}`]],
    ['missing', ports({}), [`spec.ports[0].port: Invalid value: 0: ${inRange}`]],
    ['too high', ports({ port: 65536 }), [`spec.ports[0].port: Invalid value: 65536: ${inRange}`]],
    [
      'beyond 32 bits',
      ports({ port: 4294967376 }),
      ['spec.ports[0].port: must be between -2147483648 and 2147483647, found 4294967376'],
    ],
    [
      'a target out of range',
      ports({ port: 80, targetPort: 70000 }),
      [`spec.ports[0].targetPort: Invalid value: 70000: ${inRange}`],
    ],
    [
      'a target name that ends with a hyphen',
      ports({ port: 80, targetPort: 'web-' }),
      ['spec.ports[0].targetPort: Invalid value: "web-": must not begin or end with a hyphen'],
    ],
    [
      'a target number in quotes',
      ports({ port: 80, targetPort: '8080' }),
      [
        'spec.ports[0].targetPort: Invalid value: "8080": must contain at least one letter (a-z); remove the quotes to mean the number',
      ],
    ],
    [
      'a target of a wrong type',
      ports({ port: 80, targetPort: true }),
      ['spec.ports[0].targetPort: must be an integer or a string, found the boolean true'],
    ],
    [
      'equal names',
      ports({ name: 'a', port: 80 }, { name: 'a', port: 81 }),
      ['spec.ports[1].name: Duplicate value: "a"'],
    ],
    ['a missing name', ports({ name: 'a', port: 80 }, { port: 81 }), ['spec.ports[1].name: Required value']],
    [
      'a name with dots',
      ports({ name: 'a.b', port: 80 }),
      ['spec.ports[0].name: Invalid value: "a.b": must not contain dots'],
    ],
    [
      'an unknown protocol',
      ports({ port: 80, protocol: 'HTTP' }),
      ['spec.ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"'],
    ],
    [
      'a node port on a ClusterIP',
      ports({ port: 80, nodePort: 30080 }),
      ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    ],
    [
      'a node port outside the range',
      nodePorts({ port: 80, nodePort: 80 }),
      [
        'spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
      ],
    ],
    [
      'equal node ports',
      nodePorts({ name: 'a', port: 80, nodePort: 30080 }, { name: 'b', port: 81, nodePort: 30080 }),
      ['spec.ports[1].nodePort: Duplicate value: 30080'],
    ],
    [
      'equal node ports of two protocols',
      nodePorts(
        { name: 'a', port: 53, nodePort: 30053 },
        { name: 'b', port: 53, nodePort: 30053, protocol: 'UDP' },
      ),
      [],
    ],
    ['appProtocol', ports({ port: 80, appProtocol: 'kubernetes.io/h2c' }), []],
    ['no list', { ports: { port: 80 } }, ['spec.ports: must be a list, found a mapping']],
    ['no mapping', { ports: [80] }, ['spec.ports[0]: must be a mapping, found the number 80']],
    [
      'an unknown field',
      ports({ port: 80, nodport: 30080 }),
      ['spec.ports[0].nodport: unknown field "spec.ports[0].nodport"; did you mean "nodePort"?'],
    ],
  ])('%s', (_, spec, expected) => {
    expect(errors(spec)).toEqual(expected)
  })

  test('the other ports are checked beside one of a wrong type', () => {
    expect(
      errors({
        ports: [
          { name: 'a', port: '80' },
          { name: 'b', port: 0 },
        ],
      }),
    ).toEqual([
      'spec.ports[0].port: must be an integer, found the string "80"; remove the quotes',
      'spec.ports[1].port: Invalid value: 0: must be between 1 and 65535, inclusive',
    ])
  })
})

describe('cluster IPs and families', () => {
  const ipDetail = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'

  test.each<[string, Mapping, string[]]>([
    ['no IP', { clusterIP: '10.96.0' }, [`spec.clusterIPs[0]: Invalid value: "10.96.0": ${ipDetail}`]],
    [
      'two that differ',
      { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.2'] },
      ['spec.clusterIPs: Invalid value: ["10.96.0.2"]: first value must match `clusterIP`'],
    ],
    [
      'clusterIPs alone',
      { clusterIPs: ['10.96.0.2'] },
      [
        'spec.clusterIPs: Invalid value: ["10.96.0.2"]: must be empty when `clusterIP` is not specified; set clusterIP to the first of clusterIPs',
      ],
    ],
    [
      'two of one family',
      { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1', '10.96.0.2'], ipFamilyPolicy: 'RequireDualStack' },
      [
        'spec.clusterIPs: Invalid value: ["10.96.0.1","10.96.0.2"]: may specify no more than one IP for each IP family',
      ],
    ],
    [
      'two with the default policy',
      { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1', 'fd00::1'] },
      [
        "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified",
      ],
    ],
    [
      'a family that does not fit',
      { clusterIP: '10.96.0.1', ipFamilies: ['IPv6'] },
      [
        'spec.clusterIPs[0]: Invalid value: "10.96.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
      ],
    ],
    [
      'None among others',
      { clusterIP: 'None', clusterIPs: ['None', 'fd00::1'], ipFamilyPolicy: 'PreferDualStack' },
      ['spec.clusterIPs: Invalid value: ["None","fd00::1"]: \'None\' must be the first and only value'],
    ],
    [
      'None with node ports',
      { type: 'NodePort', clusterIP: 'None' },
      ['spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services'],
    ],
    [
      'unknown and equal families',
      { ipFamilies: ['IPv5', 'IPv5'], ipFamilyPolicy: 'DualStack' },
      [
        'spec.ipFamilies[0]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"',
        'spec.ipFamilies[1]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"',
        'spec.ipFamilies[1]: Duplicate value: "IPv5"',
        'spec.ipFamilyPolicy: Unsupported value: "DualStack": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
      ],
    ],
    ['leading zeros, as Go reads them', { clusterIP: '010.096.000.001' }, []],
  ])('%s', (_, spec, expected) => {
    expect(errors(spec)).toEqual(expected)
  })
})

describe('types and policies', () => {
  test.each<[string, Mapping, string[]]>([
    [
      'an unknown type',
      { type: 'Nodeport' },
      [
        'spec.type: Unsupported value: "Nodeport": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      ],
    ],
    [
      'an external policy without external access',
      { externalTrafficPolicy: 'Local' },
      [
        'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
      ],
    ],
    ['with external IPs', { externalTrafficPolicy: 'Local', externalIPs: ['198.51.100.1'] }, []],
    [
      'unknown policies',
      { type: 'NodePort', externalTrafficPolicy: 'local', internalTrafficPolicy: 'None' },
      [
        'spec.externalTrafficPolicy: Unsupported value: "local": supported values: "Cluster", "Local"',
        'spec.internalTrafficPolicy: Unsupported value: "None": supported values: "Cluster", "Local"',
      ],
    ],
    [
      'a health check port without need',
      { type: 'LoadBalancer', healthCheckNodePort: 30100 },
      [
        "spec.healthCheckNodePort: Invalid value: 30100: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ],
    ],
    ['with need', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30100 }, []],
    [
      'affinity',
      { sessionAffinity: 'ClientIp' },
      ['spec.sessionAffinity: Unsupported value: "ClientIp": supported values: "ClientIP", "None"'],
    ],
    [
      'an affinity time out of range',
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } } },
      [
        'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400',
      ],
    ],
    [
      'external IPs',
      {
        externalIPs: ['127.0.0.1', '0.0.0.0', '169.254.1.1', '224.0.0.1', 'x', '::1', 'fe80::1', '192.0.2.1'],
      },
      [
        'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
        'spec.externalIPs[1]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
        'spec.externalIPs[2]: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
        'spec.externalIPs[3]: Invalid value: "224.0.0.1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
        'spec.externalIPs[4]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        'spec.externalIPs[5]: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
        'spec.externalIPs[6]: Invalid value: "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      ],
    ],
    [
      'load balancer fields on another type',
      {
        loadBalancerSourceRanges: ['10.0.0.0/8'],
        allocateLoadBalancerNodePorts: false,
        loadBalancerClass: 'example.test/a',
      },
      [
        "spec.loadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
        "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'",
        "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
      ],
    ],
    [
      'source ranges',
      { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.0', '10.0.0.0/33', '10.1.2.3/8'] },
      [
        'spec.loadBalancerSourceRanges[0]: Invalid value: "10.0.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
        'spec.loadBalancerSourceRanges[1]: Invalid value: "10.0.0.0/33": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      ],
    ],
    [
      'an unknown distribution',
      { trafficDistribution: 'Near' },
      [
        'spec.trafficDistribution: Unsupported value: "Near": supported values: "PreferClose", "PreferSameNode", "PreferSameZone"',
      ],
    ],
    [
      'labels in the selector',
      { selector: { 'a b': 'c', app: 'x y' } },
      [
        "spec.selector: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        "spec.selector: Invalid value: \"x y\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      ],
    ],
  ])('%s', (_, spec, expected) => {
    expect(errors(spec)).toEqual(expected)
  })

  test('ExternalName needs a name and nothing of a cluster IP', () => {
    const type = 'ExternalName'
    expect(errors({ type, externalName: 'db.example.test.' })).toEqual([])
    expect(errors({ type, ports: [] })).toEqual(['spec.externalName: Required value'])
    expect(errors({ type, externalName: 'a_b' })[0]).toContain(
      'spec.externalName: Invalid value: "a_b": a lowercase',
    )
    expect(
      errors({
        type,
        externalName: 'a.b',
        clusterIP: '10.96.0.1',
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
      }),
    ).toEqual([
      'spec.clusterIPs: Forbidden: may not be set for ExternalName services',
      'spec.ipFamilies: Forbidden: may not be set for ExternalName services',
      'spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services',
    ])
    expect(specOf({ type, externalName: 'a.b' })).toMatchObject({
      clusterIPs: [],
      ipFamilies: [],
      ipFamilyPolicy: '',
    })
  })

  test('load balancer status', () => {
    const status = (...ingress: Mapping[]) => ({ status: { loadBalancer: { ingress } } })
    expect(errors({}, status({ ip: '203.0.113.1' }))).toEqual([
      "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'",
    ])
    expect(
      errors(
        { type: 'LoadBalancer' },
        status({ ip: 'x' }, { ipMode: 'VIP', hostname: '10.0.0.1' }, { ip: '10.0.0.1', ipMode: 'vip' }),
      ),
    ).toEqual([
      'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'status.loadBalancer.ingress[1].ipMode: Forbidden: may not be specified when `ip` is not set',
      'status.loadBalancer.ingress[1].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
      'status.loadBalancer.ingress[2].ipMode: Unsupported value: "vip": supported values: "Proxy", "VIP"',
    ])
  })

  test('all problems come at once', () => {
    const metadata = { name: 'Web', namespace: 'a.b', labels: { 'x/y/z': 'a' } }
    expect(
      errors(
        { type: 'NodePort', ports: [{ port: 0, nodePort: 1 }], externalIPs: ['x'], foo: 1 },
        { metadata },
      ),
    ).toHaveLength(7)
  })
})
