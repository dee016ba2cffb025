import { describe, expect, it } from 'vitest'
import {
  formatAddress,
  parseAddress,
  parseAddressRange,
  parseCidr,
} from '../../../src-main/domain/kubernetes/allocate-address.ts'
import { ClusterIps } from '../../../src-main/domain/kubernetes/allocate-cluster-ip.ts'
import { NodePorts } from '../../../src-main/domain/kubernetes/allocate-node-port.ts'
import { createCluster } from '../../../src-main/domain/kubernetes/cluster-objects.ts'
import { defaultClusterConfig } from '../../../src-main/domain/kubernetes/default-cluster.ts'
import { applied, apply, errorsOf, newCluster, service, serviceNamed, warningsOf } from './cluster-fixture.ts'

const web = (spec: string) => service('web', spec)
const other = (spec: string) => service('other', spec)

describe('addresses', () => {
  it.each(['10.96.0.1', '255.255.255.255', 'fd00:10:96::a', '::1', '2001:db8:0:1::'])(
    'reads and writes %s',
    (text) => {
      const address = parseAddress(text)
      expect(address && formatAddress(address)).toBe(text)
    },
  )

  it('reads leading zeros as decimal, as the API server does, and refuses what is no address', () => {
    expect(formatAddress(parseAddress('010.096.0.1') ?? { family: 'IPv6', value: 0n })).toBe('10.96.0.1')
    for (const text of ['', '10.96.0', '10.96.0.256', '10.96.0.1/24', 'fd00::%eth0', 'x', '1.2.3.4.5']) {
      expect(parseAddress(text)).toBeUndefined()
    }
  })

  it('masks host bits of a CIDR', () => {
    expect(parseCidr('10.96.3.4/12')).toEqual(parseCidr('10.96.0.0/12'))
    for (const text of ['10.96.0.0', '10.96.0.0/33', '10.96.0.0/', 'fd00::/129', '10.0.0.0/8/9']) {
      expect(parseCidr(text)).toBeUndefined()
    }
  })

  it('reads ranges', () => {
    expect(parseAddressRange('10.0.0.1-10.0.0.3')).toEqual({
      family: 'IPv4',
      first: 0x0a000001n,
      last: 0x0a000003n,
    })
    expect(parseAddressRange('10.0.0.3-10.0.0.1')).toBeUndefined()
    expect(parseAddressRange('10.0.0.3-fd00::1')).toBeUndefined()
  })
})

describe('cluster IPs', () => {
  it('keeps a given one and allocates the others in the upper part, always the same', () => {
    const yaml = `${web('{ports: [{port: 80}], clusterIP: 10.107.38.142}')}---${other('{ports: [{port: 80}]}')}`
    const cluster = applied(newCluster(), yaml)
    expect(serviceNamed(cluster, 'web').spec.clusterIPs).toEqual(['10.107.38.142'])
    const [ip = ''] = serviceNamed(cluster, 'other').spec.clusterIPs
    expect(parseAddress(ip)?.value).toBeGreaterThanOrEqual(parseAddress('10.96.1.0')?.value ?? 0n)
    expect(applied(newCluster(), yaml)).toEqual(cluster)
  })

  it.each(['10.0.0.1', '10.96.0.0', '10.111.255.255'])('refuses %s, which is not in the range', (ip) => {
    expect(errorsOf(apply(newCluster(), web(`{ports: [{port: 80}], clusterIP: ${ip}}`)))).toEqual([
      `test.yaml:2: Service "web": spec.clusterIPs: Invalid value: ["${ip}"]: failed to allocate IP ${ip}: the provided IP (${ip}) is not in the valid range. The range of valid IPs is 10.96.0.0/12`,
    ])
  })

  it('refuses one that another Service has', () => {
    const first = applied(newCluster(), web('{ports: [{port: 80}], clusterIP: 10.96.0.40}'))
    const result = apply(first, other('{ports: [{port: 80}], clusterIP: 10.96.0.40}'))
    expect(errorsOf(result)).toEqual([
      'test.yaml:2: Service "other": spec.clusterIPs: Invalid value: ["10.96.0.40"]: failed to allocate IP 10.96.0.40: provided IP is already allocated (Service web has it)',
    ])
    expect(result.cluster).toBe(first)
    expect(result.changes).toEqual([])
  })

  it('refuses the second of two in one file', () => {
    const both = `${web('{ports: [{port: 80}], clusterIP: 10.96.0.40}')}---${other('{ports: [{port: 80}], clusterIP: 10.96.0.40}')}`
    expect(errorsOf(apply(newCluster(), both))[0]).toMatch(
      /^test.yaml:7: Service "other": spec.clusterIPs: .*already allocated/,
    )
  })

  it('keeps the allocated one when the manifest is applied again', () => {
    const first = applied(newCluster(), web('{ports: [{port: 80}]}'))
    const second = applied(first, web('{ports: [{port: 81}]}'))
    expect(serviceNamed(second, 'web').spec.clusterIPs).toEqual(serviceNamed(first, 'web').spec.clusterIPs)
  })

  it.each(['10.96.0.41', 'None'])('may not change to %s', (ip) => {
    const first = applied(newCluster(), web('{ports: [{port: 80}], clusterIP: 10.96.0.40}'))
    expect(errorsOf(apply(first, web(`{ports: [{port: 80}], clusterIP: ${ip}}`)))).toEqual([
      `test.yaml:2: Service "web": spec.clusterIPs[0]: Invalid value: ["${ip}"]: may not change once set`,
    ])
  })

  it('has none for headless and ExternalName Services, and frees it', () => {
    const first = applied(newCluster(), web('{ports: [{port: 80}], clusterIP: 10.96.0.40}'))
    const second = applied(first, web('{type: ExternalName, externalName: db.example.test}'))
    expect(serviceNamed(second, 'web').spec.clusterIPs).toEqual([])
    const third = applied(second, other('{ports: [{port: 80}], clusterIP: 10.96.0.40}'))
    expect(serviceNamed(third, 'other').spec.clusterIPs).toEqual(['10.96.0.40'])
    const headless = applied(newCluster(), web('{ports: [{port: 80}], clusterIP: None, selector: {app: x}}'))
    expect(serviceNamed(headless, 'web').spec).toMatchObject({ clusterIPs: ['None'], ipFamilies: ['IPv4'] })
  })

  it('gives .1 and .10 only to those who ask', () => {
    const ips = new ClusterIps(['10.96.0.0/28'])
    const given = Array.from({ length: 12 }, (_, index) => ips.allocate('IPv4', `s${index}`, 'x'))
    expect(new Set(given).size).toBe(12)
    expect(given).not.toContain('10.96.0.1')
    expect(given).not.toContain('10.96.0.10')
    expect(ips.allocate('IPv4', 'one more', 'x')).toBeUndefined()
    const cluster = applied(newCluster(), web('{ports: [{port: 443}], clusterIP: 10.96.0.1}'))
    expect(serviceNamed(cluster, 'web').spec.clusterIPs).toEqual(['10.96.0.1'])
  })
})

