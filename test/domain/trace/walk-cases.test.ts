import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseSave } from '../../../src-main/domain/iptables/parse-save.ts'
import type { RuleSet } from '../../../src-main/domain/iptables/rule-set.ts'
import { formatSave } from '../../../src-main/domain/kube-proxy/format-save.ts'
import {
  applyEntryJumps,
  applyRestore,
  emptyTables,
} from '../../../src-main/domain/kube-proxy/kernel-tables.ts'
import { formatRestore } from '../../../src-main/domain/kube-proxy/restore.ts'
import { planSync } from '../../../src-main/domain/kube-proxy/sync.ts'
import { appliedObjects } from '../../../src-main/domain/kubernetes/cluster.ts'
import { createClusterFromManifests } from '../../../src-main/domain/kubernetes/cluster-from-manifests.ts'
import { listObjects } from '../../../src-main/domain/kubernetes/cluster-objects.ts'
import { parseManifests } from '../../../src-main/domain/kubernetes/parse-manifests.ts'
import type { WalkContext } from '../../../src-main/domain/trace/walk-context.ts'
import type { WalkPacket } from '../../../src-main/domain/trace/walk-packet.ts'
import { hopsOf, type WalkPath } from '../../../src-main/domain/trace/walk-path.ts'
import { walkRuleset } from '../../../src-main/domain/trace/walk-ruleset.ts'
import { plainConfig } from '../kube-proxy/large-cluster.ts'

/**
 * The paths of test/cases/NN/EXPECT.md, recorded from the kernel on the test bed that they describe: client 192.0.2.50,
 * node-a 192.0.2.10 with pods 10.244.1.2 and .3, node-b with pod 10.244.2.2.
 */
const cases = join(import.meta.dirname, '../../cases')

const nodeA: WalkContext = {
  node: 'node-a',
  interfaces: [
    { name: 'lo', addresses: ['127.0.0.1/8'] },
    { name: 'eth0', addresses: ['192.0.2.10/24'] },
    { name: 'cni0', addresses: ['10.244.1.1/24'] },
  ],
  routes: [
    { to: '10.244.2.0/24', via: '192.0.2.11', dev: 'eth0' },
    { to: 'default', via: '192.0.2.1', dev: 'eth0' },
  ],
  sysctls: { ipForward: true, routeLocalnet: true, rpFilter: 0 },
  bridges: ['cni0'],
}

const CLIENT = { protocol: 'tcp', src: '192.0.2.50', in: 'eth0', sport: 40000 }
const POD_A = { protocol: 'tcp', src: '10.244.1.2', in: 'cni0', sport: 40000 }
const NODE = { protocol: 'tcp', src: '192.0.2.10', sport: 40000 }

function read(name: string): string {
  return readFileSync(join(cases, name), 'utf8')
}

function parse(save: string): RuleSet {
  const { ruleSet, problems } = parseSave(save)
  if (!ruleSet) throw new Error(JSON.stringify(problems))
  return ruleSet
}

/** node-a's rules, as kube-proxy makes them of a case's manifest. */
function rulesOf(file: string): RuleSet {
  const items = appliedObjects(parseManifests(file, read(file)))
  const { cluster } = createClusterFromManifests(items, new Date(0).toISOString(), {})
  const plan = planSync(
    undefined,
    {
      services: listObjects(cluster, 'Service'),
      endpointSlices: listObjects(cluster, 'EndpointSlice'),
      node: undefined,
      config: { ...plainConfig, nodeIPs: ['192.0.2.10'] },
      family: 'IPv4',
    },
    { nowMs: 0 },
  )
  const tables = applyRestore(applyEntryJumps(emptyTables, plan.entryJumps), formatRestore(plan.restore))
  return parse(formatSave(tables, 'IPv4'))
}

/** The code blocks of an EXPECT.md that show a path. */
function expectedPaths(name: string): string[][] {
  const blocks = read(`${name}/EXPECT.md`).match(/(?<=```text\n)(nat|filter):[\s\S]*?(?=```)/g) ?? []
  return blocks.map((block) => block.trim().split('\n'))
}

const DECIDED: Record<string, string> = {
  REJECT: 'DROP',
  DNAT: 'ACCEPT',
  MASQUERADE: 'ACCEPT',
  MARK: 'CONTINUE',
}

