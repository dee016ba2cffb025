import { allClusterIps, type GivenServiceSpec, isHeadless } from './given-service.ts'
import { ipFamilyOf } from './ip-text.ts'
import type { IpFamily, Service } from './objects.ts'

type Families = Pick<Service['spec'], 'clusterIPs' | 'ipFamilies' | 'ipFamilyPolicy'>

/**
 * Cluster IPs, families and policy as the API server fills them in before it allocates addresses. Whether the
 * cluster has the families, and a second one for PreferDualStack, is the allocation's matter.
 */
export function planServiceFamilies(given: GivenServiceSpec): Families {
  if (given.type === 'ExternalName') return { clusterIPs: [], ipFamilies: [], ipFamilyPolicy: '' }
  const clusterIPs = allClusterIps(given)
  const isOpenHeadless = isHeadless(given) && Object.keys(given.selector).length === 0
  const ipFamilyPolicy = (given.ipFamilyPolicy ??
    (isOpenHeadless ? 'RequireDualStack' : 'SingleStack')) as Families['ipFamilyPolicy']
  const ipFamilies = [...given.ipFamilies]
  for (const ip of clusterIPs.slice(ipFamilies.length)) {
    const family = ipFamilyOf(ip)
    if (family) ipFamilies.push(family)
  }
  if (ipFamilies.length === 0) ipFamilies.push('IPv4')
  if (isOpenHeadless && ipFamilyPolicy !== 'SingleStack' && ipFamilies.length === 1) {
    ipFamilies.push(otherFamily(ipFamilies[0]))
  }
  return { clusterIPs, ipFamilies, ipFamilyPolicy }
}

function otherFamily(family: IpFamily | undefined): IpFamily {
  return family === 'IPv6' ? 'IPv4' : 'IPv6'
}
