import { describe, expect, it } from 'vitest'
import type { NodeConfig } from '../../../src-main/domain/kube-proxy/node-config.ts'
import { formatRestore } from '../../../src-main/domain/kube-proxy/restore.ts'
import { indexOwners, indexRules } from '../../../src-main/domain/kube-proxy/rule-index.ts'
import { planSync, type SyncInput } from '../../../src-main/domain/kube-proxy/sync.ts'
import type { Endpoint, EndpointSlice } from '../../../src-main/domain/kubernetes/objects.ts'
import { buildLargeCluster, buildService, buildSlice, plainConfig } from './large-cluster.ts'
import { goldens } from './load-golden.ts'
import { syncSteps } from './sync-steps.ts'

const hour = 3_600_000

function input(count: number, size = 2, config: NodeConfig = plainConfig): SyncInput {
  return { ...buildLargeCluster(count, size), node: undefined, config, family: 'IPv4' }
}

/** One Service without the rest of a cluster; `nodeName` and conditions of each endpoint as given. */
function oneService(
  endpoints: readonly Partial<Endpoint>[],
  spec = {},
  extra: readonly EndpointSlice[] = [],
): SyncInput {
  const slice = buildSlice(
    'web',
    endpoints.map((_, i) => `10.244.0.${i + 1}`),
  )
  return {
    services: [buildService('web', '10.96.0.1', spec)],
    endpointSlices: [
      { ...slice, endpoints: slice.endpoints.map((each, i) => ({ ...each, ...endpoints[i] })) },
      ...extra,
    ],
    node: undefined,
    config: plainConfig,
    family: 'IPv4',
  }
}

const text = (from: SyncInput) => formatRestore(planSync(undefined, from, { nowMs: 0 }).restore)
const destinations = (rules: string) => [...rules.matchAll(/--to-destination (\S+)/g)].map(([, to]) => to)

describe('a sync is full', () => {
  const first = planSync(undefined, input(3), { nowMs: 0 })
  const next = (nowMs: number, options = {}, now = input(3)) =>
    planSync(first.state, now, { nowMs, ...options })

  it('the first time, after an hour and when asked for', () => {
    expect(first.full).toBe(true)
    expect(next(hour).full).toBe(false)
    expect(next(hour + 1).full).toBe(true)
    expect(next(1, { full: true }).full).toBe(true)
    expect(next(1, { full: true }).entryJumps).toEqual(first.entryJumps)
  })

  it('when the configuration changes', () => {
    expect(next(1, {}, input(3, 2, { ...plainConfig, masqueradeAll: true })).full).toBe(true)
    expect(next(1, {}, input(3, 2, { ...plainConfig })).full).toBe(false)
  })

  it('but not hourly in a large cluster', () => {
    const large = planSync(undefined, input(501), { nowMs: 0 })
    expect(large.state.largeCluster).toBe(true)
    expect(planSync(large.state, input(501), { nowMs: 2 * hour }).full).toBe(false)
  })

  it('and then writes the same text as the first', () => {
    expect(formatRestore(next(1, { full: true }).restore)).toBe(formatRestore(first.restore))
  })
})

