import type { RuleSet } from '../iptables/rule-set.ts'
import type { EndpointSlice, Pod, Service } from '../kubernetes/objects.ts'
import { planExternalRoutes } from '../topology/plan-external-routes.ts'
import { type Attachment, gatewayOf, planNode } from '../topology/plan-network.ts'
import type { Destination } from './command-packet.ts'
import { type Hop, isPolicy, type Journey } from './journey.ts'
import { hostWords, type LabAddresses, labHosts } from './lab-hosts.ts'
import { isWithin, parseAddress, parseAddressMask } from './walk-address.ts'
import type { WalkContext } from './walk-context.ts'
import type { WalkPacket } from './walk-packet.ts'
import { type Choice, hopsOf, type WalkPath } from './walk-path.ts'
import { walkRuleset } from './walk-ruleset.ts'

/** What a prediction rests on. */
export interface LabPicture {
  readonly status: LabAddresses & { readonly attachment: Attachment }
  readonly pods: readonly Pod[]
  readonly services: readonly Service[]
  readonly endpointSlices: readonly EndpointSlice[]
  readonly links: readonly PictureLink[]
  /** By node. */
  readonly ruleSets: ReadonlyMap<string, RuleSet>
}

/** A link as the kernel has it, by `HOST NAME`. */
export interface PictureLink {
  readonly id: string
  readonly host: string
  readonly name: string
  readonly kind: string
  readonly addresses: readonly string[]
  readonly peer?: string
}

/** One way that the packet may take through all nodes that it meets. */
export interface PredictedWay {
  readonly journey: Journey
  /** The walks of all nodes, one after the other. */
  readonly steps: WalkPath['steps']
  /** From 0 to 1, of the draws on the way. */
  readonly chance: number
  /** `1/3` */
  readonly chanceText: string
  /** True where something without a known chance decides, too. */
  readonly isConditional: boolean
  readonly choices: readonly Choice[]
}

export interface Prediction {
  /** The likeliest first. */
  readonly ways: readonly PredictedWay[]
  /** What cannot be trusted, in sentences. */
  readonly notes: readonly string[]
  readonly emptyChains: EmptyChains
}

/**
 * `node table chain` of built-in chains without a rule that let everything pass. iptables-save lists them whether the
 * kernel has them or not, and only one that it has leaves a trace: nothing hangs on them, so none is predicted.
 */
export type EmptyChains = ReadonlySet<string>

export function isInEmptyChain(hop: Hop, empty: EmptyChains): boolean {
  return isPolicy(hop) && empty.has(`${hop.node} ${hop.table} ${hop.chain}`)
}

interface Stage {
  readonly node: string
  readonly packet: WalkPacket
}

interface Travelled {
  readonly paths: readonly WalkPath[]
  readonly verdict: Journey['verdict']
  readonly reason: string
}

/** More nodes than a packet meets in any lab without a loop. */
const MOST_NODES = 8

/** The ways of a command's first packet, node by node. Nothing is sent. Throws where the sender has gone. */
export function predictWays(picture: LabPicture, target: string, to: Destination): Prediction {
  const notes = new Set<string>()
  const start = firstStage(picture, target, to)
  const empty = emptyChains(picture.ruleSets)
  if (typeof start === 'string') return { ways: [], notes: [start], emptyChains: empty }
  const travelled = travel(picture, start, [], notes)
  const ways = travelled
    .map((way) => wayOf(way, to, empty))
    .sort((a, b) => b.chance - a.chance)
    .map((way, at) => ({ ...way, journey: { ...way.journey, id: at + 1 } }))
  return { ways, notes: [...notes], emptyChains: empty }
}

