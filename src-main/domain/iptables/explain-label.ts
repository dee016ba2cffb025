import { chanceOf, percentText } from './explain-chance.ts'
import { OptionReader } from './explain-options.ts'
import { durationWords, hexText, parseMark, WHOLE_MARK } from './explain-values.ts'
import { targetListingText } from './listing-text.ts'
import { protocolName } from './protocol-names.ts'
import type { Family, Rule } from './rule-set.ts'
import { type MatchSpec, type RuleSpec, readRule, type TargetSpec } from './rule-spec.ts'

/** Labels are never longer; "…" stands for what has no room. */
export const LABEL_LENGTH = 40

/** `33 %`, `! src 10.244.0.0/16`, `dst 10.107.38.142 tcp 80`: the conditions for an edge; empty without any. */
export function matchLabel(rule: Pick<Rule, 'text'>): string {
  const spec = readRule(rule)
  const items = [
    ...chanceItems(spec),
    ...conditionItem('src', spec.source, withoutFullPrefix),
    ...conditionItem('dst', spec.destination, withoutFullPrefix),
    ...conditionItem('in', spec.inInterface),
    ...conditionItem('out', spec.outInterface),
    ...(spec.fragment ? [`${spec.fragment.negated ? '! ' : ''}fragment`] : []),
    ...protocolItems(spec),
    ...spec.matches.flatMap((match) =>
      matchItems(match, spec.protocol !== undefined && !spec.protocol.negated),
    ),
    ...spec.unknown,
  ]
  // What a rule leaves out says more than what all rules of its chain ask for.
  return fitted([...items.filter(isNegated), ...items.filter((item) => !isNegated(item))])
}

/** `DNAT 10.244.1.7:80`, `MASQUERADE`, `KUBE-SVC-…`; empty for a rule without target. */
export function targetLabel(rule: Pick<Rule, 'text'>, family: Family = 'ipv4'): string {
  const { target } = readRule(rule)
  if (!target) return ''
  if (target.goto) return fitted([`goto ${target.name}`])
  return fitted([target.name, ...targetItems(target, family)])
}

function targetItems(target: TargetSpec, family: Family): string[] {
  const options = new OptionReader(target.options)
  const value = options.value('--to-destination', '--to-source', '--to-ports', '--to', '--on-port')
  if (value !== undefined) return [value]
  if (target.name === 'MARK' || target.name === 'CONNMARK') {
    const text = targetListingText(target, { numeric: true, family })
    return [text.startsWith(`${target.name} `) ? text.slice(target.name.length + 1) : text]
  }
  return []
}

function isNegated(item: string): boolean {
  return item.startsWith('! ')
}

function fitted(items: readonly string[]): string {
  const whole = items.join(' ')
  if (whole.length <= LABEL_LENGTH) return whole
  for (let count = items.length - 1; count > 0; count--) {
    const shorter = `${items.slice(0, count).join(' ')} …`
    if (shorter.length <= LABEL_LENGTH) return shorter
  }
  return `${whole.slice(0, LABEL_LENGTH - 1)}…`
}

function conditionItem(
  name: string,
  condition: { value: string; negated: boolean } | undefined,
  shorten = (value: string): string => value,
): string[] {
  return condition ? [`${condition.negated ? '! ' : ''}${name} ${shorten(condition.value)}`] : []
}

function withoutFullPrefix(address: string): string {
  return address.replace(/(?<=\..*)\/32$|(?<=:.*)\/128$/, '')
}

function chanceItems(spec: Pick<RuleSpec, 'matches'>): string[] {
  const chance = chanceOf(spec)
  return chance === undefined ? [] : [percentText(chance)]
}