describe('address families', () => {
  const dual = () =>
    createCluster({ ...defaultClusterConfig(), serviceCIDRs: ['10.96.0.0/12', 'fd00:10:96::/112'] })

  it('refuses IPv6 where the cluster has none', () => {
    expect(errorsOf(apply(newCluster(), web('{ports: [{port: 80}], ipFamilies: [IPv6]}')))).toEqual([
      'test.yaml:2: Service "web": spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
    ])
    expect(
      errorsOf(apply(newCluster(), web('{ports: [{port: 80}], ipFamilyPolicy: RequireDualStack}'))),
    ).toEqual([
      'test.yaml:2: Service "web": spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    ])
  })

  it('gives a dual-stack Service one address a family', () => {
    const cluster = applied(dual(), web('{ports: [{port: 80}], ipFamilyPolicy: PreferDualStack}'))
    const { clusterIPs, ipFamilies } = serviceNamed(cluster, 'web').spec
    expect(ipFamilies).toEqual(['IPv4', 'IPv6'])
    expect(clusterIPs.map((ip) => parseAddress(ip)?.family)).toEqual(['IPv4', 'IPv6'])
    const six = applied(dual(), web('{ports: [{port: 80}], ipFamilies: [IPv6]}'))
    expect(serviceNamed(six, 'web').spec.clusterIPs[0]).toMatch(/^fd00:10:96::/)
  })

  it('adds and drops the second family as the policy changes', () => {
    const single = applied(dual(), web('{ports: [{port: 80}]}'))
    const both = applied(single, web('{ports: [{port: 80}], ipFamilyPolicy: PreferDualStack}'))
    expect(serviceNamed(both, 'web').spec.clusterIPs[0]).toBe(serviceNamed(single, 'web').spec.clusterIPs[0])
    expect(serviceNamed(both, 'web').spec.clusterIPs).toHaveLength(2)
    expect(serviceNamed(applied(both, web('{ports: [{port: 80}]}')), 'web').spec.clusterIPs).toHaveLength(1)
  })
})

describe('node ports', () => {
  const nodePorts = (cluster: Parameters<typeof serviceNamed>[0], name = 'web') =>
    serviceNamed(cluster, name).spec.ports.map(({ nodePort }) => nodePort)

  it('refuses one that another Service has, and names it', () => {
    const first = applied(newCluster(), web('{type: NodePort, ports: [{port: 80, nodePort: 32054}]}'))
    expect(errorsOf(apply(first, other('{type: NodePort, ports: [{port: 81, nodePort: 32054}]}')))).toEqual([
      'test.yaml:2: Service "other": spec.ports[0].nodePort: Invalid value: 32054: provided port is already allocated (Service web has it)',
    ])
  })

  it('allows one number for TCP and UDP of one Service, and allocates so', () => {
    const ports = (extra: string) =>
      `[{name: t, port: 53${extra}}, {name: u, port: 53, protocol: UDP${extra}}]`
    const given = applied(newCluster(), web(`{type: NodePort, ports: ${ports(', nodePort: 30053')}}`))
    expect(nodePorts(given)).toEqual([30053, 30053])
    const [tcp, udp] = nodePorts(applied(newCluster(), web(`{type: NodePort, ports: ${ports('')}}`)))
    expect(tcp).toBe(udp)
    expect(tcp).toBeGreaterThanOrEqual(30086)
  })

  it('keeps allocated ones through changes and frees them when the type becomes ClusterIP', () => {
    const first = applied(newCluster(), web('{type: NodePort, ports: [{name: a, port: 80}]}'))
    const second = applied(first, web('{type: NodePort, ports: [{name: a, port: 81}, {name: b, port: 80}]}'))
    expect(nodePorts(second)).toHaveLength(2)
    expect(nodePorts(second)[1]).toBe(nodePorts(first)[0])
    const third = applied(second, web('{ports: [{name: a, port: 81}]}'))
    expect(nodePorts(third)).toEqual([0])
    const port = nodePorts(first)[0] ?? 0
    expect(
      nodePorts(applied(third, other(`{type: NodePort, ports: [{port: 80, nodePort: ${port}}]}`)), 'other'),
    ).toEqual([port])
  })

  it('gives a health check port to LoadBalancer with Local policy', () => {
    const spec = '{type: LoadBalancer, externalTrafficPolicy: Local, ports: [{port: 80}]}'
    const first = applied(newCluster(), web(spec))
    const { healthCheckNodePort, ports } = serviceNamed(first, 'web').spec
    expect(healthCheckNodePort).toBeGreaterThanOrEqual(30000)
    expect(healthCheckNodePort).not.toBe(ports[0]?.nodePort)
    expect(apply(first, web(spec)).changes[0]?.verb).toBe('unchanged')
    const cluster = applied(first, web('{type: LoadBalancer, ports: [{port: 80}]}'))
    expect(serviceNamed(cluster, 'web').spec.healthCheckNodePort).toBe(0)
  })

  it('leaves them away where a load balancer does without', () => {
    const cluster = applied(
      newCluster(),
      web('{type: LoadBalancer, allocateLoadBalancerNodePorts: false, ports: [{port: 80}]}'),
    )
    expect(nodePorts(cluster)).toEqual([0])
  })

  it('are all used before none is left', () => {
    const ports = new NodePorts({ first: 30000, last: 30099 })
    const given = Array.from({ length: 100 }, (_, index) => ports.allocate(`s${index}`, `owner${index}`))
    expect(new Set(given).size).toBe(100)
    expect(ports.allocate('more', 'x')).toBeUndefined()
  })
})

describe('load balancer addresses', () => {
  const pooled = () => newCluster({ loadBalancerPool: '172.18.255.200-172.18.255.201' })
  const ingress = (cluster: Parameters<typeof serviceNamed>[0], name = 'web') =>
    serviceNamed(cluster, name).status.loadBalancer.ingress
  const balanced = '{type: LoadBalancer, ports: [{port: 80}]}'

  it('come from the pool, or stay pending without one', () => {
    expect(ingress(applied(pooled(), web(balanced)))).toEqual([{ ip: '172.18.255.200', ipMode: 'VIP' }])
    expect(ingress(applied(newCluster(), web(balanced)))).toEqual([])
  })

  it('stay with their Service, and go when its type changes', () => {
    const first = applied(applied(pooled(), web(balanced)), other(balanced))
    expect(ingress(first, 'other')[0]?.ip).toBe('172.18.255.201')
    expect(apply(first, web(balanced)).changes[0]?.verb).toBe('unchanged')
    const freed = applied(first, web('{type: NodePort, ports: [{port: 80}]}'))
    expect(ingress(freed)).toEqual([])
    expect(ingress(applied(freed, service('third', balanced)), 'third')[0]?.ip).toBe('172.18.255.200')
  })

  it('are taken from the manifest where its status gives them', () => {
    const given = `${web(balanced)}status: {loadBalancer: {ingress: [{ip: 203.0.113.10}]}}\n`
    expect(ingress(applied(pooled(), given))).toEqual([{ ip: '203.0.113.10', ipMode: 'VIP' }])
  })

  it('honour loadBalancerIP, or warn', () => {
    const asked = (ip: string) => `{type: LoadBalancer, loadBalancerIP: ${ip}, ports: [{port: 80}]}`
    expect(ingress(applied(pooled(), web(asked('172.18.255.201'))))[0]?.ip).toBe('172.18.255.201')
    const outside = apply(pooled(), web(asked('192.0.2.1')))
    expect(warningsOf(outside)).toEqual([
      'test.yaml:2: Service "web": spec.loadBalancerIP: Invalid value: "192.0.2.1": is not in the pool 172.18.255.200-172.18.255.201; the Service gets another address',
    ])
    expect(ingress(outside.cluster)[0]?.ip).toBe('172.18.255.200')
  })

  it('run out with a warning', () => {
    const full = applied(pooled(), `${web(balanced)}---${other(balanced)}`)
    expect(warningsOf(apply(full, service('third', balanced)))[0]).toContain('no address is left')
  })
})
