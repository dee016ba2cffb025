import { parseAddress } from './allocate-address.ts'
import type { EndpointGroup } from './endpoint-slices.ts'
import type { Endpoint, EndpointAddress, EndpointSlice, Endpoints, IpFamily, Service } from './objects.ts'

/** An Endpoints object as groups of endpoints: one a subset and address family. */
export function mirrorEndpoints(endpoints: Endpoints): EndpointGroup[] {
  return endpoints.subsets.flatMap((subset) =>
    (['IPv4', 'IPv6'] as const).flatMap((addressType) => {
      const found = new Map<string, Endpoint>()
      const add = (addresses: readonly EndpointAddress[], ready: boolean) => {
        for (const address of addresses) {
          if (parseAddress(address.ip)?.family !== addressType) continue
          found.set(
            address.targetRef?.kind === 'Pod' ? address.targetRef.name : address.ip,
            mirror(address, ready),
          )
        }
      }
      add(subset.notReadyAddresses, false)
      add(subset.addresses, true)
      return found.size > 0 ? [{ addressType, ports: subset.ports, endpoints: found }] : []
    }),
  )
}

function mirror({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(targetRef === undefined ? {} : { targetRef }),
  }
}

/**
 * The Endpoints object that a cluster's endpoints controller keeps for a Service beside its slices: the primary
 * family only, terminating pods left out.
 */
export function deriveEndpoints(service: Service, slices: readonly EndpointSlice[]): Endpoints {
  const family: IpFamily = service.spec.ipFamilies[0] ?? 'IPv4'
  const subsets = slices
    .filter((slice) => slice.addressType === family && slice.endpoints.length > 0)
    .map(({ endpoints, ports }) => {
      const isReady = ({ conditions }: Endpoint) => conditions.ready !== false
      const usable = endpoints.filter(
        ({ conditions }) => conditions.terminating !== true || conditions.ready === true,
      )
      return {
        addresses: usable.filter(isReady).map(toAddress),
        notReadyAddresses: usable.filter((endpoint) => !isReady(endpoint)).map(toAddress),
        ports,
      }
    })
  return {
    kind: 'Endpoints',
    metadata: {
      name: service.metadata.name,
      namespace: service.metadata.namespace,
      labels: service.metadata.labels,
      annotations: {},
      ...(service.metadata.creationTimestamp === undefined
        ? {}
        : { creationTimestamp: service.metadata.creationTimestamp }),
    },
    subsets: subsets.filter((subset) => subset.addresses.length + subset.notReadyAddresses.length > 0),
  }
}

function toAddress(endpoint: Endpoint): EndpointAddress {
  const { addresses, hostname, nodeName, targetRef } = endpoint
  return {
    ip: addresses[0] ?? '',
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(targetRef === undefined ? {} : { targetRef }),
  }
}