/** A path as xtables-monitor prints it. */
function monitorLines(path: WalkPath): string[] {
  // It does not print the ends of chains.
  const shown = hopsOf(path).filter(({ kind }) => kind !== 'end')
  return shown.map((hop) => {
    const place = `${hop.table}:${hop.chain}`
    if (hop.kind !== 'rule') return `${place} policy ${hop.verdict}`
    const verdict = DECIDED[hop.verdict] ?? (hop.verdict === 'JUMP' ? `JUMP:${hop.target}` : hop.verdict)
    return `${place} [${verdict}] -A ${hop.chain} ${hop.text}`
  })
}

function onlyPath(ruleSet: RuleSet, packet: WalkPacket): WalkPath {
  const { paths, notes } = walkRuleset(ruleSet, packet, nodeA)
  expect(notes).toEqual([])
  expect(paths).toHaveLength(1)
  const [path] = paths
  if (!path) throw new Error('no path')
  expect(path).toMatchObject({ chance: { text: '1' }, isConditional: false, choices: [] })
  return path
}

describe('23: an old kube-proxy marks for drop in nat and drops in filter', () => {
  const ruleSet = parse(read('23-xlb-no-local-endpoint/dump.txt'))
  const [fromClient, fromPod, fromNode] = expectedPaths('23-xlb-no-local-endpoint')

  test('client: dropped', () => {
    const path = onlyPath(ruleSet, { ...CLIENT, dst: '192.0.2.10', dport: 31080 })
    expect(monitorLines(path)).toEqual(fromClient)
    expect(path.outcome).toEqual({
      kind: 'dropped',
      by: { table: 'filter', chain: 'KUBE-FIREWALL', rule: 1 },
    })
    expect(path.packet.mark).toBe(0x8000)
  })

  test('pod: the short cut to the service chain, not masqueraded', () => {
    const path = onlyPath(ruleSet, { ...POD_A, dst: '192.0.2.10', dport: 31080 })
    expect(monitorLines(path)).toEqual(fromPod)
    expect(path.outcome).toEqual({ kind: 'forwarded', dev: 'eth0', via: '192.0.2.11' })
    expect(path.packet).toMatchObject({ src: '10.244.1.2', sport: 40000, dst: '10.244.2.2', dport: 8080 })
  })

  test('node: masqueraded', () => {
    const path = onlyPath(ruleSet, { ...NODE, dst: '192.0.2.10', dport: 31080 })
    expect(monitorLines(path)).toEqual(fromNode)
    expect(path.packet).toMatchObject({ src: '192.0.2.10', dst: '10.244.2.2', dport: 8080, out: 'eth0' })
  })
})

describe('24: a node port without endpoints refuses a host process on its number', () => {
  const ruleSet = rulesOf('24-nodeport-reject-hits-host-process/service.yaml')
  const [fromClient] = expectedPaths('24-nodeport-reject-hits-host-process')
  const refused = { kind: 'rejected', answer: 'icmp-port-unreachable' }

  test('client', () => {
    const path = onlyPath(ruleSet, { ...CLIENT, dst: '192.0.2.10', dport: 32445 })
    expect(monitorLines(path)).toEqual(fromClient)
    expect(path.outcome).toMatchObject(refused)
  })

  test.each(['192.0.2.10', '127.0.0.1'])('the node itself to %s: on INPUT, behind lo', (dst) => {
    const path = onlyPath(ruleSet, { ...NODE, src: dst, dst, dport: 32445 })
    expect(path.outcome).toMatchObject(refused)
    expect(hopsOf(path).at(-1)).toMatchObject({ hook: 'INPUT', chain: 'KUBE-EXTERNAL-SERVICES' })
    // The nat table is not asked a second time for what comes back over lo.
    expect(hopsOf(path).filter(({ table, hook }) => table === 'nat' && hook === 'PREROUTING')).toEqual([])
  })
})