/** `tcp 80` behind a destination, `tcp dport 80` without one. */
function protocolItems({ protocol, destination, matches }: RuleSpec): string[] {
  if (!protocol) return []
  const name = `${protocol.negated ? '! ' : ''}${protocolName(protocol.value)}`
  const port = matches.flatMap(({ options }) =>
    options.filter(({ name }) => name === '--dport' || name === '--destination-port'),
  )[0]
  const value = port?.values[0]
  if (!port || value === undefined || port.negated || protocol.negated) return [name]
  return [`${name} ${destination && !destination.negated ? '' : 'dport '}${value}`]
}

/** `saysPort`: the protocol's item holds the destination port. */
function matchItems(match: MatchSpec, saysPort: boolean): string[] {
  const options = new OptionReader(match.options)
  const sign = (negated: boolean): string => (negated ? '! ' : '')
  switch (match.name) {
    case 'comment':
    case 'nfacct':
      return []
    case 'tcp':
    case 'udp':
    case 'sctp':
    case 'dccp':
    case 'udplite':
      return match.options.flatMap(({ name, negated, values }) => {
        const option = name.replace('source-port', 'sport').replace('destination-port', 'dport')
        if (option === '--dport' && !negated && saysPort) return []
        return [`${sign(negated)}${[option.slice(2), ...values].join(' ')}`]
      })
    case 'multiport':
      return match.options.map(({ name, negated, values }) => `${sign(negated)}${name.slice(2)} ${values}`)
    case 'mark':
    case 'connmark':
      return match.options.map(
        ({ negated, values: [mark = ''] }) => `${sign(negated)}${match.name} ${markText(mark)}`,
      )
    case 'conntrack':
    case 'state': {
      const state = options.signed('--ctstate', '--state')
      const more = options.leftover() === '' ? [] : ['…']
      return state ? [`${sign(state.negated)}state ${state.value}`, ...more] : [`${match.name} …`]
    }
    case 'addrtype':
      return match.options.map(({ name, negated, values: [type = ''] }) =>
        [`${sign(negated)}${name.slice(2).replace('-type', '')}`, type.toLowerCase()].join(' ').trim(),
      )
    case 'statistic': {
      const every = options.signed('--every')
      if (every === undefined) return chanceItems({ matches: [match] }).length > 0 ? [] : ['statistic …']
      return [`${sign(every.negated)}1 of every ${every.value}`]
    }
    case 'recent':
      return recentItems(options)
    case 'limit':
      return [`limit ${options.value('--limit') ?? '3/hour'}`]
    case 'set': {
      const found = options.pair('--match-set')
      return found ? [`${sign(found.negated)}${found.values[1]} in ${found.values[0]}`] : ['set …']
    }
    case 'icmp':
    case 'icmp6': {
      const type = options.signed('--icmp-type', '--icmpv6-type')
      return type ? [`${sign(type.negated)}type ${type.value}`] : []
    }
    default:
      return match.options.length === 0 ? [match.name] : [otherMatch(match)]
  }
}

/** `length 40:100`, `uid-owner 1000`: an option tells its match where it is the only one. */
function otherMatch({ name, options }: MatchSpec): string {
  const [option] = options
  if (!option || options.length > 1) return `${name} …`
  const bare = option.name.slice(2)
  const head = bare.includes(name) ? bare : `${name} ${bare}`
  return `${option.negated ? '! ' : ''}${[head, ...option.values].join(' ')}`
}

function recentItems(options: OptionReader): string[] {
  if (options.flag('--set')) return []
  const check =
    options.signedFlag('--rcheck') ?? options.signedFlag('--update') ?? options.signedFlag('--remove')
  const seconds = options.value('--seconds')
  const hits = options.value('--hitcount')
  const within =
    seconds === undefined ? '' : ` in ${durationWords(seconds, seconds).text.replace(/^\D/, '1 $&')}`
  return [`${check?.negated ? '! ' : ''}seen${hits === undefined ? '' : ` ${hits}x`}${within}`]
}

function markText(written: string): string {
  const mark = parseMark(written)
  if (!mark) return written
  const { value, mask } = mark
  if (mask === WHOLE_MARK || value === mask) return hexText(value)
  return `${hexText(value)}/${hexText(mask)}`
}