/** Where the packet first meets a node, or a sentence where it meets none. */
function firstStage(picture: LabPicture, target: string, to: Destination): Stage | string {
  const { status, pods, links } = picture
  const header = {
    protocol: to.protocol,
    dst: to.address,
    ...(to.protocol === 'icmp' ? { icmp: { type: 8, code: 0 } } : { dport: to.port }),
  }
  if (target === 'client') {
    const routes = planExternalRoutes(picture.services, slicesOf(picture), status.nodes)
    const via = routes.get(to.address) ?? to.address
    const node = status.nodes.find(({ address }) => address === via)
    if (!node) return `The client has no way to ${to.address}: no node answers for it outside the cluster.`
    return { node: node.name, packet: { ...header, src: status.client.address, in: 'eth0' } }
  }
  if (target.startsWith('node/')) {
    const node = status.nodes.find(({ name }) => `node/${name}` === target)
    if (!node) throw new Error(`${target} is not in the lab any more`)
    return { node: node.name, packet: { ...header, src: sourceOn(node, to.address) } }
  }
  const pod = pods.find(({ metadata }) => `pod/${metadata.namespace}/${metadata.name}` === target)
  const [src] = pod?.status.podIPs ?? []
  if (!pod || src === undefined) throw new Error(`${target} is not in the lab any more`)
  if (src === to.address) return 'The packet stays in the pod: no node sees it.'
  const cable = links.find(({ host, name }) => host === target && name === 'eth0')
  const outer = links.find(({ id }) => id === cable?.peer)?.name
  if (status.attachment === 'routed')
    return { node: pod.spec.nodeName, packet: { ...header, src, in: outer ?? 'eth0' } }
  const node = status.nodes.find(({ name }) => name === pod.spec.nodeName)
  return {
    node: pod.spec.nodeName,
    packet: {
      ...header,
      src,
      in: 'cni0',
      ...(outer === undefined ? {} : { physIn: outer }),
      isBridged:
        node !== undefined && to.address !== gatewayOf(node.podCIDR) && isIn(to.address, node.podCIDR),
    },
  }
}

/** The address that the node's routes give to what it sends itself. */
function sourceOn({ address, podCIDR }: LabAddresses['nodes'][number], dst: string): string {
  if (dst.startsWith('127.') || dst === address) return dst
  return isIn(dst, podCIDR) ? gatewayOf(podCIDR) : address
}

function isIn(written: string, prefix: string): boolean {
  const address = parseAddress(written)
  const net = parseAddressMask(prefix)
  return address !== undefined && net !== undefined && isWithin(address, net)
}

const slicesOf =
  ({ endpointSlices }: LabPicture) =>
  ({ metadata }: Service): readonly EndpointSlice[] =>
    endpointSlices.filter(
      (slice) =>
        slice.metadata.namespace === metadata.namespace &&
        slice.metadata.labels['kubernetes.io/service-name'] === metadata.name,
    )

function travel(
  picture: LabPicture,
  { node, packet }: Stage,
  before: readonly WalkPath[],
  notes: Set<string>,
): Travelled[] {
  const rules = picture.ruleSets.get(node)
  if (!rules) return [{ paths: before, verdict: 'lost', reason: `the rules of ${node} could not be read` }]
  const walk = walkRuleset(rules, packet, contextOf(picture, node), { maxPaths: 64, maxSkips: 200 })
  for (const note of walk.notes) notes.add(`${node}: ${note}`)
  return walk.paths.flatMap((path) => goOn(picture, node, packet, [...before, path], notes))
}

