import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { arrangeForKernel } from '../../src-main/domain/kube-proxy/arrange-for-kernel.ts'
import { entryJumps, formatEntryCommands } from '../../src-main/domain/kube-proxy/entry-jumps.ts'
import { formatSave } from '../../src-main/domain/kube-proxy/format-save.ts'
import { applyEntryJumps, applyRestore, emptyTables } from '../../src-main/domain/kube-proxy/kernel-tables.ts'
import type { NodeConfig } from '../../src-main/domain/kube-proxy/node-config.ts'
import { formatRestore } from '../../src-main/domain/kube-proxy/restore.ts'
import { type ProxierState, planSync } from '../../src-main/domain/kube-proxy/sync.ts'
import type { EndpointSlice, IpFamily, Service } from '../../src-main/domain/kubernetes/objects.ts'
import {
  buildLargeCluster,
  buildService,
  buildSlice,
  plainConfig,
} from '../domain/kube-proxy/large-cluster.ts'
import { goldens } from '../domain/kube-proxy/load-golden.ts'
import { syncSteps } from '../domain/kube-proxy/sync-steps.ts'

/** Texts to feed to a fresh set of entry jumps one after another, and what iptables-save must print then. */
interface Load {
  readonly name: string
  readonly family: IpFamily
  readonly stages: readonly { readonly texts: readonly string[]; readonly saved: string }[]
}

