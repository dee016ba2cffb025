import { mkdirSync, writeFileSync } from 'node:fs'
import { LabError } from '../../contract/errors.ts'
import type { LinkCounters, LinkInfo } from '../../contract/lab-contract.ts'
import {
  CLIENT,
  type Host,
  type HostId,
  type Route,
  SWITCH,
  SWITCH_SYSCTLS,
  type Sysctl,
} from '../../domain/topology/plan-network.ts'
import { mount, mountFlags } from '../kernel/mount.ts'
import {
  createMountNamespace,
  createNetworkNamespace,
  createUtsNamespace,
  inNamespaces,
  type NamespaceFd,
} from '../kernel/namespace.ts'
import { addAddress } from '../netlink/address-messages.ts'
import type { NetlinkRequest } from '../netlink/codec.ts'
import {
  addBridge,
  addVethPair,
  deleteLink,
  getLinks,
  setHairpin,
  setLink,
} from '../netlink/link-messages.ts'
import { addRoute, deleteRoute, replaceRoute } from '../netlink/route-messages.ts'
import { type NetlinkSocket, openNetlinkSocket } from '../netlink/socket.ts'
import { LAB_FILES, mountSysfs } from './enter-sandbox.ts'
import { type CableEnds, type LinkPlace, readLinkCounters, readLinks } from './read-links.ts'

/** Link indexes are chosen here, so that one message can create a link and the next one use it unasked. */
const INDEX = { loopback: 1, bridge: 50, inner: 100, firstOuter: 1000 } as const

/** A laid host: its namespaces live as long as this does. */
interface LiveHost {
  readonly plan: Host
  readonly net: NamespaceFd
  /** Kept open for nodes, to which pods come and go, and for the client; a pod's is closed once it is laid. */
  readonly route: NetlinkSocket
  readonly outerIndex: number
  /** Made for the first command that runs here. */
  shell?: { readonly uts: NamespaceFd; readonly mount: NamespaceFd }
}

/** The lab's namespaces and links in the kernel. All work is synchronous and batched. */
export class LabNetwork {
  readonly #hosts = new Map<HostId, LiveHost>()
  readonly #switch = openNetlinkSocket('route')
  #lastIndex: number = INDEX.firstOuter

