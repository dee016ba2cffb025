import { type ListingNames, matchListingText, targetListingText } from './listing-text.ts'
import { protocolName, protocolNumber } from './protocol-names.ts'
import { type Chain, type Counters, type Family, type Rule, rulesByChain, type Table } from './rule-set.ts'
import { type Condition, type RuleSpec, readRule, targetOf } from './rule-spec.ts'

export interface ListingOptions {
  /** Only this chain. */
  readonly chain?: string
  /** Default ipv4; ip6tables prints `::/0`. */
  readonly family?: Family
  /** `-v`, default true: counters, interfaces. */
  readonly verbose?: boolean
  /** `-n`, default true: protocol numbers as iptables 1.8.9 prints them, no names. */
  readonly numeric?: boolean
  /** `-x`: counters in full. */
  readonly exact?: boolean
  /** `--line-numbers` */
  readonly lineNumbers?: boolean
  /** See ListingNames. Without -n, hosts and users stay numbers here. */
  readonly service?: ListingNames['service']
}

const ZERO: Counters = { packets: 0n, bytes: 0n }

/**
 * The text of `iptables -vnL` of iptables 1.8.9 for a table in its save form; undefined when the chain asked for
 * does not exist. Byte-exact for what kube-proxy nodes and usual hand-made rules hold (test/lab/iptables-text.
 * test.ts); a part that this writer does not know appears in its save words.
 */
export function formatListing(table: Table, options: ListingOptions = {}): string | undefined {
  const chains =
    options.chain === undefined ? table.chains : table.chains.filter(({ name }) => name === options.chain)
  if (options.chain !== undefined && chains.length === 0) return undefined
  const byChain = rulesByChain(table)
  const references = countReferences(table)
  return chains
    .map((chain) => {
      const rules = byChain.get(chain.name) ?? []
      return formatChainListing({ ...chain, references: references.get(chain.name) ?? 0, rules }, options)
    })
    .join('\n')
}

/** A chain with all that its listing shows; `references` counts the rules that jump or go to it. */
export interface ListedChain extends Omit<Chain, 'name'> {
  readonly name: string
  readonly references: number
  readonly rules: readonly Pick<Rule, 'text' | 'counters'>[]
}

/** One chain as formatListing writes it. */
export function formatChainListing(chain: ListedChain, options: ListingOptions = {}): string {
  const lines = chain.rules.map((rule, index) => formatRow(rule, index + 1, options))
  return `${[formatHead(chain, options), formatColumns(options), ...lines].join('\n')}\n`
}

/** One row as formatListing writes it, without the line end; `number` counts from 1. */
export function formatRow(
  rule: Pick<Rule, 'text' | 'counters'>,
  number: number,
  options: ListingOptions = {},
): string {
  const { verbose = true, numeric = true, family = 'ipv4', exact = false, lineNumbers = false } = options
  const spec = readRule(rule)
  const names: ListingNames = { numeric, family, ...(options.service ? { service: options.service } : {}) }
  const protocol = spec.protocol?.value ?? 'all'
  const counters = rule.counters ?? ZERO
  const anyInterface = numeric ? '*' : 'any'
  const columns = [
    lineNumbers ? `${String(number).padEnd(4)} ` : '',
    verbose ? `${countColumn(counters.packets, exact)}${countColumn(counters.bytes, exact)}` : '',
    `${targetColumn(spec).padEnd(9)} `,
    spec.protocol?.negated ? '!' : ' ',
    `${(numeric ? protocolNumber(protocol) : protocolName(protocol)).padEnd(4)} `,
    spec.fragment ? (spec.fragment.negated ? '!f ' : '-f ') : '-- ',
    verbose
      ? ` ${interfaceColumn(spec.inInterface, anyInterface)}${interfaceColumn(spec.outInterface, anyInterface)}`
      : '',
    addressColumn(spec.source, family, numeric),
    addressColumn(spec.destination, family, numeric),
    spec.target?.goto ? '[goto] ' : '',
  ]
  const parts = spec.matches.map((match) => matchListingText(match, names, protocolName(protocol)))
  if (spec.target) parts.push(targetListingText(spec.target, names))
  parts.push(spec.unknown.join(' '))
  return columns.join('') + parts.map((part) => (part === '' ? '' : ` ${part}`)).join('')
}

/**
 * A counter as iptables shows it: all digits up to 99999, then rounded thousands with K, M, G or T. The sum wraps
 * at 2^64 as the tool's does: 18446744073709551615 shows as `0K`.
 */
export function formatCount(count: bigint, exact = false): string {
  if (exact || count <= 99_999n) return String(count)
  let rounded = count
  for (const unit of ['K', 'M', 'G']) {
    rounded = BigInt.asUintN(64, rounded + 500n) / 1000n
    if (rounded <= 9999n) return `${rounded}${unit}`
  }
  return `${BigInt.asUintN(64, rounded + 500n) / 1000n}T`
}

function countReferences(table: Table): Map<string, number> {
  const references = new Map<string, number>()
  for (const rule of table.rules) {
    const target = targetOf(rule)
    if (target) references.set(target.name, (references.get(target.name) ?? 0) + 1)
  }
  return references
}

function formatHead(chain: ListedChain, { verbose = true, exact = false }: ListingOptions): string {
  if (chain.policy === undefined) return `Chain ${chain.name} (${chain.references} references)`
  const { packets, bytes } = chain.counters ?? ZERO
  const counts = verbose ? ` ${formatCount(packets, exact)} packets, ${formatCount(bytes, exact)} bytes` : ''
  return `Chain ${chain.name} (policy ${chain.policy}${counts})`
}

function formatColumns({ verbose = true, exact = false, lineNumbers = false }: ListingOptions): string {
  return [
    lineNumbers ? 'num  ' : '',
    verbose ? (exact ? '    pkts      bytes ' : ' pkts bytes ') : '',
    'target     prot opt ',
    verbose ? 'in     out     ' : '',
    'source               destination         ',
  ].join('')
}

function countColumn(count: bigint, exact: boolean): string {
  return `${formatCount(count, exact).padStart(exact ? 8 : 5)} `
}

/** `-j NOTRACK` is printed under its real name. */
function targetColumn({ target }: RuleSpec): string {
  return target?.name === 'NOTRACK' ? 'CT' : (target?.name ?? '')
}

function interfaceColumn(condition: Condition | undefined, any: string): string {
  return `${condition ? `${condition.negated ? '!' : ''}${condition.value}` : any}`.padEnd(6).concat(' ')
}

function addressColumn(condition: Condition | undefined, family: Family, numeric: boolean): string {
  const any = family === 'ipv6' ? '::/0' : '0.0.0.0/0'
  const whole = family === 'ipv6' ? /\/128$/ : /\/32$/
  const address = condition?.value.replace(whole, '') ?? any
  const shown = !numeric && address === any ? 'anywhere' : address
  return `${condition?.negated ? '!' : ' '}${shown.padEnd(19)} `
}
