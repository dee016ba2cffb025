import {
  type Address,
  type AddressMask,
  isBroadcastOf,
  isLoopback,
  isMulticast,
  isWithin,
  parseAddress,
  parseAddressMask,
} from './walk-address.ts'
import type { Fact } from './walk-path.ts'

export interface WalkInterface {
  readonly name: string
  /** With prefix length. */
  readonly addresses: readonly string[]
}

/** A line of the routing table; the local and connected ones follow from the interfaces. */
export interface WalkRoute {
  /** A prefix or "default". */
  readonly to: string
  readonly via?: string
  readonly dev: string
}

export interface RouteQuery {
  readonly dst: string
  readonly src?: string
  readonly in?: string
  readonly mark: number
}

export type RouteAnswer =
  | { readonly kind: 'local' }
  | { readonly kind: 'forward'; readonly dev: string; readonly via?: string }
  | { readonly kind: 'unreachable'; readonly why?: string }
  | { readonly kind: 'unknown' }

/** What a walk knows of the node besides its rules. What is absent is not known, and never guessed. */
export interface WalkContext {
  /** Written into the hops. */
  readonly node?: string
  /** All of them in the order of their indexes, `lo` included or not. */
  readonly interfaces?: readonly WalkInterface[]
  /** The node's own addresses, where the interfaces are not known. */
  readonly localAddresses?: readonly string[]
  /** A table, or a function that asks one. Absent: only the local and connected routes are known. */
  readonly routes?: readonly WalkRoute[] | ((query: RouteQuery) => RouteAnswer)
  readonly sysctls?: {
    readonly ipForward?: boolean
    /** Of the interface that the packet comes in (or leaves) by. */
    readonly routeLocalnet?: boolean
    /** 0 off, 1 strict, 2 loose. */
    readonly rpFilter?: 0 | 1 | 2
    readonly acceptLocal?: boolean
    readonly bridgeNfCallIptables?: boolean
  }
  /** Names of bridges: their packets may carry a port. */
  readonly bridges?: readonly string[]
  /** The members of ipsets of addresses and prefixes, by name. */
  readonly sets?: Readonly<Record<string, readonly string[]>>
  /** What the lists of `-m recent` hold, by name; a list that is absent here is not known. */
  readonly recentLists?: Readonly<Record<string, readonly RecentEntry[]>>
}

export interface RecentEntry {
  readonly address: string
  /** How long ago the packets were noted, in seconds, the latest first; at least one. */
  readonly seenSecondsAgo: readonly number[]
}

export type AddressType = 'LOCAL' | 'BROADCAST' | 'MULTICAST' | 'UNICAST' | 'UNSPEC'

interface KnownInterface {
  readonly name: string
  readonly addresses: readonly { readonly address: Address; readonly net: AddressMask }[]
}

/** Answers what rules ask about the node, and notes each fact that an answer rests on. */
export class NodeFacts {
  readonly context: WalkContext
  readonly #interfaces: readonly KnownInterface[]
  readonly #local: ReadonlySet<bigint>
  readonly #knowsLocal: boolean
  readonly #routes: readonly { net: AddressMask; length: number; answer: RouteAnswer }[]
  readonly #facts = new Map<string, Fact>()