describe('a partial sync', () => {
  it('takes equal objects for unchanged, and labels of a Service for nothing', () => {
    const before = input(3)
    const first = planSync(undefined, before, { nowMs: 0 })
    const same = planSync(first.state, structuredClone(before), { nowMs: 1 })
    expect(same.restore.rewritten.size).toBe(0)
    const labelled = {
      ...before,
      services: before.services.map((each) => ({
        ...each,
        metadata: { ...each.metadata, labels: { tier: 'front' } },
      })),
    }
    expect(planSync(first.state, labelled, { nowMs: 1 }).restore.rewritten.size).toBe(0)
  })

  it('changes no text when it starts from the state before a failed one, but for being full', () => {
    const first = planSync(undefined, input(3), { nowMs: 0 })
    const failed = planSync(first.state, input(2), { nowMs: 1 })
    expect(failed.restore.deletedChains).toHaveLength(3)
    const again = planSync(first.state, input(2), { nowMs: 2, full: true })
    expect(again.restore.deletedChains).toEqual(failed.restore.deletedChains)
    expect(again.restore.rewritten.size).toBe(2)
  })

  it('deletes what somebody found in the kernel and nobody needs', () => {
    const plan = planSync(undefined, input(1), {
      nowMs: 0,
      natChains: ['KUBE-SEP-AAAAAAAAAAAAAAAA', 'KUBE-SERVICES', 'DOCKER', 'KUBE-SVC-AAAAAAAAAAAAAAAA'],
    })
    expect(plan.restore.deletedChains).toEqual(['KUBE-SEP-AAAAAAAAAAAAAAAA', 'KUBE-SVC-AAAAAAAAAAAAAAAA'])
  })

  it('of a large cluster deletes stale chains every 30 seconds at most', () => {
    const first = planSync(undefined, input(502), { nowMs: 0 })
    const soon = planSync(first.state, input(501), { nowMs: 30_000 })
    expect(soon.restore.deletedChains).toEqual([])
    expect(soon.state.staleChains.size).toBe(3)
    const back = planSync(soon.state, input(502), { nowMs: 30_001 })
    expect(back.restore.deletedChains).toEqual([])
    expect(back.state.staleChains.size).toBe(0)
    const later = planSync(soon.state, input(501), { nowMs: 30_001 })
    expect(later.restore.deletedChains).toHaveLength(3)
  })
})

describe('endpoints', () => {
  it('come without their Service from another slice label, family or headless Service', () => {
    const labels = { 'kubernetes.io/service-name': 'web', 'service.kubernetes.io/headless': '' }
    const headless = buildSlice('web', ['10.244.9.9'])
    expect(
      destinations(text(oneService([{}], {}, [{ ...headless, metadata: { ...headless.metadata, labels } }]))),
    ).toEqual(['10.244.0.1:8080'])
    expect(
      destinations(text(oneService([{}], {}, [{ ...buildSlice('web', ['fd00::1']), addressType: 'IPv6' }]))),
    ).toEqual(['10.244.0.1:8080'])
  })

  it('that terminate are used when none is ready, for each policy by itself', () => {
    const leaving = { conditions: { ready: false, serving: true, terminating: true } }
    const rules = text(
      oneService([{ ...leaving, nodeName: 'node-a' }, { nodeName: 'node-b' }], {
        type: 'NodePort',
        externalTrafficPolicy: 'Local',
        ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30080 }],
      }),
    )
    expect(destinations(rules)).toEqual(['10.244.0.1:8080', '10.244.0.2:8080'])
    expect(rules).toMatch(/-A KUBE-SVL-\S+ -m comment --comment "default\/web:http -> 10.244.0.1:8080" -j/)
    expect(rules).toMatch(/-A KUBE-SVC-\S+ -m comment --comment "default\/web:http -> 10.244.0.2:8080" -j/)
  })

  it('twice at one address count once, the living one', () => {
    const dying = { conditions: { ready: false, serving: false, terminating: true } }
    const twin = (name: string, endpoint: Partial<Endpoint>): EndpointSlice => {
      const slice = buildSlice('web', ['10.244.0.1'])
      return {
        ...slice,
        metadata: { ...slice.metadata, name },
        endpoints: slice.endpoints.map((each) => ({ ...each, ...endpoint })),
      }
    }
    expect(destinations(text(oneService([{}], {}, [twin('web-zzzzz', dying)])))).toEqual(['10.244.0.1:8080'])
    expect(destinations(text(oneService([dying], {}, [twin('web-zzzzz', {})])))).toEqual(['10.244.0.1:8080'])
  })
})

