import type { ChainName } from '../iptables/rule-set.ts'
import type { EndpointSlice, IpFamily, NodeObject, Service } from '../kubernetes/objects.ts'
import { isSameValue } from '../kubernetes/same-value.ts'
import { isServiceChain } from './chain-names.ts'
import { type EntryJump, entryJumps } from './entry-jumps.ts'
import { NamedMap, type ReadonlyNamedMap } from './named-map.ts'
import type { NodeConfig } from './node-config.ts'
import { buildNodeView, type NodeView } from './node-view.ts'
import { listOwnChains } from './own-chain-rules.ts'
import { planPort } from './port-plan.ts'
import type { Restore, RestorePort } from './restore.ts'
import { selectEndpoints } from './select-endpoints.ts'
import {
  groupSlices,
  type ProxiedEndpoint,
  type ProxiedPort,
  selectPortEndpoints,
  selectPorts,
} from './service-ports.ts'

export interface SyncInput {
  readonly services: readonly Service[]
  readonly endpointSlices: readonly EndpointSlice[]
  /** This node's object; undefined while it is not known. */
  readonly node: NodeObject | undefined
  readonly config: NodeConfig
  readonly family: IpFamily
}

export interface SyncOptions {
  /** Any clock that only runs forward. */
  readonly nowMs: number
  /** Asks for a full sync: after a failed restore, or when the canary chain has vanished. */
  readonly full?: boolean
  /** The chains of the kernel's nat table, where somebody looked; else what earlier syncs left there counts. */
  readonly natChains?: Iterable<string>
}

/** What one sync says, and what the next one needs to know of it. */
export interface SyncPlan {
  readonly state: ProxierState
  readonly full: boolean
  /** To ensure before the restore; only a full sync looks at them. */
  readonly entryJumps: readonly EntryJump[]
  readonly restore: Restore
  /** After the restore, conntrack entries may be stale: see `selectStaleConnections`. */
  readonly udpEndpointsChanged: boolean
}

/** A value: a failed sync is taken back by going on from the state before it, with `full`. */
export interface ProxierState {
  readonly view: NodeView
  readonly services: ReadonlyNamedMap<ServiceState>
  /** Every Service port, in the order of the rules. */
  readonly ports: readonly PortState[]
  readonly largeCluster: boolean
  /** Chains that stand in the kernel's nat table though no Service needs them any more. */
  readonly staleChains: ReadonlySet<ChainName>
  readonly lastFullSyncMs: number
  readonly lastCleanUpMs: number
}

export interface ServiceState {
  readonly service: Service
  readonly slices: readonly EndpointSlice[]
  readonly ports: readonly PortState[]
}

/** A Service port as the kernel has it. */
export interface PortState extends RestorePort, PortEndpoints {}

/** More endpoints than this, summed over Service ports, and the rules per endpoint lose their comments. */
const largeClusterEndpoints = 1000
const fullSyncPeriodMs = 60 * 60 * 1000
/** kube-proxy's iptables.syncPeriod. */
const cleanUpPeriodMs = 30 * 1000

const noSlices: readonly EndpointSlice[] = []

/** The next sync of one family's proxier; without a state it is the first. */
export function planSync(
  previous: ProxierState | undefined,
  input: SyncInput,
  options: SyncOptions,
): SyncPlan {
  const view = buildNodeView(input.config, input.node, input.family)
  const sameView = previous !== undefined && isSameValue(previous.view, view)
  const full =
    options.full === true ||
    !sameView ||
    (!previous.largeCluster && options.nowMs - previous.lastFullSyncMs > fullSyncPeriodMs)

  const found = findServices(previous, input)
  const largeCluster = countEndpoints(found) > largeClusterEndpoints
  const keepsRules = (state: PortState) => !full || (sameView && state.comments === !largeCluster)
  const changes: PortChanges = { kept: new Map(), added: [], removed: new Set() }
  const services = new NamedMap<ServiceState>()
  for (const { service, slices, before, newPorts } of found) {
    const { namespace, name } = service.metadata
    if (before && !newPorts && before.ports.every(keepsRules)) {
      const same = before.service === service && before.slices === slices
      services.set(namespace, name, same ? before : { ...before, service, slices })
      continue
    }
    const ports = (newPorts ?? before?.ports ?? []).map(({ port, endpoints }) =>
      buildPortState(port, endpoints, view, !largeCluster),
    )
    services.set(namespace, name, { service, slices, ports })
    comparePorts(changes, before?.ports ?? [], ports)
  }
  for (const { namespace, name, value } of previous?.services.values() ?? [])
    if (!services.get(namespace, name)) comparePorts(changes, value.ports, [])

  const ports = arrangePorts(previous?.ports ?? [], changes)
  const stale = findStaleChains(previous, ports, changes, options.natChains)
  const cleanUp = !previous || !largeCluster || options.nowMs - previous.lastCleanUpMs > cleanUpPeriodMs
  return {
    state: {
      view,
      services,
      ports,
      largeCluster,
      staleChains: cleanUp ? new Set() : stale,
      lastFullSyncMs: full || !previous ? options.nowMs : previous.lastFullSyncMs,
      lastCleanUpMs: cleanUp || !previous ? options.nowMs : previous.lastCleanUpMs,
    },
    full,
    entryJumps: full ? entryJumps : [],
    restore: {
      view,
      ports,
      rewritten: new Set(full ? ports : [...changes.kept.values(), ...changes.added]),
      deletedChains: cleanUp ? [...stale].sort() : [],
    },
    udpEndpointsChanged: haveUdpEndpointsChanged(changes),
  }
}

