import { parseAddress } from './allocate-address.ts'
import type { ReportAllocation } from './allocation-report.ts'
import { invalidValue } from './field-messages.ts'
import type { IpFamily, Service } from './objects.ts'

/**
 * Settles a Service's ipFamilies and ipFamilyPolicy: from its own fields, its cluster IPs, what it had, or the
 * cluster's families (the primary one first); a dual-stack policy adds the cluster's other family.
 */
export function resolveFamilies(
  given: Service,
  live: Service | undefined,
  clusterFamilies: readonly IpFamily[],
  isStrict: boolean,
  report: ReportAllocation,
): Service {
  const { spec } = given
  if (spec.type === 'ExternalName') return withFamilies(given, [], '')
  const asked = askedFamilies(given)
  const policy =
    spec.ipFamilyPolicy ||
    (asked.length > 1 ? 'RequireDualStack' : live?.spec.ipFamilyPolicy || 'SingleStack')
  if (isOpenHeadless(given)) return withFamilies(given, asked.length > 0 ? asked : clusterFamilies, policy)
  if (isStrict && !isConfigured(asked, policy, clusterFamilies, report))
    return withFamilies(given, asked, policy)
  const before = live?.spec.ipFamilies ?? []
  const start = asked.length > 0 ? asked : before.length > 0 ? before : clusterFamilies
  if (policy === 'SingleStack') return withFamilies(given, start.slice(0, 1), policy)
  return withFamilies(given, [...new Set([...start, ...clusterFamilies])], policy)
}

function isConfigured(
  asked: readonly IpFamily[],
  policy: Service['spec']['ipFamilyPolicy'],
  clusterFamilies: readonly IpFamily[],
  report: ReportAllocation,
): boolean {
  const foreign = asked.findIndex((family) => !clusterFamilies.includes(family))
  if (foreign >= 0) {
    const path = `spec.ipFamilies[${foreign}]`
    report('error', path, invalidValue(asked[foreign], 'not configured on this cluster'))
  }
  if (policy === 'RequireDualStack' && clusterFamilies.length < 2) {
    const detail = 'this cluster is not configured for dual-stack services'
    report('error', 'spec.ipFamilyPolicy', invalidValue(policy, detail))
    return false
  }
  return foreign < 0
}

/** Its endpoints are somebody else's business, so any family will do, as in Kubernetes. */
function isOpenHeadless({ spec }: Service): boolean {
  return spec.clusterIPs[0] === 'None' && Object.keys(spec.selector).length === 0
}

function askedFamilies({ spec }: Service): readonly IpFamily[] {
  if (spec.ipFamilies.length > 0) return spec.ipFamilies
  return spec.clusterIPs.flatMap((ip) => parseAddress(ip)?.family ?? [])
}

function withFamilies(
  service: Service,
  ipFamilies: readonly IpFamily[],
  ipFamilyPolicy: Service['spec']['ipFamilyPolicy'],
): Service {
  return { ...service, spec: { ...service.spec, ipFamilies, ipFamilyPolicy } }
}