/** Past one node: on to the next, or to the end. */
function goOn(
  picture: LabPicture,
  node: string,
  { protocol, icmp }: WalkPacket,
  paths: readonly WalkPath[],
  notes: Set<string>,
): Travelled[] {
  const path = paths.at(-1)
  if (!path) return []
  const { outcome, packet } = path
  const end = (verdict: Journey['verdict'], reason: string): Travelled[] => [{ paths, verdict, reason }]
  switch (outcome.kind) {
    case 'delivered':
      return end('delivered', `it is for ${node} itself`)
    case 'dropped':
      return end('dropped', `by ${placeText(outcome.by)} on ${node}`)
    case 'rejected':
      return end('rejected', `by ${placeText(outcome.by)} on ${node}, with ${outcome.answer}`)
    case 'queued':
      return end('lost', `handed to a program by ${placeText(outcome.by)} on ${node}`)
    case 'unroutable':
      return end('no-route', outcome.why)
    case 'unknown':
      return end('lost', outcome.why)
    case 'switched':
    case 'forwarded':
      break
    default:
      return outcome satisfies never
  }
  const hosts = labHosts(picture.status, picture.pods)
  const via = outcome.kind === 'forwarded' ? outcome.via : undefined
  const next = hosts.get(via ?? packet.dst)
  if (!next) return end('lost', `nothing of the lab has the address ${via ?? packet.dst}`)
  if (next.kind !== 'node' || next.name === node) return end('delivered', `it reaches ${hostWords(next)}`)
  if (paths.length >= MOST_NODES) return end('lost', 'the routes lead it round and round')
  const onward: WalkPacket = {
    protocol,
    src: packet.src,
    dst: packet.dst,
    ...(packet.sport === 0 ? {} : { sport: packet.sport }),
    ...(icmp ? { icmp } : { dport: packet.dport }),
    in: 'eth0',
  }
  return travel(picture, { node: next.name, packet: onward }, paths, notes)
}

const placeText = ({ chain, rule }: { readonly chain: string; readonly rule: number | null }): string =>
  rule === null ? `the policy of ${chain}` : `${chain} ${rule}`

/** What the lab gives every node, and its links as they are. */
function contextOf({ status, links, pods }: LabPicture, node: string): WalkContext {
  const index = status.nodes.findIndex(({ name }) => name === node)
  const place = status.nodes[index]
  const own = links.filter(({ host }) => host === `node/${node}`)
  const plan = place && planNode(place, status.nodes, index, status.attachment)
  const toPods = pods.flatMap(({ metadata, spec, status: { podIPs } }) => {
    if (status.attachment !== 'routed' || spec.nodeName !== node || spec.hostNetwork) return []
    const cable = links.find(({ host }) => host === `pod/${metadata.namespace}/${metadata.name}`)
    const dev = own.find(({ id }) => id === cable?.peer)?.name
    return dev === undefined ? [] : podIPs.map((ip) => ({ to: `${ip}/32`, dev }))
  })
  return {
    node,
    interfaces: own
      .filter(({ addresses }) => addresses.length > 0)
      .map(({ name, addresses }) => ({ name, addresses })),
    routes: [...(plan?.cable.inner.routes ?? []), ...toPods],
    sysctls: { ipForward: true, routeLocalnet: true, rpFilter: 0, bridgeNfCallIptables: true },
    bridges: own.filter(({ kind }) => kind === 'bridge').map(({ name }) => name),
  }
}

function emptyChains(ruleSets: LabPicture['ruleSets']): EmptyChains {
  return new Set(
    [...ruleSets].flatMap(([node, { tables }]) =>
      tables.flatMap(({ name, chains, rules }) => {
        const used = new Set<string>(rules.map(({ chain }) => chain))
        return chains.flatMap((chain) =>
          chain.policy === 'ACCEPT' && !used.has(chain.name) ? [`${node} ${name} ${chain.name}`] : [],
        )
      }),
    ),
  )
}

function wayOf({ paths, verdict, reason }: Travelled, to: Destination, empty: EmptyChains): PredictedWay {
  const steps = paths
    .flatMap((path) => path.steps)
    .filter((step) => step.kind !== 'policy' || !isInEmptyChain(step, empty))
  const open = paths.filter(({ chance }) => chance.value < 1)
  const chance = paths.reduce((product, path) => product * path.chance.value, 1)
  const chanceText =
    open.length === 0 ? 'certain' : open.length === 1 ? (open[0]?.chance.text ?? '') : chance.toFixed(3)
  return {
    steps,
    chance,
    chanceText,
    isConditional: paths.some((path) => path.isConditional),
    choices: paths.flatMap((path) => path.choices),
    journey: {
      id: 0,
      connection: 1,
      protocol: to.protocol,
      direction: 'request',
      kind: 'first',
      summary: open.length === 0 ? 'the only way' : `chance ${chanceText}`,
      verdict,
      reason,
      hops: hopsOf({ steps }),
    },
  }
}
