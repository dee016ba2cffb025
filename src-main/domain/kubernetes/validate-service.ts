import type { Fields } from './decode-fields.ts'
import { nodePortRangeProblems } from './decode-service-port.ts'
import { duplicateValue, forbidden, invalidValue, requiredValue, unsupportedValue } from './field-messages.ts'
import { type GivenServiceSpec, isHeadless } from './given-service.ts'
import { CIDR_DETAIL, cidrFamilyOf, IP_DETAIL, ipFamilyOf, specialIpProblems } from './ip-text.ts'
import { dnsSubdomainProblems, qualifiedNameProblems } from './names.ts'
import type { Labels, ServiceType } from './objects.ts'
import { validateLabels } from './validate-labels.ts'
import { validateServiceFamilies } from './validate-service-families.ts'

const TYPES: readonly string[] = [
  'ClusterIP',
  'ExternalName',
  'LoadBalancer',
  'NodePort',
] satisfies ServiceType[]
const POLICIES = ['Cluster', 'Local']
const AFFINITIES = ['ClientIP', 'None']
const DISTRIBUTIONS = ['PreferClose', 'PreferSameNode', 'PreferSameZone']
const MAX_AFFINITY_SECONDS = 86_400
const SOURCE_RANGES_ANNOTATION = 'service.beta.kubernetes.io/load-balancer-source-ranges'
const ONLY_LOAD_BALANCER = forbidden("may only be used when `type` is 'LoadBalancer'")

/** What ValidateService of the API server checks beyond the single ports, on values of the right types. */
export function validateServiceSpec(given: GivenServiceSpec, annotations: Labels, object: Fields): void {
  const spec = object.fields('spec')
  if (!TYPES.includes(given.type)) {
    spec.report.error(spec.path.child('type'), unsupportedValue(given.type, TYPES))
  }
  validateType(given, spec)
  validateLabels(spec, 'selector', given.selector)
  validateAffinity(given, spec)
  validateServiceFamilies(given, spec)
  validateExternalIps(given, spec)
  validateUniquePorts(given, spec)
  validateLoadBalancer(given, annotations, object)
  validateTrafficPolicies(given, spec)
  validateTopologyAnnotations(annotations, object)
}

function validateType(given: GivenServiceSpec, { report, path }: Fields): void {
  const isExternalName = given.type === 'ExternalName'
  if (given.ports.length === 0 && !isHeadless(given) && !isExternalName) {
    report.error(path.child('ports'), requiredValue())
  }
  if (isHeadless(given) && (given.type === 'LoadBalancer' || given.type === 'NodePort')) {
    const detail = `may not be set to 'None' for ${given.type} services`
    const at = path.child(given.clusterIPs.length > 0 ? 'clusterIPs' : 'clusterIP')
    report.error(path.child('clusterIPs', 0), invalidValue('None', detail), at)
  }
  if (!isExternalName) return
  const name = given.externalName.replace(/\.$/, '')
  if (name === '') report.error(path.child('externalName'), requiredValue())
  else report.invalid(path.child('externalName'), name, dnsSubdomainProblems(name))
}

function validateAffinity(given: GivenServiceSpec, { report, path }: Fields): void {
  if (!AFFINITIES.includes(given.sessionAffinity)) {
    report.error(path.child('sessionAffinity'), unsupportedValue(given.sessionAffinity, AFFINITIES))
  }
  const seconds = given.affinityTimeoutSeconds
  // With affinity None the API server drops the config instead of judging it.
  if (given.sessionAffinity !== 'ClientIP' || seconds === undefined) return
  if (seconds > 0 && seconds <= MAX_AFFINITY_SECONDS) return
  const place = path.child('sessionAffinityConfig', 'clientIP', 'timeoutSeconds')
  const detail = `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`
  report.error(place, invalidValue(seconds, detail))
}

function validateExternalIps(given: GivenServiceSpec, { report, path }: Fields): void {
  given.externalIPs.forEach((ip, index) => {
    const problems = ipFamilyOf(ip) ? specialIpProblems(ip) : [IP_DETAIL]
    report.invalid(path.child('externalIPs', index), ip, problems)
  })
}