  constructor(context: WalkContext) {
    this.context = context
    this.#interfaces = (context.interfaces ?? []).map(({ name, addresses }) => ({
      name,
      addresses: addresses.flatMap((written) => {
        const address = parseAddress(written.split('/')[0] ?? '')
        const net = parseAddressMask(written)
        return address && net ? [{ address, net }] : []
      }),
    }))
    const listed = (context.localAddresses ?? []).flatMap(
      (text) => parseAddress(text.split('/')[0] ?? '') ?? [],
    )
    const own = this.#interfaces.flatMap(({ addresses }) => addresses.map(({ address }) => address))
    this.#local = new Set([...listed, ...own].map(({ value }) => value))
    this.#knowsLocal = context.interfaces !== undefined || context.localAddresses !== undefined
    const connected = this.#interfaces.flatMap(({ name, addresses }) =>
      addresses.map(({ net }) => routeLine(net, { kind: 'forward', dev: name })),
    )
    const given = typeof context.routes === 'function' ? [] : (context.routes ?? [])
    const written = given.flatMap(({ to, via, dev }) => {
      const nets = to === 'default' ? ['0.0.0.0/0', '::/0'] : [to]
      return nets.flatMap((text) => {
        const net = parseAddressMask(text)
        return net ? [routeLine(net, { kind: 'forward', dev, ...(via === undefined ? {} : { via }) })] : []
      })
    })
    this.#routes = [...written, ...connected].sort((a, b) => b.length - a.length)
  }

  note(kind: Fact['kind'], text: string): void {
    this.#facts.set(`${kind} ${text}`, { kind, text })
  }

  noted(): Fact[] {
    return [...this.#facts.values()]
  }

  /** As the kernel's local routing table has it; undefined where the node's addresses are not known. */
  typeOf(address: Address, dev?: string): AddressType | undefined {
    if (address.value === 0n) return address.bits === 32 ? 'BROADCAST' : 'UNSPEC'
    if (isMulticast(address)) return 'MULTICAST'
    if (address.bits === 32 && address.value === 0xffffffffn) return 'BROADCAST'
    if (isLoopback(address)) return dev === undefined || dev === 'lo' ? 'LOCAL' : 'UNICAST'
    const where = dev === undefined ? '' : ` of ${dev}`
    if (!this.#knowsLocal || (dev !== undefined && this.context.interfaces === undefined)) {
      this.note('local-addresses', `whether ${address.text} is one of the node's own addresses${where}`)
      return undefined
    }
    const nets = this.#interfaces
      .filter(({ name }) => dev === undefined || name === dev)
      .flatMap(({ addresses }) => addresses)
    const isLocal =
      dev === undefined
        ? this.#local.has(address.value)
        : nets.some((own) => own.address.value === address.value && own.address.bits === address.bits)
    this.note(
      'local-addresses',
      `${address.text} is ${isLocal ? '' : 'not '}one of the node's own addresses${where}`,
    )
    if (isLocal) return 'LOCAL'
    return nets.some(({ net }) => isBroadcastOf(address, net)) ? 'BROADCAST' : 'UNICAST'
  }

  /** Where the node sends an address that is not its own. */
  route(query: {
    dst: Address
    src?: Address | undefined
    in?: string | undefined
    mark: number
  }): RouteAnswer {
    const { routes } = this.context
    const answer =
      typeof routes === 'function'
        ? routes({
            dst: query.dst.text,
            mark: query.mark,
            ...(query.src ? { src: query.src.text } : {}),
            ...(query.in === undefined ? {} : { in: query.in }),
          })
        : this.#lookUp(query.dst)
    this.note('routing', routeWords(query.dst, answer))
    return answer
  }

  #lookUp(dst: Address): RouteAnswer {
    const line = this.#routes.find(({ net }) => isWithin(dst, net))
    if (line) return line.answer
    return this.context.routes === undefined
      ? { kind: 'unknown' }
      : { kind: 'unreachable', why: `no route leads to ${dst.text}` }
  }

  /** The address that MASQUERADE takes: the interface's first in the next hop's network, else its first. */
  addressOf(dev: string | undefined, nextHop: Address): Address | undefined {
    const ofFamily = ({ addresses }: KnownInterface) =>
      addresses.filter(({ address }) => address.bits === nextHop.bits && !isLoopback(address))
    const own = this.#interfaces.filter(({ name }) => name === dev).flatMap(ofFamily)
    // An interface without a usable address, as lo is, borrows the first one of any other.
    const chosen =
      dev === undefined
        ? undefined
        : (own.find(({ net }) => isWithin(nextHop, net)) ?? own[0] ?? this.#interfaces.flatMap(ofFamily)[0])
    this.note(
      'interface-addresses',
      chosen
        ? `what leaves by ${dev} gets the address ${chosen.address.text}`
        : `which address ${dev ?? 'the outgoing interface'} has`,
    )
    return chosen?.address
  }

  /** The address that REDIRECT takes for packets that come in by an interface: its first. */
  firstAddressOf(dev: string, bits: 32 | 128): Address | undefined {
    const own = this.#interfaces.find(({ name }) => name === dev)?.addresses
    return own?.find(({ address }) => address.bits === bits)?.address
  }

  isBridge(name: string | undefined): boolean | undefined {
    return this.context.bridges === undefined
      ? undefined
      : name !== undefined && this.context.bridges.includes(name)
  }
}

function routeLine(
  net: AddressMask,
  answer: RouteAnswer,
): { net: AddressMask; length: number; answer: RouteAnswer } {
  return { net, length: net.mask.toString(2).replaceAll('0', '').length, answer }
}

function routeWords(dst: Address, answer: RouteAnswer): string {
  switch (answer.kind) {
    case 'local':
      return `${dst.text} is the node's own`
    case 'forward':
      return `the route to ${dst.text} leaves by ${answer.dev}${answer.via === undefined ? '' : ` via ${answer.via}`}`
    case 'unreachable':
      return answer.why ?? `no route leads to ${dst.text}`
    case 'unknown':
      return `where the route to ${dst.text} leads`
    default:
      return answer satisfies never
  }
}
