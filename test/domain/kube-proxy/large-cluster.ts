import type { NodeConfig } from '../../../src-main/domain/kube-proxy/node-config.ts'
import type { EndpointSlice, Service } from '../../../src-main/domain/kubernetes/objects.ts'

/** One node's flags as a plain cluster has them. */
export const plainConfig: NodeConfig = {
  nodeName: 'node-a',
  nodeIPs: ['192.168.0.2'],
  ipFamilies: ['IPv4'],
  interfaces: [
    { name: 'lo', addrs: ['127.0.0.1/8', '::1/128'] },
    { name: 'eth0', addrs: ['192.168.0.2/24'] },
  ],
  detectLocal: { mode: 'ClusterCIDR', clusterCIDRs: ['10.244.0.0/16'] },
  masqueradeAll: false,
  masqueradeBit: 14,
  nodePortAddresses: [],
  localhostNodePorts: true,
  randomFully: true,
  nfacct: false,
  conntrackTCPBeLiberal: false,
  serviceCIDRs: ['10.96.0.0/12'],
}

/** A Service with one named TCP port, everything else at its default. */
export function buildService(name: string, clusterIP: string, spec: Partial<Service['spec']> = {}): Service {
  return {
    kind: 'Service',
    metadata: { name, namespace: 'default', labels: {}, annotations: {} },
    spec: {
      type: 'ClusterIP',
      selector: { app: name },
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 0 }],
      clusterIPs: [clusterIP],
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
      ...spec,
    },
    status: { loadBalancer: { ingress: [] } },
  }
}

/** Ready endpoints on port 8080, all on node-b. */
export function buildSlice(service: string, addresses: readonly string[]): EndpointSlice {
  return {
    kind: 'EndpointSlice',
    metadata: {
      name: `${service}-abcde`,
      namespace: 'default',
      labels: { 'kubernetes.io/service-name': service },
      annotations: {},
    },
    addressType: 'IPv4',
    endpoints: addresses.map((address) => ({
      addresses: [address],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: 'node-b',
    })),
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
  }
}

export interface LargeCluster {
  readonly services: readonly Service[]
  readonly endpointSlices: readonly EndpointSlice[]
}

/** `count` Services with `size` endpoints each; addresses are all different up to 65,536 × 256 endpoints. */
export function buildLargeCluster(count: number, size: number): LargeCluster {
  const services: Service[] = []
  const endpointSlices: EndpointSlice[] = []
  for (let i = 0; i < count; i++) {
    const name = `svc-${String(i).padStart(5, '0')}`
    services.push(buildService(name, `10.${96 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`))
    endpointSlices.push(
      buildSlice(
        name,
        Array.from({ length: size }, (_, j) => {
          const n = i * size + j
          return `10.${128 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`
        }),
      ),
    )
  }
  return { services, endpointSlices }
}
