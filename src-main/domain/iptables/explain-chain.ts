import { ownValue } from '../own-value.ts'
import { type ExplanationPart, part, series, words } from './explain-parts.ts'
import { addressWords, portWords } from './explain-values.ts'
import type { Rule } from './rule-set.ts'
import { optionOf, readRule, targetOf } from './rule-spec.ts'

export interface ChainContext {
  readonly table: string
  /** What the chain stands for (`http-svc cluster IP`), where somebody knows. */
  readonly title?: string | undefined
}

/** One sentence, with a full stop, on what a chain is for; `rules` are the chain's own, in order. */
export function explainChain(
  name: string,
  rules: readonly Pick<Rule, 'text'>[],
  { table, title }: ChainContext,
): ExplanationPart[] {
  const known =
    BASE_CHAINS[`${table} ${name}`] ?? SHARED_CHAINS[`${table} ${name}`] ?? ownValue(ANY_TABLE, name)
  if (known !== undefined) return words`${known}.`
  const of = title === undefined ? [] : words` (${title})`
  if (table === 'nat') {
    const own = OWN_CHAINS.find(([prefix]) => name.startsWith(prefix))
    if (own) return words`${own[1](rules, of)}.`
  }
  const count = rules.length === 1 ? '1 rule' : `${rules.length} rules`
  return words`A chain with ${count} that somebody added${of}: packets come here only by a jump, and go back after the last rule.`
}

type Words = readonly ExplanationPart[]

/** The chains that each Service port has for itself, by how their names begin. */
const OWN_CHAINS: readonly [
  prefix: string,
  explain: (rules: readonly Pick<Rule, 'text'>[], title: Words) => Words,
][] = [
  ['KUBE-SVC-', (rules, title) => explainChoice(rules, title, '')],
  ['KUBE-SVL-', (rules, title) => explainChoice(rules, title, ' on this node')],
  ['KUBE-EXT-', explainExternal],
  ['KUBE-FW-', explainFirewall],
  ['KUBE-SEP-', explainEndpoint],
]

// -A KUBE-SVC-… -m statistic --mode random --probability 0.5 -j KUBE-SEP-…
function explainChoice(rules: readonly Pick<Rule, 'text'>[], title: Words, where: string): Words {
  const count = new Set(targetNames(rules).filter((name) => name.startsWith('KUBE-SEP-'))).size
  if (count === 0) return words`Has no endpoint of a Service${title}${where} to choose from`
  const isSticky = rules.some((rule) => rule.text.includes('--rcheck'))
  const first = isSticky ? '; a sender who was here before keeps the endpoint' : ''
  if (count === 1) return words`Leads to the only endpoint of a Service${title}${where}`
  return words`Chooses one of ${String(count)} endpoints of a Service${title}${where} at random${first}`
}

// -A KUBE-EXT-… -m addrtype --src-type LOCAL -j KUBE-SVC-…
function explainExternal(rules: readonly Pick<Rule, 'text'>[], title: Words): Words {
  const names = targetNames(rules)
  const cluster = names.find((name) => name.startsWith('KUBE-SVC-'))
  const local = names.find((name) => name.startsWith('KUBE-SVL-'))
  const head = words`Takes what comes for a Service${title} by a node port, an external IP or a load balancer IP`
  const usual = cluster ?? local
  const isByOrigin = rules.some((rule) => rule.text.includes('--src-type LOCAL'))
  if (!isByOrigin)
    return usual === undefined
      ? head
      : words`${head}, marks it for masquerade and goes on to ${part('chain', usual)}`
  const withPods = rules.some((rule) => / -j KUBE-SVC-/.test(rule.text) && /(^| )-[si] /.test(rule.text))
  const inside = cluster === undefined ? [] : words` goes on to ${part('chain', cluster)}`
  const outside =
    local === undefined
      ? words`is left for the filter table to discard, as this node has no endpoint`
      : words`goes on to ${part('chain', local)} and keeps its source`
  return words`${head}: what ${withPods ? 'pods and ' : ''}this node ${withPods ? 'send' : 'sends'}${inside}, what others send ${outside}`
}

// -A KUBE-FW-… -s 198.51.100.0/24 -j KUBE-EXT-…
function explainFirewall(rules: readonly Pick<Rule, 'text'>[], title: Words): Words {
  const sources = [...new Set(rules.flatMap((rule) => readRule(rule).source?.value ?? []))]
  const drop = 'the others are discarded in KUBE-PROXY-FIREWALL of the filter table'
  if (sources.length === 0)
    return words`Lets no packet on to the load balancer IP of a Service${title}; ${drop}`
  const list = series(sources.map(addressWords), 'and')
  return words`Lets packets from ${list} on to the load balancer IP of a Service${title}; ${drop}`
}

