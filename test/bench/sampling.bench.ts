import { setTimeout as sleep } from 'node:timers/promises'
import { buildLargeCluster } from '../domain/kube-proxy/large-cluster.ts'
import type { Bench, Measure } from './measure.ts'
import { type OpenLab, openHttpServerLab, openLab } from './open-lab.ts'
import { cpuSeconds } from './processes.ts'

const seconds = 10
const intervalMs = 200
/** 17 rules each: about 10,000. */
const services = 590
const endpoints = 5
const node = 'node/worker1'

/** Processor time of the holder, its children's included, while nothing moves. */
export const sampling: Bench = {
  name: `counters sampled every ${intervalMs} ms while nothing moves, for ${seconds} s`,
  async run() {
    const measures: Measure[] = []
    for (const [size, open] of [
      ['the default lab', openHttpServerLab],
      ['10,000 rules', openLargeLab],
    ] as const) {
      const lab = await open()
      try {
        const rules = await natChains(lab)
        measures.push(
          { label: `${size}: nobody looks`, ...(await loadOf(lab, [])), limit: 1 },
          { label: `${size}: one Service’s way`, ...(await loadOf(lab, [oneWay(rules)])), limit: 5 },
          {
            label: `${size}: all of nat (${[...rules.values()].flat().length} rules)`,
            ...(await loadOf(lab, [[]])),
            limit: 5,
          },
        )
      } finally {
        await lab.close()
      }
    }
    return measures
  },
}

async function loadOf(
  lab: OpenLab,
  wishes: readonly (readonly string[])[],
): Promise<Pick<Measure, 'value' | 'unit'>> {
  const { connection } = lab
  let samples = 0
  const stop = connection.on('counters/sample', () => {
    samples += 1
  })
  const subscriptions = await Promise.all(
    wishes.map((chains) =>
      connection.request('counters/subscribe', { target: node, table: 'nat', chains, intervalMs }),
    ),
  )
  await sleep(2500) // the first sample, and what a start leaves to tidy up
  const before = cpuSeconds(lab.holderPid)
  await sleep(seconds * 1000)
  const value = ((cpuSeconds(lab.holderPid) - before) / seconds) * 100
  for (const subscription of subscriptions) await connection.request('counters/unsubscribe', subscription)
  stop()
  if (samples !== wishes.length) throw new Error(`${samples} samples came, of ${wishes.length} still chains`)
  return { value, unit: '% of a core' }
}

/** The chains of nat with their rules. */
async function natChains(lab: OpenLab): Promise<ReadonlyMap<string, readonly string[]>> {
  const { chains } = await lab.connection.request('counters/read', { target: node, table: 'nat' })
  return new Map(chains.map(({ chain, rules }) => [chain, rules.map(({ text }) => text)]))
}

/** What somebody looks at who follows one Service: the chains from PREROUTING to its endpoints, and POSTROUTING's. */
function oneWay(rules: ReadonlyMap<string, readonly string[]>): string[] {
  const service = [...rules.keys()].find((chain) => chain.startsWith('KUBE-SVC-')) ?? ''
  const endpointChains = (rules.get(service) ?? []).flatMap(
    (text) => /-j (KUBE-SEP-\S+)/.exec(text)?.[1] ?? [],
  )
  if (endpointChains.length === 0) throw new Error('no Service has endpoints')
  return [
    ...['PREROUTING', 'OUTPUT', 'POSTROUTING', 'KUBE-SERVICES', 'KUBE-MARK-MASQ', 'KUBE-POSTROUTING'],
    service,
    ...endpointChains,
  ]
}

async function openLargeLab(): Promise<OpenLab> {
  const lab = await openLab()
  const cluster = buildLargeCluster(services, endpoints)
  const items = [
    ...cluster.services.map(({ metadata }) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: metadata.name },
      spec: { ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
    })),
    ...cluster.endpointSlices.map(({ metadata, addressType, ports, endpoints: all }) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: metadata.name, labels: metadata.labels },
      addressType,
      ports,
      endpoints: all.map(({ addresses }) => ({ addresses })),
    })),
  ]
  await lab.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  return lab
}
