import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arrangeForKernel } from '../../../src-main/domain/kube-proxy/arrange-for-kernel.ts'
import { formatSave } from '../../../src-main/domain/kube-proxy/format-save.ts'
import {
  applyEntryJumps,
  applyRestore,
  emptyTables,
  type KernelTables,
} from '../../../src-main/domain/kube-proxy/kernel-tables.ts'
import { formatRestore } from '../../../src-main/domain/kube-proxy/restore.ts'
import { type ProxierState, planSync } from '../../../src-main/domain/kube-proxy/sync.ts'
import type { EndpointSlice, Service } from '../../../src-main/domain/kubernetes/objects.ts'
import { buildLargeCluster, buildService, buildSlice, plainConfig } from './large-cluster.ts'
import { goldens } from './load-golden.ts'
import { syncSteps } from './sync-steps.ts'

describe.each([
  { maxRules: Number.POSITIVE_INFINITY, what: 'in one text' },
  { maxRules: 200, what: 'at most 200 rules at once' },
  { maxRules: 10, what: 'at most 10 rules at once' },
])('$what', ({ maxRules }) => {
  it.each(goldens)('$name ends with the rules of the real text', (golden) => {
    for (const family of golden.config.ipFamilies) {
      let plain = emptyTables
      let arranged = emptyTables
      let state: ProxierState | undefined
      for (const plan of syncSteps(golden, family)) {
        plain = applyRestore(applyEntryJumps(plain, plan.entryJumps), formatRestore(plan.restore))
        arranged = applyEntryJumps(arranged, plan.entryJumps)
        for (const text of arrangeForKernel(state, plan, { maxRules })) {
          arranged = applyRestore(arranged, text)
          for (const section of text.split('COMMIT'))
            expect(section.match(/^-[AI] /gm)?.length ?? 0).toBeLessThanOrEqual(maxRules)
        }
        expect(formatSave(arranged, family)).toBe(formatSave(plain, family))
        state = plan.state
      }
    }
  })
})

interface Shape {
  readonly endpoints: readonly number[]
  readonly port: number
  readonly nodePort: boolean
  readonly local: boolean
  readonly externalIPs: readonly string[]
}

const shape = fc.record({
  endpoints: fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 24 }),
  port: fc.constantFrom(80, 8000),
  nodePort: fc.boolean(),
  local: fc.boolean(),
  externalIPs: fc
    .subarray(['198.51.100.1', '198.51.100.2', '198.51.100.3'])
    .chain((ips) => fc.shuffledSubarray(ips, { minLength: ips.length })),
})
const cluster = fc.dictionary(fc.constantFrom('a', 'b', 'b-c', 'c', 'd', 'e'), shape)

function buildObjects(shapes: Readonly<Record<string, Shape>>): {
  services: Service[]
  endpointSlices: EndpointSlice[]
} {
  const services: Service[] = []
  const endpointSlices: EndpointSlice[] = []
  for (const [name, { endpoints, port, nodePort, local, externalIPs }] of Object.entries(shapes)) {
    const number = name.charCodeAt(0) + name.length
    services.push(
      buildService(name, `10.96.0.${number}`, {
        type: nodePort ? 'NodePort' : 'ClusterIP',
        externalTrafficPolicy: local ? 'Local' : 'Cluster',
        externalIPs,
        ports: [
          { name: 'http', protocol: 'TCP', port, targetPort: 80, nodePort: nodePort ? 30000 + number : 0 },
        ],
      }),
    )
    const slice = buildSlice(
      name,
      endpoints.map((n) => `10.244.1.${n}`),
    )
    endpointSlices.push({
      ...slice,
      endpoints: slice.endpoints.map((each, i) => ({ ...each, nodeName: i % 3 === 0 ? 'node-a' : 'node-b' })),
    })
  }
  return { services, endpointSlices }
}

describe('any change', () => {
  it('ends with the rules of the real text, and every text between serves every Service that stays', () => {
    fc.assert(
      fc.property(
        fc.array(cluster, { minLength: 2, maxLength: 4 }),
        fc.constantFrom(6, 30, Number.POSITIVE_INFINITY),
        (steps, maxRules) => {
          let plain = emptyTables
          let arranged = emptyTables
          let state: ProxierState | undefined
          let before: Readonly<Record<string, Shape>> = {}
          for (const [i, shapes] of steps.entries()) {
            const input = {
              ...buildObjects(shapes),
              node: undefined,
              config: plainConfig,
              family: 'IPv4' as const,
            }
            const plan = planSync(state, input, { nowMs: i })
            plain = applyRestore(applyEntryJumps(plain, plan.entryJumps), formatRestore(plan.restore))
            arranged = applyEntryJumps(arranged, plan.entryJumps)
            for (const text of arrangeForKernel(state, plan, { maxRules })) {
              arranged = applyRestore(arranged, text)
              if (i > 0) expectServing(arranged, before, shapes)
            }
            expect(formatSave(arranged, 'IPv4')).toBe(formatSave(plain, 'IPv4'))
            state = plan.state
            before = shapes
          }
        },
      ),
      { numRuns: 60 },
    )
  }, 60_000)

  it('of one endpoint among 1,000 Services writes only the chains concerned', () => {
    const { services, endpointSlices } = buildLargeCluster(1000, 5)
    const input = { services, endpointSlices, node: undefined, config: plainConfig, family: 'IPv4' as const }
    const first = planSync(undefined, input, { nowMs: 0 })
    const changed = endpointSlices.map((slice, i) =>
      i === 500 ? buildSlice('svc-00500', ['10.128.9.196', '10.128.9.197', '10.1.1.1']) : slice,
    )
    const second = planSync(first.state, { ...input, endpointSlices: changed }, { nowMs: 60_000 })
    const texts = arrangeForKernel(first.state, second, { maxRules: 200 })
    expect(texts).toHaveLength(1)
    expect(texts[0]?.split('\n').length).toBeLessThan(25)
  })
})

/** A Service that has endpoints before and after is reachable, and each way ends at an endpoint of either. */
function expectServing(
  tables: KernelTables,
  before: Readonly<Record<string, Shape>>,
  after: Readonly<Record<string, Shape>>,
): void {
  for (const [name, old] of Object.entries(before)) {
    const now = after[name]
    if (!now || old.endpoints.length === 0 || now.endpoints.length === 0 || old.port !== now.port) continue
    const entry = tables.nat
      .get('KUBE-SERVICES')
      ?.find((rule) => rule.includes(`"default/${name}:http cluster IP"`))
    const chain = /-j (KUBE-SVC-\S+)/.exec(entry ?? '')?.[1]
    const rules = tables.nat.get(chain ?? '') ?? []
    const choices = rules.filter((rule) => rule.includes('-j KUBE-SEP-'))
    const end = choices.findIndex((rule) => !rule.includes('--probability'))
    expect(end).toBeGreaterThanOrEqual(0)
    expect(rules.some((rule) => rule.includes('KUBE-MARK-MASQ'))).toBe(true)
    for (const rule of choices) {
      const endpoint = /-j (KUBE-SEP-\S+)/.exec(rule)?.[1] ?? ''
      expect(tables.nat.get(endpoint)?.at(-1)).toContain('-j DNAT')
    }
  }
}
