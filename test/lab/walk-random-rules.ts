/** mulberry32: the same numbers for the same seed. */
export function randomFrom(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    below: (count: number) => Math.floor(next() * count),
    pick: <T>(items: readonly T[]) => items[Math.floor(next() * items.length)] as T,
  }
}
export type Random = ReturnType<typeof randomFrom>

const BUILTINS = {
  raw: ['PREROUTING', 'OUTPUT'],
  mangle: ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'],
  nat: ['PREROUTING', 'INPUT', 'OUTPUT', 'POSTROUTING'],
  filter: ['INPUT', 'FORWARD', 'OUTPUT'],
} as const
type Table = keyof typeof BUILTINS

const ADDRESSES = [
  ...['10.96.0.10', '10.96.0.0/24', '10.244.0.0/16', '10.244.1.0/24', '192.168.0.2', '172.18.0.0/16'],
  ...['198.51.100.7', '8.0.0.0/6', '127.0.0.0/8', '10.244.2.8', '0.0.0.0/1'],
]
const CONDITIONS: readonly ((random: Random, table: Table) => string)[] = [
  (random) => `${bang(random)}-s ${random.pick(ADDRESSES)}`,
  (random) => `${bang(random)}-d ${random.pick(ADDRESSES)}`,
  (random) =>
    `${bang(random)}-m mark --mark ${random.pick(['0x1/0x1', '0x4000/0x4000', '0x0', '0x3/0xf'])}`.replace(
      '! -m mark',
      '-m mark !',
    ),
  (random) =>
    `-m conntrack ${bang(random)}--ctstate ${random.pick(['NEW', 'INVALID', 'UNTRACKED', 'RELATED,ESTABLISHED', 'NEW,DNAT', 'DNAT', 'SNAT'])}`,
  (random) =>
    `-m addrtype ${bang(random)}--${random.pick(['src', 'dst'])}-type ${random.pick(['LOCAL', 'UNICAST', 'LOCAL,BROADCAST'])}`,
  (random) =>
    `-m statistic --mode random ${bang(random)}--probability ${random.pick(['0.5', '0.25', '0.33333333349'])}`,
  (random) => `-m ttl --ttl-${random.pick(['lt', 'gt', 'eq'])} ${random.pick(['76', '77', '78'])}`,
  (random) =>
    `-m iprange ${bang(random)}--${random.pick(['src', 'dst'])}-range 10.0.0.0-${random.pick(['10.96.0.10', '10.255.0.0', '200.0.0.0'])}`,
  (random) => `-m length ${bang(random)}--length ${random.pick(['28', '0:39', '40'])}`,
]
const TRANSPORTS: readonly ((random: Random) => string)[] = [
  (random) => `${bang(random)}-p ${random.pick(['tcp', 'udp', 'icmp'])}`,
  (random) => `-p tcp -m tcp ${bang(random)}--dport ${random.pick(['80', '1:1024', '30000:32767'])}`,
  (random) => `-p udp -m udp ${bang(random)}--dport ${random.pick(['53', '80', '1:1024'])}`,
  (random) =>
    `-p tcp -m tcp ${bang(random)}--tcp-flags ${random.pick(['FIN,SYN,RST,ACK SYN', 'SYN,ACK ACK', 'RST RST', 'ALL NONE'])}`,
  (random) => `-p udp -m multiport ${bang(random)}--${random.pick(['dports', 'ports'])} 53,80:90`,
  () => '-p icmp -m icmp --icmp-type 8',
]
const TARGETS: Readonly<Record<Table, readonly string[]>> = {
  raw: ['ACCEPT', 'RETURN', 'CT --notrack', 'MARK --set-xmark 0x2/0x2', ''],
  mangle: [
    'ACCEPT',
    'RETURN',
    'MARK --set-xmark 0x1/0x1',
    'MARK --set-xmark 0x3/0xff',
    'TTL --ttl-inc 1',
    'CONNMARK --set-xmark 0x1',
    '',
  ],
  nat: ['ACCEPT', 'RETURN', 'MARK --set-xmark 0x4000/0x4000', 'MARK --set-xmark 0x1/0x0', ''],
  filter: [
    'ACCEPT',
    'DROP',
    'RETURN',
    'REJECT --reject-with icmp-port-unreachable',
    'MARK --set-xmark 0x8/0x8',
    '',
  ],
}
const NAT_TARGETS: Readonly<Record<string, readonly string[]>> = {
  PREROUTING: [
    'DNAT --to-destination 10.244.1.9',
    'DNAT --to-destination 10.244.2.8',
    'DNAT --to-destination 192.168.0.2',
    'REDIRECT',
  ],
  OUTPUT: ['DNAT --to-destination 10.244.1.9', 'DNAT --to-destination 172.18.0.2', 'REDIRECT'],
  POSTROUTING: ['MASQUERADE', 'SNAT --to-source 192.168.0.9'],
  INPUT: ['SNAT --to-source 192.168.0.9'],
}

function bang(random: Random): string {
  return random.next() < 0.25 ? '! ' : ''
}

/** A rule set that iptables-restore takes and no program would write: every table, chains that call later ones only. */
export function randomSave(seed: number): string {
  const random = randomFrom(seed)
  return (Object.keys(BUILTINS) as Table[]).map((table) => randomTable(random, table)).join('')
}

function randomTable(random: Random, table: Table): string {
  const own = Array.from({ length: 2 + random.below(4) }, (_, i) => `${table.toUpperCase()}-${i}`)
  const lines = [
    `*${table}`,
    ...BUILTINS[table].map(
      (chain) => `:${chain} ${table !== 'nat' && random.next() < 0.08 ? 'DROP' : 'ACCEPT'} [0:0]`,
    ),
    ...own.map((chain) => `:${chain} - [0:0]`),
  ]
  for (const chain of BUILTINS[table])
    for (let count = 1 + random.below(5); count > 0; count--)
      lines.push(randomRule(random, table, chain, own))
  for (const [i, chain] of own.entries())
    for (let count = random.below(5); count > 0; count--)
      lines.push(randomRule(random, table, chain, own.slice(i + 1)))
  return `${lines.join('\n')}\nCOMMIT\n`
}

function randomRule(random: Random, table: Table, chain: string, callable: readonly string[]): string {
  const conditions = new Set([
    ...(random.next() < 0.4 ? [random.pick(TRANSPORTS)] : []),
    ...Array.from({ length: random.below(3) }, () => random.pick(CONDITIONS)),
  ])
  const interfaces = random.next() < 0.2 ? interfaceOf(random, chain) : ''
  const words = [interfaces, ...[...conditions].map((make) => make(random, table))].filter(
    (text) => text !== '',
  )
  const isCall = callable.length > 0 && random.next() < 0.45
  const natTargets = table === 'nat' && random.next() < 0.5 ? NAT_TARGETS[chain] : undefined
  const target = isCall ? random.pick(callable) : random.pick(natTargets ?? TARGETS[table])
  if (target !== '') words.push(`${isCall && random.next() < 0.25 ? '-g' : '-j'} ${target}`)
  return `-A ${chain} ${words.join(' ')}`.trimEnd()
}

function interfaceOf(random: Random, chain: string): string {
  const way = {
    PREROUTING: '-i',
    INPUT: '-i',
    OUTPUT: '-o',
    POSTROUTING: '-o',
    FORWARD: random.pick(['-i', '-o']),
  }[chain]
  return way === undefined
    ? ''
    : `${bang(random)}${way} ${random.pick(['eth0', 'eth1', 'cni0', 'eth+', 'lo'])}`
}
