import type { ChainOrigin } from '../../src-main/contract/lab-contract.ts'
import { builtinChains } from '../../src-main/domain/iptables/check-jumps.ts'
import { sharedChainTitle } from '../../src-main/domain/iptables/explain-chain-titles.ts'

export type Origins = Readonly<Record<string, ChainOrigin>>

export interface ServiceRef {
  readonly namespace: string
  readonly name: string
}

/** Chains of one table that belong together, in the order in which a packet meets them. */
export interface ChainGroup {
  readonly kind: 'built-in' | 'shared' | 'service' | 'stale' | 'other'
  readonly title: string
  readonly service?: ServiceRef
  readonly chains: readonly string[]
}

/** `http-svc`, `kube-system/kube-dns:dns`: the namespace only where it is not `default`. */
export function portNameOf({ namespace, service, portName }: ChainOrigin): string {
  const home = namespace === undefined || namespace === 'default' ? '' : `${namespace}/`
  return `${home}${service ?? ''}${portName ? `:${portName}` : ''}`
}

/** What a chain stands for, in a few words; undefined where nobody knows. */
export function chainTitle(origins: Origins, table: string, chain: string): string | undefined {
  const origin = Object.hasOwn(origins, chain) ? origins[chain] : undefined
  if (!origin?.service) return sharedChainTitle(chain, table)
  const port = portNameOf(origin)
  switch (origin.role) {
    case 'cluster endpoints':
      return `${port} cluster IP`
    case 'local endpoints':
      return `${port} on this node`
    case 'external traffic':
      return `${port} from outside`
    case 'load balancer source ranges':
      return `${port} source ranges`
    case 'endpoint':
      return `endpoint ${origin.endpoint ?? ''}`
    default:
      return `${port} ${origin.role}`
  }
}

export function serviceOf(origins: Origins, chain: string): ServiceRef | undefined {
  const origin = Object.hasOwn(origins, chain) ? origins[chain] : undefined
  return origin?.service ? { namespace: origin.namespace ?? 'default', name: origin.service } : undefined
}

/** The Service that kube-proxy names at the start of a rule's comment: `default/http-svc:web has no endpoints`. */
export function serviceInComment(comment: string): ServiceRef | undefined {
  const found = /(?:^|traffic for )([a-z0-9][a-z0-9-]*)\/([a-z0-9][a-z0-9-]*)(?=[: ]|$)/.exec(comment)
  return found?.[1] && found[2] ? { namespace: found[1], name: found[2] } : undefined
}

const ROLE_ORDER = [
  'external traffic',
  'load balancer source ranges',
  'cluster endpoints',
  'local endpoints',
  'endpoint',
]

/** Of some Service, be it here or gone: kube-proxy writes or deletes it. */
export const isServiceChain = (chain: string): boolean => /^KUBE-(SVC|SVL|SEP|EXT|FW)-/.test(chain)

/** Built-in chains in hook order, then those all Services share, each Service's own, then what people made. */
export function groupChains(table: string, chains: readonly string[], origins: Origins): ChainGroup[] {
  const hooks = new Set<string>(builtinChains(table))
  const builtIn = [...hooks].filter((hook) => chains.includes(hook))
  const shared: string[] = []
  const stale: string[] = []
  const other: string[] = []
  const services = new Map<string, { service: ServiceRef; chains: { chain: string; key: string }[] }>()
  for (const chain of chains) {
    if (hooks.has(chain)) continue
    const service = serviceOf(origins, chain)
    if (service) {
      const name = `${service.namespace}/${service.name}`
      const group = services.get(name) ?? { service, chains: [] }
      services.set(name, group)
      group.chains.push({ chain, key: sortKey(origins[chain]) })
    } else if (isServiceChain(chain)) stale.push(chain)
    else if (chain.startsWith('KUBE-') || Object.hasOwn(origins, chain)) shared.push(chain)
    else other.push(chain)
  }
  const groups: ChainGroup[] = [
    { kind: 'built-in', title: 'Built-in chains', chains: builtIn },
    { kind: 'shared', title: 'Shared by all Services', chains: shared.toSorted(bySharedOrder) },
    ...[...services.values()]
      .toSorted((a, b) => compare(groupKey(a.service), groupKey(b.service)))
      .map(
        (group): ChainGroup => ({
          kind: 'service',
          title: titleOf(group.service),
          service: group.service,
          chains: group.chains.toSorted((a, b) => compare(a.key, b.key)).map(({ chain }) => chain),
        }),
      ),
    { kind: 'stale', title: 'Of Services no longer here', chains: stale },
    { kind: 'other', title: 'Added by hand', chains: other },
  ]
  return groups.filter((group) => group.chains.length > 0)
}

const SHARED_ORDER = [
  'KUBE-SERVICES',
  'KUBE-EXTERNAL-SERVICES',
  'KUBE-NODEPORTS',
  'KUBE-MARK-MASQ',
  'KUBE-POSTROUTING',
  'KUBE-FORWARD',
  'KUBE-PROXY-FIREWALL',
  'KUBE-FIREWALL',
]

function bySharedOrder(a: string, b: string): number {
  const place = (chain: string): number => (SHARED_ORDER.indexOf(chain) + 100) % 100
  return place(a) - place(b) || compare(a, b)
}

function titleOf({ namespace, name }: ServiceRef): string {
  return namespace === 'default' ? name : `${namespace}/${name}`
}

function groupKey({ namespace, name }: ServiceRef): string {
  return `${namespace === 'default' ? ' ' : namespace}/${name}`
}

function sortKey(origin: ChainOrigin | undefined): string {
  const role = ROLE_ORDER.indexOf(origin?.role ?? '')
  return [origin?.portName ?? '', role === -1 ? 9 : role, addressKey(origin?.endpoint ?? '')].join('\t')
}

/** 10.244.1.7 before 10.244.1.10. */
function addressKey(endpoint: string): string {
  return endpoint.replace(/\d+/g, (digits) => digits.padStart(5, '0'))
}

/** Plain order by characters: 10,000 names sort quicker than in a language's own order. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
