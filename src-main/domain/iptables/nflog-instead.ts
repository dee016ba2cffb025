/** A rule with the target LOG, and where it stands; `text` as iptables-save writes it behind `-A CHAIN`. */
export interface LogRule {
  readonly table: string
  readonly chain: string
  /** From 1. */
  readonly number: number
  readonly text: string
}

/** The command that puts an NFLOG rule in the place of a LOG rule: a network namespace shows the lines of that one only. */
export function nflogInstead({ table, chain, number, text }: LogRule): string {
  const instead = text
    .replace(/-j LOG\b/, '-j NFLOG')
    .replace('--log-prefix', '--nflog-prefix')
    .replace(/ --log-(level \S+|tcp-sequence|tcp-options|ip-options|uid|macdecode)/g, '')
  return `iptables -t ${table} -R ${chain} ${number} ${instead}`
}