  /** Lays the switch in the namespace that this process is in. */
  constructor() {
    writeSysctls(SWITCH_SYSCTLS)
    this.#switch.request(
      setLink(INDEX.loopback, { up: true }),
      addBridge({ name: SWITCH.bridge, index: INDEX.bridge, macAddress: macAddressOf(SWITCH.address) }),
      address(INDEX.bridge, `${SWITCH.address}/${SWITCH.prefix}`),
      setLink(INDEX.bridge, { up: true }),
    )
  }

  has(id: HostId): boolean {
    return this.#hosts.has(id)
  }

  /** Lays hosts with their cables; those that pods hang on must be laid already, or earlier in the list. */
  add(plans: readonly Host[]): void {
    for (const group of groupByOuter(plans)) this.#addToOne(group)
  }

  /** Takes hosts away with all that runs on their links. Unknown ones are passed over. */
  remove(ids: readonly HostId[]): void {
    for (const id of ids) {
      const host = this.#hosts.get(id)
      if (!host) continue
      this.#outerSocket(host.plan).request(deleteLink(host.outerIndex))
      host.shell?.uts.close()
      host.shell?.mount.close()
      if (host.route.isOpen) host.route.close()
      host.net.close()
      this.#hosts.delete(id)
    }
  }

  /** Runs synchronous `work` in the host's network namespace. */
  inNetwork<T>(id: HostId, work: () => T): T {
    return inNamespaces({ net: this.#find(id).net }, work)
  }

  /** Runs synchronous `work` as a command of that host sees the world: its network, hostname and /sys. */
  inHost<T>(id: HostId, work: () => T): T {
    const host = this.#find(id)
    host.shell ??= this.#makeShellNamespaces(host)
    return inNamespaces({ net: host.net, ...host.shell }, work)
  }

  /** Sets the client's routes to single addresses (external IPs, load balancers), replacing those set before. */
  setClientRoutes(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): void {
    const { route } = this.#find(CLIENT)
    const gone = [...before].filter(([to]) => !after.has(to))
    const changed = [...after].filter(([to, via]) => before.get(to) !== via)
    route.request(
      ...gone.map(([to]) => deleteRoute({ destination: `${to}/32`, link: INDEX.inner })),
      ...changed.map(([to, via]) =>
        replaceRoute({ destination: `${to}/32`, gateway: via, link: INDEX.inner }),
      ),
    )
  }

  /** The names of a host's links by index; of a host that has gone, none. */
  linkNames(id: HostId): ReadonlyMap<number, string> {
    if (!this.has(id)) return new Map()
    const socket = this.inNetwork(id, () => openNetlinkSocket('route'))
    try {
      return new Map(getLinks(socket).map(({ index, name }) => [index, name]))
    } finally {
      socket.close()
    }
  }

  /** Every link of the lab as the kernels have it. */
  links(): LinkInfo[] {
    return readLinks(this.#everyPlace(), this.#cables())
  }

  linkCounters(): LinkCounters[] {
    return readLinkCounters(this.#openPlaces(), this.#cables())
  }

  /** The namespaces that have a socket open anyway: all but the pods. */
  #openPlaces(): LinkPlace[] {
    const hosts = [...this.#hosts.values()].filter(({ route }) => route.isOpen)
    return [
      { host: 'switch', socket: this.#switch },
      ...hosts.map(({ plan, route }) => ({ host: plan.id, socket: route })),
    ]
  }

  /** All namespaces; a pod's socket is open only until the next one is asked for. */
  *#everyPlace(): Generator<LinkPlace> {
    yield* this.#openPlaces()
    for (const { plan, net, route } of this.#hosts.values()) {
      if (route.isOpen) continue
      const socket = inNamespaces({ net }, () =>
        openNetlinkSocket('route', { receiveBufferBytes: 64 * 1024 }),
      )
      try {
        yield { host: plan.id, socket }
      } finally {
        socket.close()
      }
    }
  }

  #cables(): CableEnds[] {
    return [...this.#hosts.values()].map(({ plan: { id, cable } }) => ({
      inner: { host: id, name: cable.inner.name },
      outer: { host: cable.outer.host, name: cable.outer.name },
    }))
  }

  #find(id: HostId): LiveHost {
    const host = this.#hosts.get(id)
    if (!host) throw new LabError('not-found', `${id} is not in this lab`)
    return host
  }

  #outerSocket(plan: Host): NetlinkSocket {
    const { host } = plan.cable.outer
    return host === 'switch' ? this.#switch : this.#find(host).route
  }

  #addToOne(plans: readonly Host[]): void {
    const [first] = plans
    if (!first) return
    const outer = this.#outerSocket(first)
    const laid = plans.map((plan): LiveHost => {
      const { net, route } = createHostNamespace(plan)
      this.#lastIndex += 1
      return { plan, net, route, outerIndex: this.#lastIndex }
    })
    outer.request(...laid.map(cable))
    for (const host of laid) host.route.request(...insideRequests(host))
    outer.request(...laid.flatMap(outsideRequests))
    for (const host of laid) {
      if (!host.plan.bridge && host.plan.id !== CLIENT) host.route.close()
      this.#hosts.set(host.plan.id, host)
    }
  }

  #makeShellNamespaces({ plan, net }: LiveHost): { uts: NamespaceFd; mount: NamespaceFd } {
    const folder = `${LAB_FILES}/hostname`
    mkdirSync(folder, { recursive: true })
    const file = `${folder}/${plan.hostname}`
    writeFileSync(file, `${plan.hostname}\n`)
    const uts = createUtsNamespace(plan.hostname)
    const mounted = inNamespaces({ net }, () =>
      createMountNamespace(() => {
        mountSysfs()
        mount(file, '/etc/hostname', null, mountFlags.bind)
      }),
    )
    return { uts, mount: mounted }
  }
}

