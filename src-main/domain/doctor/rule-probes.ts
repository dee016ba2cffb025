/** A rule that a lab must be able to load, and what has to be there for it. */
interface RuleProbe {
  readonly table: 'filter' | 'nat'
  readonly rule: string
  /** The kernel modules behind it; the nft back end reaches xt_* through nft_compat. */
  readonly modules: readonly string[]
  /** What goes wrong without it. kube-proxy restores all or nothing: one rule refused loses every Service. */
  readonly without: 'no-services' | string
}

const needed = 'no-services'

/** One rule for each match and target that kube-proxy writes, and for those that the lessons add. */
export const ruleProbes = {
  nat: { table: 'nat', rule: '-A OUTPUT -j ACCEPT', modules: ['nft_chain_nat'], without: needed },
  comment: {
    table: 'nat',
    rule: '-A OUTPUT -m comment --comment "kubernetes service portals" -j ACCEPT',
    modules: ['xt_comment'],
    without: needed,
  },
  tcp: {
    table: 'nat',
    rule: '-A OUTPUT -p tcp -m tcp --dport 80 -j ACCEPT',
    modules: ['xt_tcpudp'],
    without: needed,
  },
  statistic: {
    table: 'nat',
    rule: '-A OUTPUT -m statistic --mode random --probability 0.5000000000 -j ACCEPT',
    modules: ['xt_statistic'],
    without: needed,
  },
  mark: {
    table: 'nat',
    rule: '-A POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN',
    modules: ['xt_mark'],
    without: needed,
  },
  'set-mark': {
    table: 'nat',
    rule: '-A OUTPUT -j MARK --or-mark 0x4000',
    modules: ['xt_mark'],
    without: needed,
  },
  conntrack: {
    table: 'filter',
    rule: '-A FORWARD -m conntrack --ctstate NEW -j ACCEPT',
    modules: ['xt_conntrack'],
    without: needed,
  },
  addrtype: {
    table: 'nat',
    rule: '-A OUTPUT -m addrtype --dst-type LOCAL -j ACCEPT',
    modules: ['xt_addrtype'],
    without: needed,
  },
  recent: {
    table: 'nat',
    rule: '-A OUTPUT -m recent --name KUBE-SEP-PROBE --rcheck --seconds 10800 --reap -j ACCEPT',
    modules: ['xt_recent'],
    without: 'Services with sessionAffinity: ClientIP cannot be loaded',
  },
  dnat: {
    table: 'nat',
    rule: '-A OUTPUT -p tcp -m tcp -j DNAT --to-destination 10.244.1.7:80',
    modules: ['xt_nat'],
    without: needed,
  },
  masquerade: {
    table: 'nat',
    rule: '-A POSTROUTING -j MASQUERADE --random-fully',
    modules: ['xt_MASQUERADE'],
    without: needed,
  },
  reject: {
    table: 'filter',
    rule: '-A FORWARD -j REJECT',
    modules: ['nft_reject_ipv4', 'ipt_REJECT'],
    without: needed,
  },
  sctp: {
    table: 'nat',
    rule: '-A OUTPUT -p sctp -m sctp --dport 80 -j ACCEPT',
    modules: ['xt_sctp'],
    without: 'Services with SCTP ports cannot be loaded',
  },
  log: {
    table: 'filter',
    rule: '-A FORWARD -j LOG --log-prefix "probe "',
    modules: ['xt_LOG'],
    without: 'lessons that add a LOG rule do not work',
  },
  nflog: {
    table: 'filter',
    rule: '-A FORWARD -j NFLOG --nflog-group 5',
    modules: ['xt_NFLOG'],
    without: 'lessons that add an NFLOG rule do not work',
  },
} as const satisfies Record<string, RuleProbe>

export type RuleProbeName = keyof typeof ruleProbes
export const ruleProbeNames = Object.keys(ruleProbes) as readonly RuleProbeName[]

/** Text for iptables-restore that loads the rules of these probes and nothing else. */
export function formatProbeRules(names: readonly RuleProbeName[]): string {
  return (['filter', 'nat'] as const)
    .map((table) => names.map((name) => ruleProbes[name]).filter((probe) => probe.table === table))
    .filter((probes) => probes.length > 0)
    .map((probes) => `*${probes[0]?.table}\n${probes.map(({ rule }) => `${rule}\n`).join('')}COMMIT\n`)
    .join('')
}