interface FoundService {
  readonly service: Service
  readonly slices: readonly EndpointSlice[]
  readonly before: ServiceState | undefined
  /** Undefined when neither the Service (as far as rules go) nor one of its slices has changed. */
  readonly newPorts: readonly PortEndpoints[] | undefined
}

interface PortEndpoints {
  readonly port: ProxiedPort
  /** All of them, chosen or not. */
  readonly endpoints: readonly ProxiedEndpoint[]
}

function findServices(previous: ProxierState | undefined, input: SyncInput): FoundService[] {
  const groups = groupSlices(input.endpointSlices, input.family)
  return input.services.map((service) => {
    const { namespace, name } = service.metadata
    const before = previous?.services.get(namespace, name)
    const slices = groups.get(namespace, name) ?? noSlices
    if (before && !hasChanged(before, service, slices, input.family)) {
      const kept = slices.every((slice, i) => slice === before.slices[i])
      return { service, slices: kept ? before.slices : slices, before, newPorts: undefined }
    }
    const newPorts = selectPorts(service, input.family).map((port) => ({
      port,
      endpoints: selectPortEndpoints(port, slices),
    }))
    return { service, slices, before, newPorts }
  })
}

function hasChanged(
  before: ServiceState,
  service: Service,
  slices: readonly EndpointSlice[],
  family: IpFamily,
): boolean {
  if (before.slices.length !== slices.length) return true
  if (slices.some((slice, i) => slice !== before.slices[i] && !isSameValue(slice, before.slices[i])))
    return true
  if (before.service === service) return false
  // A label or a selector may have changed: that is no change of rules.
  const ports = before.ports.map(({ port }) => port)
  return !isSameValue(selectPorts(service, family), ports)
}

function countEndpoints(found: readonly FoundService[]): number {
  let count = 0
  for (const { before, newPorts } of found)
    for (const { endpoints } of newPorts ?? before?.ports ?? []) count += endpoints.length
  return count
}

function buildPortState(
  port: ProxiedPort,
  endpoints: readonly ProxiedEndpoint[],
  view: NodeView,
  comments: boolean,
): PortState {
  return { port, endpoints, plan: planPort(port, selectEndpoints(port, endpoints, view)), comments }
}

/** The Service ports whose rules are not what they were; all others are the same value as before. */
interface PortChanges {
  /** From the old state of a port to its new one. */
  readonly kept: Map<PortState, PortState>
  readonly added: PortState[]
  readonly removed: Set<PortState>
}

function comparePorts(changes: PortChanges, before: readonly PortState[], now: readonly PortState[]): void {
  for (const state of now) {
    const old = before.find((each) => comparePlaces(each, state) === 0)
    if (old) changes.kept.set(old, state)
    else changes.added.push(state)
  }
  for (const old of before) if (!changes.kept.has(old)) changes.removed.add(old)
}

function haveUdpEndpointsChanged({ kept, added, removed }: PortChanges): boolean {
  const isUdp = ({ port }: PortState) => port.protocol === 'UDP'
  for (const [old, now] of kept)
    if (isUdp(now) && old.endpoints !== now.endpoints && !isSameValue(old.endpoints, now.endpoints))
      return true
  return [...added, ...removed].some((each) => isUdp(each) && each.endpoints.length > 0)
}

/** By name, then protocol. While no port comes or goes the order stands. */
function arrangePorts(
  before: readonly PortState[],
  { kept, added, removed }: PortChanges,
): readonly PortState[] {
  const ports = kept.size === 0 ? before : before.map((state) => kept.get(state) ?? state)
  if (added.length === 0 && removed.size === 0) return ports
  return [...ports.filter((state) => !removed.has(state)), ...added].sort(comparePlaces)
}

function comparePlaces({ port: a }: PortState, { port: b }: PortState): number {
  return compareText(a.name, b.name) || compareText(a.protocol, b.protocol)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function findStaleChains(
  previous: ProxierState | undefined,
  ports: readonly PortState[],
  { kept, added, removed }: PortChanges,
  natChains: Iterable<string> | undefined,
): ReadonlySet<ChainName> {
  const stale = new Set<ChainName>()
  if (natChains) {
    for (const chain of natChains) if (isServiceChain(chain)) stale.add(chain)
    for (const { plan } of ports) for (const chain of listOwnChains(plan)) stale.delete(chain)
    return stale
  }
  for (const chain of previous?.staleChains ?? []) stale.add(chain)
  for (const old of [...kept.keys(), ...removed])
    for (const chain of listOwnChains(old.plan)) stale.add(chain)
  for (const now of [...kept.values(), ...added])
    for (const chain of listOwnChains(now.plan)) stale.delete(chain)
  return stale
}
