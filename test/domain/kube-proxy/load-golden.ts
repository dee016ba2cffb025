import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'
import type { NodeConfig } from '../../../src-main/domain/kube-proxy/node-config.ts'
import type {
  Endpoint,
  EndpointSlice,
  NodeObject,
  ObjectMeta,
  Service,
} from '../../../src-main/domain/kubernetes/objects.ts'

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
    steps: steps.map((file) => loadObjects(read(file))),
    expected(family, kind, step = 1) {
      const file = `expected.${family === 'IPv6' ? 'ip6.' : ''}${step > 1 ? `step${step}.` : ''}${kind}`
      return existsSync(join(goldenFolder, name, file)) ? read(file) : undefined
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: manifests as YAML gives them
type Raw = any

function loadObjects(text: string): ClusterObjects {
  const raw: Raw[] = parseAllDocuments(text).map((document) => document.toJS())
  const ofKind = (kind: string) => raw.filter((each) => each?.kind === kind)
  return {
    services: ofKind('Service').map(toService),
    endpointSlices: ofKind('EndpointSlice').map(toEndpointSlice),
    nodes: ofKind('Node').map((each) => ({
      kind: 'Node',
      metadata: toMeta(each, ''),
      spec: { podCIDRs: each.spec?.podCIDRs ?? [] },
      status: { addresses: each.status?.addresses ?? [] },
    })),
  }
}

function toMeta(raw: Raw, namespace = 'default'): ObjectMeta {
  const { metadata } = raw
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? namespace,
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
  }
}

function toService(raw: Raw): Service {
  const spec = raw.spec ?? {}
  return {
    kind: 'Service',
    metadata: toMeta(raw),
    spec: {
      type: spec.type ?? 'ClusterIP',
      selector: spec.selector ?? {},
      ports: (spec.ports ?? []).map((port: Raw) => ({
        name: port.name ?? '',
        protocol: port.protocol ?? 'TCP',
        port: port.port,
        targetPort: port.targetPort ?? port.port,
        nodePort: port.nodePort ?? 0,
      })),
      clusterIPs: spec.clusterIPs ?? (spec.clusterIP ? [spec.clusterIP] : []),
      ipFamilies: spec.ipFamilies ?? [],
      ipFamilyPolicy: spec.ipFamilyPolicy ?? '',
      externalIPs: spec.externalIPs ?? [],
      externalName: spec.externalName ?? '',
      externalTrafficPolicy: spec.externalTrafficPolicy ?? 'Cluster',
      internalTrafficPolicy: spec.internalTrafficPolicy ?? 'Cluster',
      sessionAffinity: spec.sessionAffinity ?? 'None',
      sessionAffinityTimeoutSeconds: spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 10800,
      loadBalancerIP: spec.loadBalancerIP ?? '',
      loadBalancerClass: spec.loadBalancerClass ?? '',
      loadBalancerSourceRanges: spec.loadBalancerSourceRanges ?? [],
      allocateLoadBalancerNodePorts: spec.allocateLoadBalancerNodePorts ?? true,
      healthCheckNodePort: spec.healthCheckNodePort ?? 0,
      publishNotReadyAddresses: spec.publishNotReadyAddresses ?? false,
      trafficDistribution: spec.trafficDistribution ?? '',
    },
    status: { loadBalancer: { ingress: raw.status?.loadBalancer?.ingress ?? [] } },
  }
}

function toEndpointSlice(raw: Raw): EndpointSlice {
  return {
    kind: 'EndpointSlice',
    metadata: toMeta(raw),
    addressType: raw.addressType,
    endpoints: (raw.endpoints ?? []).map((each: Raw): Endpoint => ({ ...each, conditions: each.conditions ?? {} })),
    ports: (raw.ports ?? []).map((port: Raw) => ({
      name: port.name ?? '',
      protocol: port.protocol ?? 'TCP',
      port: port.port,
    })),
  }
}