const asRoot = process.getuid?.() === 0
const missing = [
  'unshare',
  'iptables-nft',
  'ip6tables-nft',
  'iptables-nft-restore',
  'iptables-nft-save',
].filter((tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0)
const wayIn = {
  /** Root in the machine's own user namespace; nothing but the network is fresh. */
  root: ['unshare', '--net'],
  /** An ordinary user, root only in a user namespace of its own. */
  user: [
    ...(asRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []),
    ...['unshare', '--user', '--map-root-user', '--net'],
  ],
}

function reasonToSkip(way: keyof typeof wayIn): string | undefined {
  if (missing.length > 0) return `not installed: ${missing.join(', ')}`
  if (way === 'root' && !asRoot) return 'needs root'
  const [command = '', ...args] = wayIn[way]
  const probe = spawnSync(command, [...args, 'iptables-nft', '-t', 'nat', '-L', '-n'], { encoding: 'utf8' })
  return probe.status === 0 ? undefined : `no namespace with iptables: ${probe.stderr}${probe.error ?? ''}`
}

let allRuns = ''
beforeAll(() => {
  allRuns = mkdtempSync(join(tmpdir(), 'chainwalk-golden-'))
  chmodSync(allRuns, 0o755)
})
afterAll(() => rmSync(allRuns, { recursive: true, force: true }))

/** Readable and writable for the ordinary user that the test turns into. */
function openFolder(): string {
  const run = mkdtempSync(join(allRuns, 'run-'))
  chmodSync(run, 0o777)
  return run
}

/** Runs all loads in one namespace, which ends with the shell, and gives what was printed at each stage. */
function runLoads(way: keyof typeof wayIn, loads: readonly Load[]): { saved: string[][]; stderr: string } {
  const folder = openFolder()
  const script = ['cd "$1" || exit 3']
  for (const family of ['IPv4', 'IPv6'] as const) {
    const tool = toolOf(family)
    for (const command of formatEntryCommands(entryJumps, family))
      script.push(command.replace(/^\w+/, `${tool}`))
    script.push(`${tool}-save > base.${family}`)
  }
  for (const [i, { name, family, stages }] of loads.entries()) {
    const tool = toolOf(family)
    script.push(`echo "# ${name}" >&2`, `${tool}-restore < base.${family}`)
    for (const [j, { texts }] of stages.entries()) {
      for (const [k, text] of texts.entries()) {
        const file = `${i}.${j}.${k}.restore`
        writeFileSync(join(folder, file), text)
        script.push(`${tool}-restore -w 5 --noflush --counters < ${file}`)
      }
      script.push(`${tool}-save > ${i}.${j}.save`)
    }
  }
  writeFileSync(join(folder, 'run.sh'), script.join('\n'))
  const [command = '', ...args] = wayIn[way]
  const run = spawnSync(command, [...args, 'sh', join(folder, 'run.sh'), folder], {
    encoding: 'utf8',
    timeout: 240_000,
    env: { ...process.env, LC_ALL: 'C' },
  })
  const saved = loads.map(({ stages }, i) =>
    stages.map((_, j) => withoutRemarks(readFileSync(join(folder, `${i}.${j}.save`), 'utf8'))),
  )
  return { saved, stderr: run.stderr }
}

function toolOf(family: IpFamily): string {
  return family === 'IPv4' ? 'iptables-nft' : 'ip6tables-nft'
}

function withoutRemarks(save: string): string {
  return save.replaceAll(/^#.*\n/gm, '')
}

/** With `maxRules` the text arranged for the kernel, without it the real kube-proxy's. */
function goldenLoads(arranged: { maxRules: number } | undefined): Load[] {
  return goldens.flatMap((golden) =>
    golden.config.ipFamilies.map((family) => {
      let state: ProxierState | undefined
      const stages = syncSteps(golden, family).map((plan, i) => {
        const texts = arranged ? arrangeForKernel(state, plan, arranged) : [formatRestore(plan.restore)]
        state = plan.state
        return { texts, saved: golden.expected(family, 'save', i + 1) ?? 'no golden' }
      })
      return { name: `${golden.name} ${family}`, family, stages }
    }),
  )
}

describe.each([
  { way: 'root', arranged: undefined, what: 'the real text' },
  { way: 'root', arranged: { maxRules: Number.POSITIVE_INFINITY }, what: 'one arranged text' },
  { way: 'user', arranged: { maxRules: 200 }, what: 'arranged texts of at most 200 rules' },
] as const)('the kernel as $way, given $what', ({ way, arranged }) => {
  it('gives back every golden', { timeout: 300_000 }, ({ skip }) => {
    const reason = reasonToSkip(way)
    if (reason && !process.env['CI']) skip(reason)
    expect(reason).toBeUndefined()
    const loads = goldenLoads(arranged)
    const { saved, stderr } = runLoads(way, loads)
    expect(stderr.replaceAll(/^# .*\n/gm, '')).toBe('')
    for (const [i, load] of loads.entries())
      for (const [j, stage] of load.stages.entries())
        expect({ name: load.name, saved: saved[i]?.[j] }).toEqual({ name: load.name, saved: stage.saved })
  })
})

describe.each([
  { way: 'root', maxRules: Number.POSITIVE_INFINITY },
  { way: 'user', maxRules: 200 },
] as const)('the kernel as $way, given changes of a large cluster', ({ way, maxRules }) => {
  it('ends with the rules of the real text', { timeout: 300_000 }, ({ skip }) => {
    const reason = reasonToSkip(way)
    if (reason && !process.env['CI']) skip(reason)
    expect(reason).toBeUndefined()
    const load = largeLoad(maxRules)
    const { saved, stderr } = runLoads(way, [load])
    expect(stderr.replaceAll(/^# .*\n/gm, '')).toBe('')
    for (const [j, stage] of load.stages.entries()) expect(saved[0]?.[j]).toBe(stage.saved)
  })
})

describe('the kernel, given what no golden has', () => {
  it('gives back what formatSave says', { timeout: 120_000 }, ({ skip }) => {
    const reason = reasonToSkip('user')
    if (reason && !process.env['CI']) skip(reason)
    expect(reason).toBeUndefined()
    const loads = oddLoads()
    const { saved, stderr } = runLoads('user', loads)
    expect(stderr.replaceAll(/^# .*\n/gm, '')).toBe('')
    for (const [i, { name, stages }] of loads.entries())
      expect({ name, saved: saved[i]?.[0] }).toEqual({ name, saved: stages[0]?.saved })
  })
})

/** Every kind of rule on IPv6, the ends of the mark, and interfaces as detectors. */
function oddLoads(): Load[] {
  const spec: Partial<Service['spec']> = {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    sessionAffinity: 'ClientIP',
    healthCheckNodePort: 32000,
    ports: [
      { name: 'dns', protocol: 'UDP', port: 53, targetPort: 53, nodePort: 30053 },
      { name: 'http', protocol: 'TCP', port: 80, targetPort: 80, nodePort: 30080 },
    ],
  }
  const configs: Partial<NodeConfig>[] = [
    { masqueradeBit: 31 },
    { masqueradeBit: 0, detectLocal: { mode: 'BridgeInterface', bridgeInterface: 'cni0' } },
    { detectLocal: { mode: 'InterfaceNamePrefix', interfaceNamePrefix: 'veth' }, localhostNodePorts: false },
  ]
  return (['IPv4', 'IPv6'] as const).flatMap((family) =>
    configs.map((config, i): Load => {
      const [own, outside, range, pod] =
        family === 'IPv4'
          ? ['10.96.0.1', '198.51.100.7', '192.168.0.0/16', '10.244.1.7']
          : ['fd00:96::1', '2001:db8::7', 'fd00:10::/32', 'fd00:244::7']
      const service = buildService('web', own, {
        ...spec,
        externalIPs: [outside],
        loadBalancerSourceRanges: [range],
      })
      const ingress = [{ ip: outside }]
      const plan = planSync(
        undefined,
        {
          services: [
            { ...service, status: { loadBalancer: { ingress } } },
            buildService('none', family === 'IPv4' ? '10.96.0.2' : 'fd00:96::2'),
          ],
          endpointSlices: [{ ...buildSlice('web', [pod]), addressType: family }],
          node: undefined,
          config: { ...plainConfig, nodeIPs: ['192.168.0.2', 'fd00:10::2'], ...config },
          family,
        },
        { nowMs: 0 },
      )
      const text = formatRestore(plan.restore)
      const tables = applyRestore(applyEntryJumps(emptyTables, entryJumps), text)
      return {
        name: `${family} ${i}`,
        family,
        stages: [{ texts: [text], saved: formatSave(tables, family) }],
      }
    }),
  )
}

function largeLoad(maxRules: number): Load {
  let tables = applyEntryJumps(emptyTables, entryJumps)
  let state: ProxierState | undefined
  const stages = largeSteps().map((objects, i) => {
    const plan = planSync(
      state,
      { ...objects, node: undefined, config: plainConfig, family: 'IPv4' },
      { nowMs: i * 60_000 },
    )
    const texts = arrangeForKernel(state, plan, { maxRules })
    tables = applyRestore(tables, formatRestore(plan.restore))
    state = plan.state
    return { texts, saved: formatSave(tables, 'IPv4') }
  })
  return { name: 'large', family: 'IPv4', stages }
}

/** About 5,000 rules; then one endpoint, many Services and a very large Service change. */
function largeSteps(): { services: readonly Service[]; endpointSlices: readonly EndpointSlice[] }[] {
  const { services, endpointSlices } = buildLargeCluster(250, 5)
  const wide = buildService('wide', '10.97.0.1', {
    type: 'NodePort',
    externalTrafficPolicy: 'Local',
    sessionAffinity: 'ClientIP',
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30080 }],
  })
  const addresses = Array.from({ length: 250 }, (_, i) => `10.250.0.${i + 1}`)
  const start = {
    services: [...services, wide],
    endpointSlices: [...endpointSlices, buildSlice('wide', addresses)],
  }
  const oneEndpoint = {
    ...start,
    endpointSlices: start.endpointSlices.map((slice, i) =>
      i === 100 ? buildSlice('svc-00100', ['10.128.1.244', '10.1.1.1']) : slice,
    ),
  }
  const fewerServices = {
    services: start.services.filter((_, i) => i % 3 !== 0),
    endpointSlices: start.endpointSlices.filter((_, i) => i % 3 !== 0),
  }
  const otherWide = {
    ...start,
    endpointSlices: [...endpointSlices, buildSlice('wide', addresses.slice(40, 230))],
  }
  return [start, oneEndpoint, fewerServices, start, otherWide]
}
