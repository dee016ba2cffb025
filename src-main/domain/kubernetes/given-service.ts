import type { IpFamily, Labels, ServicePort } from './objects.ts'

/** A Service's spec as written; undefined and '' tell that a field is not set. */
export interface GivenServiceSpec {
  readonly type: string
  readonly selector: Labels
  readonly ports: readonly ServicePort[]
  readonly clusterIP: string
  readonly clusterIPs: readonly string[]
  readonly ipFamilies: readonly IpFamily[]
  readonly ipFamilyPolicy: string | undefined
  readonly externalIPs: readonly string[]
  readonly externalName: string
  readonly externalTrafficPolicy: string
  readonly internalTrafficPolicy: string | undefined
  readonly sessionAffinity: string
  readonly affinityTimeoutSeconds: number | undefined
  readonly loadBalancerIP: string
  readonly loadBalancerClass: string | undefined
  readonly loadBalancerSourceRanges: readonly string[]
  readonly allocateLoadBalancerNodePorts: boolean | undefined
  readonly healthCheckNodePort: number
  readonly publishNotReadyAddresses: boolean
  readonly trafficDistribution: string | undefined
}

/** clusterIPs, or clusterIP alone where only that is given. */
export function allClusterIps({ clusterIP, clusterIPs }: GivenServiceSpec): readonly string[] {
  return clusterIP !== '' && clusterIPs.length === 0 ? [clusterIP] : clusterIPs
}

export function isHeadless(given: GivenServiceSpec): boolean {
  const all = allClusterIps(given)
  return all.length === 1 && all[0] === 'None'
}
