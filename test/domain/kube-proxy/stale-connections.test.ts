import { describe, expect, it } from 'vitest'
import {
  selectStaleConnections,
  type TrackedConnection,
} from '../../../src-main/domain/kube-proxy/stale-connections.ts'
import { planSync, type SyncInput } from '../../../src-main/domain/kube-proxy/sync.ts'
import type { Endpoint, Service } from '../../../src-main/domain/kubernetes/objects.ts'
import { buildService, buildSlice, plainConfig } from './large-cluster.ts'

type Conditions = Endpoint['conditions']

const dnsPort = { name: 'dns', protocol: 'UDP', port: 53, targetPort: 5353, nodePort: 30053 } as const

const dns = (spec: Partial<Service['spec']> = {}): Service => ({
  ...buildService('dns', '10.96.0.10', {
    type: 'LoadBalancer',
    ports: [dnsPort],
    externalIPs: ['198.51.100.7'],
    ...spec,
  }),
  status: { loadBalancer: { ingress: [{ ip: '203.0.113.9', hostname: '', ipMode: 'VIP' }] } },
})

function cluster(endpoints: Record<string, Conditions>, service = dns()): SyncInput {
  const slice = buildSlice('dns', Object.keys(endpoints))
  return {
    services: [service],
    endpointSlices: [
      {
        ...slice,
        ports: [{ name: 'dns', protocol: 'UDP', port: 5353 }],
        endpoints: slice.endpoints.map((each, i) => ({
          ...each,
          conditions: Object.values(endpoints)[i] as Conditions,
        })),
      },
    ],
    node: undefined,
    config: plainConfig,
    family: 'IPv4',
  }
}

const ready = { ready: true, serving: true, terminating: false }
const leaving = { ready: false, serving: true, terminating: true }
const gone = { ready: false, serving: false, terminating: true }

/** `to PORT → FROM`: an entry to that address whose answers come from there. */
function entry(text: string, protocol = 17): TrackedConnection {
  const [destination = '', port, source = ''] = text.split(' ')
  return { original: { protocol, destination, destinationPort: Number(port) }, reply: { source } }
}

const stale = (input: SyncInput, ...entries: readonly TrackedConnection[]) =>
  selectStaleConnections(planSync(undefined, input, { nowMs: 0 }).state.ports, entries).map(
    ({ original, reply }) => `${original.destination} ${original.destinationPort} ${reply.source}`,
  )

describe('stale connections', () => {
  it('are those to any address of a UDP Service that lead to no serving endpoint', () => {
    const living = ['10.96.0.10 53', '198.51.100.7 53', '203.0.113.9 53', '192.168.0.2 30053']
    const dead = living.map((to) => `${to} 10.244.0.3`)
    const untranslated = '10.96.0.10 53 10.96.0.10'
    expect(
      stale(
        cluster({ '10.244.0.1': ready, '10.244.0.2': leaving, '10.244.0.3': gone }),
        ...living.flatMap((to) => [entry(`${to} 10.244.0.1`), entry(`${to} 10.244.0.2`)]),
        ...dead.map((text) => entry(text)),
        entry(untranslated),
      ),
    ).toEqual([...dead, untranslated])
  })

  it('are never of TCP, of another port or of somebody else', () => {
    expect(
      stale(
        cluster({ '10.244.0.1': ready }),
        entry('10.96.0.10 53 10.244.0.9', 6),
        entry('10.96.0.10 54 10.244.0.9'),
        entry('10.96.0.11 53 10.244.0.9'),
        entry('192.168.0.2 30054 192.168.0.2'),
      ),
    ).toEqual([])
  })

  it('stay while the Service has no serving endpoint', () => {
    expect(stale(cluster({ '10.244.0.1': gone }), entry('10.96.0.10 53 10.244.0.1'))).toEqual([])
    expect(stale(cluster({}), entry('10.96.0.10 53 10.244.0.1'))).toEqual([])
  })

  it('do not follow traffic policies: a flow to an endpoint elsewhere goes on', () => {
    const local = dns({ internalTrafficPolicy: 'Local', externalTrafficPolicy: 'Local' })
    expect(stale(cluster({ '10.244.0.1': ready }, local), entry('10.96.0.10 53 10.244.0.1'))).toEqual([])
  })
})

describe('a sync asks to look for them', () => {
  const first = planSync(undefined, cluster({ '10.244.0.1': ready }), { nowMs: 0 })
  const changedBy = (input: SyncInput) => planSync(first.state, input, { nowMs: 1 }).udpEndpointsChanged

  it('when endpoints of a UDP port come or go', () => {
    expect(first.udpEndpointsChanged).toBe(true)
    expect(changedBy(cluster({}))).toBe(true)
    expect(changedBy(cluster({ '10.244.0.1': ready, '10.244.0.2': ready }))).toBe(true)
    expect(changedBy(cluster({ '10.244.0.1': gone }))).toBe(true)
    expect(changedBy({ ...cluster({}), services: [] })).toBe(true)
  })

  it('not when they stayed, whatever else changed', () => {
    expect(changedBy(cluster({ '10.244.0.1': ready }))).toBe(false)
    expect(changedBy(cluster({ '10.244.0.1': ready }, dns({ sessionAffinity: 'ClientIP' })))).toBe(false)
    const full = planSync(first.state, cluster({ '10.244.0.1': ready }), { nowMs: 1, full: true })
    expect(full.udpEndpointsChanged).toBe(false)
    expect(planSync(undefined, cluster({}), { nowMs: 0 }).udpEndpointsChanged).toBe(false)
  })

  it('not for TCP', () => {
    const web = (...addresses: string[]): SyncInput => ({
      ...cluster({}),
      services: [buildService('web', '10.96.0.1')],
      endpointSlices: [buildSlice('web', addresses)],
    })
    const before = planSync(undefined, web('10.244.0.1'), { nowMs: 0 })
    expect(before.udpEndpointsChanged).toBe(false)
    expect(planSync(before.state, web('10.244.0.2'), { nowMs: 1 }).udpEndpointsChanged).toBe(false)
  })
})