describe('25: FORWARD with policy DROP', () => {
  const made = rulesOf('25-docker-forward-drop/service.yaml')
  const docker = parse(read('25-docker-forward-drop/filter-dump.txt'))
  const ruleSet: RuleSet = { tables: [...docker.tables, ...made.tables.filter(({ name }) => name === 'nat')] }
  const [fromPod, fromClient] = expectedPaths('25-docker-forward-drop')

  test('pod to service: dropped by the policy', () => {
    const path = onlyPath(ruleSet, { ...POD_A, dst: '10.96.0.40', dport: 80 })
    expect(monitorLines(path)).toEqual(fromPod)
    expect(path.outcome).toEqual({ kind: 'dropped', by: { table: 'filter', chain: 'FORWARD', rule: null } })
  })

  test('client to node port: marked, so let through', () => {
    const path = onlyPath(ruleSet, { ...CLIENT, dst: '192.0.2.10', dport: 31080 })
    expect(monitorLines(path)).toEqual(fromClient)
    expect(path.packet).toMatchObject({ src: '192.0.2.10', sport: 0, dst: '10.244.2.2', mark: 0 })
  })

  test('node to service: OUTPUT, not FORWARD', () => {
    const path = onlyPath(ruleSet, { ...NODE, dst: '10.96.0.40', dport: 80 })
    expect(path.outcome).toMatchObject({ kind: 'forwarded', dev: 'eth0' })
    expect(new Set(hopsOf(path).map(({ hook }) => hook))).toEqual(new Set(['OUTPUT', 'POSTROUTING']))
  })
})

test('26: a pod that calls its own service comes back masqueraded by its own bridge port', () => {
  const ruleSet = rulesOf('26-hairpin-own-service/service.yaml')
  const packet = { ...POD_A, dst: '10.96.0.40', dport: 80 }
  const path = onlyPath(ruleSet, packet)
  expect(monitorLines(path)).toEqual(expectedPaths('26-hairpin-own-service')[0])
  expect(path.packet).toMatchObject({ src: '10.244.1.1', dst: '10.244.1.2', in: 'cni0', out: 'cni0' })
  expect(walkRuleset(ruleSet, packet, nodeA).dependsOn).toContainEqual({
    kind: 'bridge',
    text: 'the packet goes back to its sender by cni0: a bridge port must have hairpin mode on',
  })
})

describe('33: no endpoints', () => {
  const ruleSet = rulesOf('33-no-endpoints-reject/service.yaml')
  test.each([
    ['pod to cluster IP', { ...POD_A, dst: '10.96.0.40', dport: 80 }, 'KUBE-SERVICES'],
    ['node to cluster IP', { ...NODE, dst: '10.96.0.40', dport: 80 }, 'KUBE-SERVICES'],
    ['pod to external IP', { ...POD_A, dst: '203.0.113.10', dport: 80 }, 'KUBE-EXTERNAL-SERVICES'],
    ['client to node port', { ...CLIENT, dst: '192.0.2.10', dport: 31080 }, 'KUBE-EXTERNAL-SERVICES'],
  ])('%s is refused', (_, packet, chain) => {
    const path = onlyPath(ruleSet, packet)
    expect(path.outcome).toMatchObject({ kind: 'rejected', by: { chain }, answer: 'icmp-port-unreachable' })
  })

  test('another port of the cluster IP is left to the route', () => {
    const path = onlyPath(ruleSet, { ...POD_A, dst: '10.96.0.40', dport: 81 })
    expect(path.outcome).toEqual({ kind: 'forwarded', dev: 'eth0', via: '192.0.2.1' })
  })
})

describe('34: policy Local without a local endpoint', () => {
  const ruleSet = rulesOf('34-etp-local-no-local-endpoint/service.yaml')
  const [fromClient] = expectedPaths('34-etp-local-no-local-endpoint')

  test('client: dropped', () => {
    const path = onlyPath(ruleSet, { ...CLIENT, dst: '192.0.2.10', dport: 31080 })
    expect(monitorLines(path)).toEqual(fromClient)
    expect(path.outcome.kind).toBe('dropped')
  })

  test.each([
    ['pod to load balancer', { ...POD_A, dst: '203.0.113.10', dport: 80 }, '10.244.1.2'],
    ['node to load balancer', { ...NODE, dst: '203.0.113.10', dport: 80 }, '192.0.2.10'],
    ['pod to cluster IP', { ...POD_A, dst: '10.96.0.40', dport: 80 }, '10.244.1.2'],
  ])('%s: reaches the endpoint on node-b', (_, packet, src) => {
    const path = onlyPath(ruleSet, packet)
    expect(path.outcome.kind).toBe('forwarded')
    expect(path.packet).toMatchObject({ src, dst: '10.244.2.2', dport: 8080 })
  })
})