function validateUniquePorts(given: GivenServiceSpec, { report, path }: Fields): void {
  const ports = new Set<string>()
  const nodePorts = new Set<string>()
  given.ports.forEach(({ protocol, port, nodePort }, index) => {
    const place = path.child('ports', index)
    if (nodePort !== 0 && nodePorts.has(`${protocol} ${nodePort}`)) {
      report.error(place.child('nodePort'), duplicateValue(nodePort))
    }
    nodePorts.add(`${protocol} ${nodePort}`)
    if (ports.has(`${protocol} ${port}`)) {
      const detail = 'a Service has each port number once for each protocol; a missing protocol means TCP'
      report.error(place, duplicateValue({ protocol, port }, detail))
    }
    ports.add(`${protocol} ${port}`)
  })
}

function validateLoadBalancer(given: GivenServiceSpec, annotations: Labels, object: Fields): void {
  const { report, path } = object.fields('spec')
  const isLoadBalancer = given.type === 'LoadBalancer'
  const ranges = path.child('loadBalancerSourceRanges')
  const annotated = annotations[SOURCE_RANGES_ANNOTATION]
  if (given.loadBalancerSourceRanges.length > 0) {
    if (!isLoadBalancer) report.error(ranges, ONLY_LOAD_BALANCER)
    given.loadBalancerSourceRanges.forEach((range, index) => {
      report.invalid(ranges.child(index), range, cidrFamilyOf(range.trim()) ? [] : [CIDR_DETAIL])
    })
  } else if (annotated !== undefined) {
    const place = object.path.child('metadata', 'annotations', SOURCE_RANGES_ANNOTATION)
    if (!isLoadBalancer) report.error(place, ONLY_LOAD_BALANCER)
    const values = annotated.trim() === '' ? [] : annotated.split(',').map((range) => range.trim())
    for (const range of values) report.invalid(place, range, cidrFamilyOf(range) ? [] : [CIDR_DETAIL])
  }
  if (given.allocateLoadBalancerNodePorts !== undefined && !isLoadBalancer) {
    report.error(path.child('allocateLoadBalancerNodePorts'), ONLY_LOAD_BALANCER)
  }
  if (given.loadBalancerClass === undefined) return
  const place = path.child('loadBalancerClass')
  if (!isLoadBalancer) report.error(place, ONLY_LOAD_BALANCER)
  else report.invalid(place, given.loadBalancerClass, qualifiedNameProblems(given.loadBalancerClass))
}

function validateTrafficPolicies(given: GivenServiceSpec, { report, path }: Fields): void {
  const { type, externalTrafficPolicy, internalTrafficPolicy, trafficDistribution } = given
  const isExternal =
    type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && given.externalIPs.length > 0)
  const external = path.child('externalTrafficPolicy')
  if (externalTrafficPolicy !== '' && !isExternal) {
    const detail = 'may only be set for externally-accessible services'
    report.error(external, invalidValue(externalTrafficPolicy, detail))
  } else if (externalTrafficPolicy !== '' && !POLICIES.includes(externalTrafficPolicy)) {
    report.error(external, unsupportedValue(externalTrafficPolicy, POLICIES))
  }
  if (given.healthCheckNodePort !== 0) {
    const place = path.child('healthCheckNodePort')
    const hasHealthCheck = type === 'LoadBalancer' && externalTrafficPolicy === 'Local'
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
    const problems = hasHealthCheck ? nodePortRangeProblems(given.healthCheckNodePort) : [detail]
    report.invalid(place, given.healthCheckNodePort, problems)
  }
  if (internalTrafficPolicy !== undefined && !POLICIES.includes(internalTrafficPolicy)) {
    report.error(path.child('internalTrafficPolicy'), unsupportedValue(internalTrafficPolicy, POLICIES))
  }
  if (trafficDistribution !== undefined && !DISTRIBUTIONS.includes(trafficDistribution)) {
    report.error(path.child('trafficDistribution'), unsupportedValue(trafficDistribution, DISTRIBUTIONS))
  }
}

function validateTopologyAnnotations(annotations: Labels, object: Fields): void {
  const mode = annotations['service.kubernetes.io/topology-mode']
  const hints = annotations['service.kubernetes.io/topology-aware-hints']
  if (mode === undefined || hints === undefined || mode === hints) return
  const place = object.path.child('metadata', 'annotations', 'service.kubernetes.io/topology-mode')
  const detail = 'must match annotations[service.kubernetes.io/topology-aware-hints] when both are specified'
  object.report.error(place, invalidValue(mode, detail))
}