describe('node settings', () => {
  const nodePort = {
    type: 'NodePort',
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30080 }],
  }
  const rulesWith = (config: Partial<NodeConfig>, spec = {}) => {
    const one = oneService([{}], { ...nodePort, ...spec })
    return text({ ...one, config: { ...plainConfig, ...config } })
  }

  it('nfacct: counts packets to localhost node ports and dropped INVALID ones', () => {
    const rules = rulesWith({ nfacct: true }).split('\n')
    expect(rules).toContain(
      '-A KUBE-FORWARD -m conntrack --ctstate INVALID -m nfacct --nfacct-name ct_state_invalid_dropped_pkts -j DROP',
    )
    const counting = rules.findIndex((rule) => rule.includes('localhost_nps_accepted_pkts'))
    expect(rules[counting]).toBe(
      '-A KUBE-NODEPORTS -m comment --comment default/web:http -m tcp -p tcp -d 127.0.0.0/8 --dport 30080 -m nfacct --nfacct-name localhost_nps_accepted_pkts -j KUBE-EXT-CDGGSHYLG3RE2FKL',
    )
    expect(rules[counting + 1]).toContain('--dport 30080 -j KUBE-EXT-')
    expect(rulesWith({ nfacct: true, localhostNodePorts: false })).not.toContain(
      'localhost_nps_accepted_pkts',
    )
  })

  it('node port addresses: none that matches makes no jump to KUBE-NODEPORTS', () => {
    expect(rulesWith({ nodePortAddresses: ['203.0.113.0/24'] })).not.toContain('-j KUBE-NODEPORTS')
    expect(rulesWith({ nodePortAddresses: ['203.0.113.0/24', '0.0.0.0/0'] })).toContain('--dst-type LOCAL -j')
  })

  it('masquerade bit: up to the last of the mark', () => {
    expect(rulesWith({ masqueradeBit: 31 })).toContain('--or-mark 0x80000000')
  })

  it('NodeCIDR: the node object says what is local', () => {
    const one = oneService([{}])
    const node = {
      kind: 'Node' as const,
      metadata: { name: 'node-a', namespace: '', labels: {}, annotations: {} },
      spec: { podCIDRs: ['10.244.7.0/24'] },
      status: { addresses: [] },
    }
    const config = { ...plainConfig, detectLocal: { mode: 'NodeCIDR' as const } }
    expect(text({ ...one, node, config })).toContain('! -s 10.244.7.0/24 -j KUBE-MARK-MASQ')
    expect(text({ ...one, config })).not.toContain('! -s 10')
  })
})

describe('the index of what syncs have left', () => {
  it.each(goldens)('of $name has every chain and every rule of the saved text', (golden) => {
    for (const family of golden.config.ipFamilies) {
      const plans = syncSteps(golden, family)
      const state = plans.at(-1)?.state
      if (!state) throw new Error('no step')
      const saved = golden.expected(family, 'save', plans.length) ?? ''
      const owners = indexOwners(state)
      const service = [...saved.matchAll(/^:(KUBE-(?:SVC|SVL|SEP|EXT|FW)-\S+)/gm)].map(([, chain]) => chain)
      expect([...owners.keys()].sort()).toEqual(service)
      const rules = indexRules(state)
      const count = [...rules.filter.values(), ...rules.nat.values()].flat().length
      expect(count).toBe(saved.match(/^-A KUBE-/gm)?.length ?? 0)
    }
  })

  it('says which endpoint of which Service a rule is for', () => {
    const { state } = planSync(undefined, oneService([{ targetRef: { kind: 'Pod', name: 'web-1' } }]), {
      nowMs: 0,
    })
    const { nat } = indexRules(state)
    const [hairpin, dnat] =
      nat.get([...nat.keys()].find((chain) => chain.startsWith('KUBE-SEP-')) ?? ('' as never)) ?? []
    expect(hairpin?.role).toBe('hairpin-masquerade')
    expect(dnat).toMatchObject({
      role: 'dnat',
      port: { namespace: 'default', service: 'web', portName: 'http' },
      endpoint: { text: '10.244.0.1:8080', source: { targetRef: { kind: 'Pod', name: 'web-1' } } },
    })
  })
})
