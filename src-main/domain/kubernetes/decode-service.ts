import type { Fields } from './decode-fields.ts'
import { decodeMetadata } from './decode-metadata.ts'
import { decodeLoadBalancerStatus, decodeServicePort } from './decode-service-port.ts'
import type { GivenServiceSpec } from './given-service.ts'
import { knownFields } from './known-fields.ts'
import { rfc1035LabelProblems } from './names.ts'
import type { IpFamily, Service, ServiceType, TrafficPolicy } from './objects.ts'
import { planServiceFamilies } from './plan-service-families.ts'
import { validateServiceSpec } from './validate-service.ts'

const DEFAULT_AFFINITY_SECONDS = 10_800

/** A Service as the API server stores it, but for what the cluster allocates (cluster IPs, node ports). */
export function decodeService(object: Fields): Service {
  object.allowOnly(knownFields.object)
  const metadata = decodeMetadata(object, {
    isNamespaced: true,
    nameProblems: rfc1035LabelProblems,
    hasPodIps: false,
  })
  const spec = object.fields('spec')
  const given = decodeGivenSpec(spec)
  const ingress = decodeLoadBalancerStatus(object, given.type)
  if (spec.isSound) validateServiceSpec(given, metadata.annotations, object)
  const { clusterIPs, ipFamilies, ipFamilyPolicy } = planServiceFamilies(given)
  return {
    kind: 'Service',
    metadata,
    spec: {
      type: given.type as ServiceType,
      selector: given.selector,
      ports: given.ports,
      clusterIPs,
      ipFamilies,
      ipFamilyPolicy,
      externalIPs: given.externalIPs,
      externalName: given.externalName,
      externalTrafficPolicy: (given.externalTrafficPolicy || 'Cluster') as TrafficPolicy,
      internalTrafficPolicy: (given.internalTrafficPolicy ?? 'Cluster') as TrafficPolicy,
      sessionAffinity: given.sessionAffinity as Service['spec']['sessionAffinity'],
      sessionAffinityTimeoutSeconds: given.affinityTimeoutSeconds ?? DEFAULT_AFFINITY_SECONDS,
      loadBalancerIP: given.loadBalancerIP,
      loadBalancerClass: given.loadBalancerClass ?? '',
      loadBalancerSourceRanges: given.loadBalancerSourceRanges.map((range) => range.trim()),
      allocateLoadBalancerNodePorts: given.allocateLoadBalancerNodePorts ?? true,
      healthCheckNodePort: given.healthCheckNodePort,
      publishNotReadyAddresses: given.publishNotReadyAddresses,
      trafficDistribution: given.trafficDistribution ?? '',
    },
    status: { loadBalancer: { ingress } },
  }
}

/** The spec as written, with the defaults that validation presupposes; undefined where it tells "not set". */
function decodeGivenSpec(spec: Fields): GivenServiceSpec {
  spec.allowOnly(knownFields.serviceSpec)
  const affinityConfig = spec.fields('sessionAffinityConfig')
  affinityConfig.allowOnly(knownFields.sessionAffinityConfig)
  const clientIp = affinityConfig.fields('clientIP')
  clientIp.allowOnly(knownFields.clientIpConfig)
  const portList = spec.list('ports')
  const portNames = new Set<string>()
  const type = spec.string('type') || 'ClusterIP'
  return {
    type,
    selector: spec.labels('selector', SELECTOR_ADVICE),
    ports: portList.map((port) =>
      decodeServicePort(port, { type, portNames, needsName: portList.length > 1 }),
    ),
    clusterIP: spec.string('clusterIP') ?? '',
    clusterIPs: spec.strings('clusterIPs'),
    ipFamilies: spec.strings('ipFamilies') as IpFamily[],
    ipFamilyPolicy: spec.string('ipFamilyPolicy'),
    externalIPs: spec.strings('externalIPs'),
    externalName: spec.string('externalName') ?? '',
    externalTrafficPolicy: spec.string('externalTrafficPolicy') ?? '',
    internalTrafficPolicy: spec.string('internalTrafficPolicy'),
    sessionAffinity: spec.string('sessionAffinity') || 'None',
    affinityTimeoutSeconds: clientIp.integer('timeoutSeconds'),
    loadBalancerIP: spec.string('loadBalancerIP') ?? '',
    loadBalancerClass: spec.string('loadBalancerClass'),
    loadBalancerSourceRanges: spec.strings('loadBalancerSourceRanges'),
    allocateLoadBalancerNodePorts: spec.boolean('allocateLoadBalancerNodePorts'),
    healthCheckNodePort: spec.integer('healthCheckNodePort') ?? 0,
    publishNotReadyAddresses: spec.boolean('publishNotReadyAddresses') ?? false,
    trafficDistribution: spec.string('trafficDistribution'),
  }
}

const SELECTOR_ADVICE =
  '; the selector of a Service has no matchLabels or matchExpressions, write the labels directly below "selector"'
