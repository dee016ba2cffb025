import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { arrangeForKernel } from '../../src-main/domain/kube-proxy/arrange-for-kernel.ts'
import { planSync } from '../../src-main/domain/kube-proxy/sync.ts'
import { appliedObjects, applyObjects } from '../../src-main/domain/kubernetes/cluster.ts'
import { createCluster, listObjects } from '../../src-main/domain/kubernetes/cluster-objects.ts'
import { defaultClusterConfig } from '../../src-main/domain/kubernetes/default-cluster.ts'
import { parseManifests } from '../../src-main/domain/kubernetes/parse-manifests.ts'
import {
  type Host,
  type HostId,
  planClient,
  planNode,
  planPod,
  type Route,
  SWITCH,
  SWITCH_SYSCTLS,
  type Sysctl,
} from '../../src-main/domain/topology/plan-network.ts'
import { labNodeConfig } from '../../src-main/lab/node-proxy.ts'
import { temporaryFolder } from './open-lab.ts'

/** Writes what bare-lab.sh reads into a new folder: the lab's own plans and rules, for this manifest. */
export function writeBareLab(manifest: string): string {
  const folder = temporaryFolder()
  const write = (name: string, lines: readonly string[]): void =>
    writeFileSync(join(folder, name), lines.map((line) => `${line}\n`).join(''))
  const attachment = existsSync('/proc/sys/net/bridge/bridge-nf-call-iptables') ? 'bridge' : 'routed'

  const config = defaultClusterConfig({ workers: 2 })
  const now = new Date().toISOString()
  const parsed = parseManifests('bench.yaml', manifest)
  const { cluster } = applyObjects(createCluster(config, now), appliedObjects(parsed), now)
  const places = config.nodes.map(({ name, internalIP, podCIDRs }) => ({
    name,
    address: internalIP,
    podCIDR: podCIDRs[0] ?? '',
  }))
  const pods = listObjects(cluster, 'Pod').flatMap(({ metadata, spec, status }, serial) => {
    const place = places.find(({ name }) => name === spec.nodeName)
    return place ? [planPod({ ...metadata, ip: status.podIPs[0] ?? '' }, place, serial + 1, attachment)] : []
  })
  const nodes = places.map((place, at) => planNode(place, places, at, attachment))
  // Pods' ends come up before the nodes', as the kernel wants it.
  const hosts = [planClient(), ...pods, ...nodes]

  write(
    'hosts',
    hosts.map(({ id }) => `${file(id)} ${id.split('/')[0]}`),
  )
  write('switch.sysctls', SWITCH_SYSCTLS.filter(isHere).map(sysctl))
  write('links', [
    'link set lo up',
    `link add ${SWITCH.bridge} type bridge`,
    `address add ${SWITCH.address}/${SWITCH.prefix} dev ${SWITCH.bridge}`,
    `link set ${SWITCH.bridge} up`,
    ...hosts.map(({ id }) => `netns add ${file(id)}`),
    ...hosts.map(({ id, cable: { inner, outer } }) => {
      const place = outer.host === 'switch' ? '' : ` netns ${file(outer.host)}`
      return `link add ${outer.name}${place} type veth peer name ${inner.name} netns ${file(id)}`
    }),
  ])
  write('ports', hosts.filter(({ cable }) => cable.outer.host === 'switch').flatMap(outerLines))
  const view = {
    services: listObjects(cluster, 'Service'),
    endpointSlices: listObjects(cluster, 'EndpointSlice'),
  }
  for (const host of hosts) {
    write(`${file(host.id)}.sysctls`, host.sysctls.filter(isHere).map(sysctl))
    write(`${file(host.id)}.ip`, [
      ...innerLines(host),
      ...hosts.filter(({ cable }) => cable.outer.host === host.id).flatMap(outerLines),
    ])
  }
  for (const place of places) {
    const plan = planSync(
      undefined,
      {
        ...view,
        node: listObjects(cluster, 'Node').find(({ metadata }) => metadata.name === place.name),
        config: labNodeConfig(place, config.clusterCIDRs, config.serviceCIDRs),
        family: 'IPv4',
      },
      { nowMs: 0 },
    )
    const jumps = (['filter', 'nat'] as const).flatMap((table) => [
      `*${table}`,
      ...plan.entryJumps.filter((jump) => jump.table === table).map(({ from, text }) => `-I ${from} ${text}`),
      'COMMIT',
    ])
    const rules = arrangeForKernel(undefined, plan).flatMap((text) => text.trimEnd().split('\n'))
    // One file as one would write it: the jumps stand in each table's own section.
    write(`node-${place.name}.rules`, mergeTables([...rules, ...jumps]))
  }
  return folder
}

function mergeTables(lines: readonly string[]): string[] {
  const sections = new Map<string, string[]>()
  let section: string[] = []
  for (const line of lines) {
    if (line.startsWith('*')) {
      section = sections.get(line) ?? []
      sections.set(line, section)
    } else if (line !== 'COMMIT') section.push(line)
  }
  return [...sections].flatMap(([table, body]) => [table, ...body, 'COMMIT'])
}

/** A name for `ip netns` and for files. */
const file = (id: HostId): string => id.replaceAll('/', '-')

const isHere = ({ path, mayBeMissing }: Sysctl): boolean => !mayBeMissing || existsSync(`/proc/sys/${path}`)
const sysctl = ({ path, value }: Sysctl): string => `${path} ${value}`

function innerLines({ cable: { inner }, bridge }: Host): string[] {
  return [
    'link set lo up',
    ...inner.addresses.map((address) => `address add ${address} dev ${inner.name}`),
    `link set ${inner.name} up`,
    ...(bridge
      ? [
          `link add ${bridge.name} type bridge`,
          ...bridge.addresses.map((address) => `address add ${address} dev ${bridge.name}`),
          `link set ${bridge.name} up`,
        ]
      : []),
    ...inner.routes.map((route) => routeLine(route, inner.name)),
  ]
}

function outerLines({ cable: { outer } }: Host): string[] {
  return [
    ...outer.addresses.map((address) => `address add ${address} dev ${outer.name}`),
    `link set ${outer.name} up`,
    ...(outer.bridge ? [`link set ${outer.name} master ${outer.bridge}`] : []),
    ...(outer.hairpin ? [`link set ${outer.name} type bridge_slave hairpin on`] : []),
    ...outer.routes.map((route) => routeLine(route, outer.name)),
  ]
}

function routeLine({ to, via, scope }: Route, dev: string): string {
  return `route add ${to}${via ? ` via ${via}` : ''} dev ${dev}${scope ? ` scope ${scope}` : ''}`
}