// -A KUBE-SEP-… -p tcp -m tcp -j DNAT --to-destination 10.244.1.7:8080
function explainEndpoint(rules: readonly Pick<Rule, 'text'>[], title: Words): Words {
  const specs = rules.map((rule) => readRule(rule))
  const dnat = specs.find(({ target }) => target?.name === 'DNAT')
  const written = dnat?.target && optionOf(dnat.target, '--to-destination')?.values[0]
  const end = /^\[?(.*?)\]?:(\d+)$/.exec(written ?? '')
  const remembers = dnat?.matches.some(({ name }) => name === 'recent') ? ', remembers the sender' : ''
  if (!end) return words`Stands for one endpoint of a Service${title}`
  const place = words`${part('address', end[1] ?? '')} ${portWords(end[2] ?? '')}`
  return words`Stands for one endpoint of a Service${title}: marks what the endpoint sends to itself${remembers} and changes the destination to ${place}`
}

function targetNames(rules: readonly Pick<Rule, 'text'>[]): string[] {
  return rules.flatMap((rule) => targetOf(rule)?.name ?? [])
}

const BASE_CHAINS: Readonly<Record<string, string>> = {
  'raw PREROUTING':
    'Sees every packet that comes in, before connection tracking does; here a packet can be left out of it',
  'raw OUTPUT': 'Sees every packet that a process of this node sends, before connection tracking does',
  'mangle PREROUTING': 'Can mark or change every packet that comes in, before the node decides where it goes',
  'mangle INPUT': 'Can mark or change packets for a process of this node',
  'mangle FORWARD': 'Can mark or change packets that pass through this node',
  'mangle OUTPUT': 'Can mark or change packets that a process of this node sends, and so their route',
  'mangle POSTROUTING': 'Can mark or change every packet that leaves, after its way is decided',
  'nat PREROUTING':
    'Takes the first packet of a connection as it comes in, before routing, and can change its destination (DNAT)',
  'nat INPUT':
    'Takes the first packet of a connection to a process of this node and can change its source (SNAT)',
  'nat OUTPUT':
    'Takes the first packet of a connection that a process of this node opens and can change its destination (DNAT)',
  'nat POSTROUTING':
    'Takes the first packet of a connection just before it leaves and can change its source (SNAT, MASQUERADE)',
  'filter INPUT': 'Decides which packets reach a process of this node',
  'filter FORWARD': 'Decides which packets may pass through this node, such as those to and from its pods',
  'filter OUTPUT': 'Decides which packets a process of this node may send',
  'security INPUT': 'Sets security marks (SELinux) on packets for a process of this node',
  'security FORWARD': 'Sets security marks (SELinux) on packets that pass through this node',
  'security OUTPUT': 'Sets security marks (SELinux) on packets that a process of this node sends',
}

const SHARED_CHAINS: Readonly<Record<string, string>> = {
  'nat KUBE-SERVICES':
    'Finds the Service that a packet is for by its destination: one rule for each cluster IP, external IP and load balancer IP with endpoints, then the node ports',
  'nat KUBE-NODEPORTS': 'Finds the Service by its node port, for packets to an address of this node',
  'nat KUBE-MARK-MASQ':
    'Marks packets that are to get an address of this node as source; KUBE-POSTROUTING reads the mark',
  'nat KUBE-MARK-DROP': 'Marks packets that KUBE-FIREWALL of the filter table then discards',
  'nat KUBE-POSTROUTING':
    'Gives every marked packet an address of this node as source, so that its answers come back here, and leaves the others alone',
  'filter KUBE-SERVICES':
    'Refuses new connections to cluster IPs whose Service has no endpoints: nothing has changed their destination in nat',
  'filter KUBE-EXTERNAL-SERVICES':
    'Refuses new connections to node ports, external IPs and load balancer IPs whose Service has no endpoint to take them',
  'filter KUBE-NODEPORTS':
    'Admits what load balancers send to health check node ports to ask whether this node has endpoints',
  'filter KUBE-FORWARD':
    'Lets forwarded Service traffic through: marked packets and those of known connections; packets that fit no connection are discarded here',
  'filter KUBE-FIREWALL':
    'Keeps others from reaching what listens on loopback addresses of this node only; kubelet makes this chain, too',
  'filter KUBE-PROXY-FIREWALL':
    'Discards new connections to load balancer IPs from senders outside the loadBalancerSourceRanges',
}

const CANARY =
  'Always empty: when it vanishes, somebody has flushed the tables and every rule is written anew'

const ANY_TABLE: Readonly<Record<string, string>> = {
  'KUBE-PROXY-CANARY': `${CANARY} by kube-proxy`,
  'KUBE-KUBELET-CANARY': `${CANARY} by kubelet`,
  'KUBE-IPTABLES-HINT':
    'Always empty: tells other tools which variant of iptables kubelet uses (legacy or nft)',
}