/** The plans in runs that share the namespace of their cables' outer ends; one run is one batch. */
function groupByOuter(plans: readonly Host[]): Host[][] {
  const groups = new Map<string, Host[]>()
  for (const plan of plans) {
    const key = plan.cable.outer.host
    const group = groups.get(key)
    if (group) group.push(plan)
    else groups.set(key, [plan])
  }
  return [...groups.values()]
}

/** Writes them in the network namespace that this thread is in. */
function writeSysctls(sysctls: readonly Sysctl[]): void {
  for (const { path, value, mayBeMissing } of sysctls)
    try {
      writeFileSync(`/proc/sys/${path}`, value)
    } catch (error) {
      if (!mayBeMissing || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
}

function createHostNamespace(plan: Host): { net: NamespaceFd; route: NetlinkSocket } {
  let route: NetlinkSocket | undefined
  const net = createNetworkNamespace(() => {
    writeSysctls(plan.sysctls)
    route = openNetlinkSocket('route', { receiveBufferBytes: 64 * 1024 })
  })
  if (!route) throw new Error('the namespace was made without its socket')
  return { net, route }
}

function cable({ plan, net, outerIndex }: LiveHost): NetlinkRequest {
  const { inner, outer } = plan.cable
  const [own = ''] = inner.addresses
  return addVethPair({
    name: outer.name,
    index: outerIndex,
    peer: {
      name: inner.name,
      index: INDEX.inner,
      netns: net,
      macAddress: macAddressOf(own.split('/')[0] ?? ''),
    },
  })
}

function insideRequests({ plan }: LiveHost): NetlinkRequest[] {
  const { inner } = plan.cable
  const { bridge } = plan
  return [
    setLink(INDEX.loopback, { up: true }),
    ...inner.addresses.map((text) => address(INDEX.inner, text)),
    setLink(INDEX.inner, { up: true }),
    ...(bridge
      ? [
          addBridge({
            name: bridge.name,
            index: INDEX.bridge,
            macAddress: macAddressOf(bridge.addresses[0]?.split('/')[0] ?? ''),
          }),
          ...bridge.addresses.map((text) => address(INDEX.bridge, text)),
          setLink(INDEX.bridge, { up: true }),
        ]
      : []),
    ...inner.routes.map((route) => routeRequest(route, INDEX.inner)),
  ]
}

function outsideRequests({ plan, outerIndex }: LiveHost): NetlinkRequest[] {
  const { outer } = plan.cable
  return [
    ...outer.addresses.map((text) => address(outerIndex, text)),
    setLink(outerIndex, { up: true }),
    // A port that joins its bridge before its other end is up may stay blocked for seconds.
    ...(outer.bridge ? [setLink(outerIndex, { master: INDEX.bridge })] : []),
    ...(outer.hairpin ? [setHairpin(outerIndex, true)] : []),
    ...outer.routes.map((route) => routeRequest(route, outerIndex)),
  ]
}

function address(link: number, text: string): NetlinkRequest {
  const [ip = '', prefix = '32'] = text.split('/')
  return addAddress({ link, address: ip, prefixLength: Number(prefix) })
}

function routeRequest(route: Route, link: number): NetlinkRequest {
  return addRoute({
    destination: route.to === 'default' ? '0.0.0.0/0' : route.to,
    ...(route.via ? { gateway: route.via } : {}),
    ...(route.scope ? { scope: route.scope } : {}),
    link,
  })
}

/** As CNI's bridge plugin makes it from an IPv4 address, so that it stays when ports come and go. */
function macAddressOf(ip: string): string {
  return ['0a', '58', ...ip.split('.').map((octet) => Number(octet).toString(16).padStart(2, '0'))].join(':')
}
