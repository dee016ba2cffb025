import { ownValue } from '../own-value.ts'
import type { ExplainMatch } from './explain-match.ts'
import { unknownWords } from './explain-options.ts'
import { type ExplanationPart, joined, part, series, words } from './explain-parts.ts'
import type { Phrases } from './explain-phrases.ts'
import {
  addressWords,
  bitWords,
  durationWords,
  hexText,
  numberRange,
  parseMark,
  portWords,
  protocolWords,
  rateWords,
  WHOLE_MARK,
} from './explain-values.ts'

/** `whose connection state is NEW`; the commonest ones say what they mean. */
export function addState({ value, negated }: { value: string; negated: boolean }, phrases: Phrases): void {
  const states = value.split(',')
  const sorted = states.toSorted().join()
  if (negated) {
    const none = states.length === 1 ? 'not' : 'none of'
    phrases.addClause(words`whose connection state is ${none} ${series(states, 'and')}`)
  } else if (sorted === 'NEW') phrases.addClause(words`that begin a connection (state NEW)`)
  else if (sorted === 'INVALID') phrases.addClause(words`that fit no connection (state INVALID)`)
  else if (sorted === 'ESTABLISHED' || sorted === 'ESTABLISHED,RELATED')
    phrases.addClause(words`that belong to a known connection (state ${series(states, 'or')})`)
  else phrases.addClause(words`whose connection state is ${series(states, 'or')}`)
}

const ORIGINAL_ENDS: readonly (readonly [option: string, name: string])[] = [
  ['--ctorigsrc', 'original source'],
  ['--ctorigdst', 'original destination'],
  ['--ctreplsrc', 'source in replies'],
  ['--ctrepldst', 'destination in replies'],
]

export const conntrack: ExplainMatch = (options, phrases) => {
  const state = options.signed('--ctstate')
  if (state) addState(state, phrases)
  const whose = (what: string, negated: boolean, value: readonly ExplanationPart[]): void =>
    phrases.addClause(words`whose connection's ${what} is ${negated ? 'not ' : ''}${value}`)
  const protocol = options.signed('--ctproto')
  if (protocol) whose('protocol', protocol.negated, words`${protocolWords(protocol.value)}`)
  for (const [option, name] of ORIGINAL_ENDS) {
    const address = options.signed(option)
    if (address) whose(name, address.negated, addressWords(address.value))
    const port = options.signed(`${option}port`)
    if (port) whose(name, port.negated, portWords(port.value))
  }
  const status = options.signed('--ctstatus')
  if (status) whose('status', status.negated, series(status.value.split(','), 'or'))
  const expiry = options.signed('--ctexpire')
  if (expiry) {
    const seconds = numberRange(expiry.value)
    phrases.addClause(
      words`whose connection ${expiry.negated ? 'does not expire' : 'expires'} in ${seconds} seconds`,
    )
  }
  const direction = options.value('--ctdir')
  if (direction === 'ORIGINAL')
    phrases.addClause(words`that go in the direction of the first packet (ORIGINAL)`)
  else if (direction === 'REPLY') phrases.addClause(words`that go in the direction of replies (REPLY)`)
  else if (direction !== undefined)
    phrases.addClause(words`that match ${unknownWords(`--ctdir ${direction}`)}`)
}

export function markOf(owner: string): ExplainMatch {
  return (options, phrases) => {
    const condition = options.signed('--mark')
    if (!condition) return
    const mark = parseMark(condition.value)
    const { negated } = condition
    if (!mark)
      phrases.addClause(
        words`whose ${owner} ${negated ? 'is not' : 'is'} ${unknownWords(`--mark ${condition.value}`)}`,
      )
    else phrases.addClause(words`whose ${owner} ${markState(mark, negated, condition.value)}`)
  }
}

function markState(
  { value, mask }: { value: number; mask: number },
  negated: boolean,
  written: string,
): ExplanationPart[] {
  if (mask === WHOLE_MARK) return words`is ${negated ? 'not ' : ''}${part('mark', hexText(value), written)}`
  const isSingle = (mask & (mask - 1)) === 0
  if (mask !== 0 && isSingle && (value === mask || value === 0)) {
    const has = (value === mask) !== negated
    return words`${has ? 'has' : 'lacks'} ${bitWords(mask, written)}`
  }
  if (value === mask) return words`${negated ? 'lacks one of' : 'has all of'} the ${bitWords(mask, written)}`
  if (value === 0) return words`${negated ? 'has one of' : 'has none of'} the ${bitWords(mask, written)}`
  const bits = bitWords(mask)
  return words`is ${negated ? 'not ' : ''}${part('mark', hexText(value), written)} in the ${bits}`
}

export const statistic: ExplainMatch = (options, phrases) => {
  const mode = options.value('--mode')
  const every = options.signed('--every')
  if (mode !== 'nth' || !every) return false
  const start = options.value('--packet') ?? '0'
  const chosen = `1 packet in every ${every.value}`
  phrases.addLead(words`for ${every.negated ? `all but ${chosen}` : chosen} (the count starts at ${start})`)
}

export const recent: ExplainMatch = (options, phrases) => {
  const list = options.value('--name') ?? 'DEFAULT'
  const isDestination = options.flag('--rdest')
  if (!isDestination) options.flag('--rsource')
  const side = isDestination ? 'destination' : 'source'
  const key = words`${side} address${networkOf(options.value('--mask'))}`
  const name = part('name', list)
  if (options.flag('--set')) phrases.addEffect(words`remember the ${key} in the list ${name}`)
  const remove = options.signedFlag('--remove')
  if (remove?.negated)
    phrases.addClause(words`whose ${key} is not in the list ${name} (where it is, it is removed)`)
  else if (remove) phrases.addClause(words`whose ${key} is in the list ${name}, from where it is removed`)
  for (const verb of ['--rcheck', '--update'] as const) {
    const check = options.signedFlag(verb)
    if (!check) continue
    const seconds = options.value('--seconds')
    const hits = options.value('--hitcount')
    const details = [
      ...(hits === undefined ? [] : [words` at least ${hits} times`]),
      ...(seconds === undefined
        ? []
        : [words` within the last ${durationWords(seconds, `--seconds ${seconds}`)}`]),
      ...(options.flag('--rttl') ? [words` with the same TTL`] : []),
    ]
    const notes = [
      ...(options.flag('--reap') ? ['older entries are forgotten'] : []),
      ...(verb === '--update' ? ['this time is noted, too'] : []),
    ]
    const seen = details.length > 0 ? joined([' as seen', ...details]) : []
    const note = notes.length > 0 ? words` (${series(notes, 'and')})` : []
    phrases.addClause(words`whose ${key} is ${check.negated ? 'not ' : ''}in the list ${name}${seen}${note}`)
  }
}

/** Nothing for a mask that keeps the whole address. */
function networkOf(mask: string | undefined): ExplanationPart[] {
  if (mask === undefined || mask === '255.255.255.255' || /^(ffff:){7}ffff$/i.test(mask)) return []
  return words` under the mask ${part('address', mask)}`
}

export const limit: ExplainMatch = (options, phrases) => {
  const written = options.value('--limit') ?? '3/hour'
  const burst = options.value('--limit-burst') ?? '5'
  const rate = rateWords(written) ?? unknownWords(written)
  phrases.addLead(words`at most ${rate} (bursts of ${burst})`)
}

export const hashlimit: ExplainMatch = (options, phrases) => {
  const upTo = options.value('--hashlimit-upto', '--hashlimit')
  const above = upTo === undefined ? options.value('--hashlimit-above') : undefined
  const written = upTo ?? above
  if (written === undefined) return
  const rate = rateWords(written) ?? unknownWords(written)
  const burst = options.value('--hashlimit-burst') ?? '5'
  const modes = options.value('--hashlimit-mode')?.split(',') ?? []
  const perKey = modes.length === 0 ? [] : words` for each ${series(modes.map(hashKey), 'and')}`
  const list = options.value('--hashlimit-name')
  const notes = [
    words`bursts of ${burst}`,
    ...(list === undefined ? [] : [words`table ${part('name', list)}`]),
    ...HASH_NETWORKS.flatMap(([option, side]) => {
      const length = options.value(option)
      return length === undefined ? [] : [words`${side}s taken by their first ${length} bits`]
    }),
  ]
  const bound = above === undefined ? 'at most' : 'only beyond'
  phrases.addLead(
    words`${bound} ${rate}${perKey} (${joined(notes.flatMap((note, at) => (at === 0 ? [note] : [', ', note])))})`,
  )
}

const HASH_NETWORKS = [
  ['--hashlimit-srcmask', 'source'],
  ['--hashlimit-dstmask', 'destination'],
] as const

function hashKey(mode: string): string {
  const keys: Readonly<Record<string, string>> = {
    srcip: 'source address',
    dstip: 'destination address',
    srcport: 'source port',
    dstport: 'destination port',
  }
  return keys[mode] ?? mode
}

const SET_SIDES: Readonly<Record<string, string>> = { src: 'source', dst: 'destination' }

export const set: ExplainMatch = (options, phrases) => {
  const found = options.pair('--match-set')
  if (!found) return
  const [name, sides] = found.values
  const isIn = found.negated ? 'is not in' : 'is in'
  phrases.addClause(words`whose ${setEntry(sides)} ${isIn} the set ${part('name', name)}`)
}

/** `source`; `src,dst entry` where a set joins several fields. */
export function setEntry(sides: string): string {
  return ownValue(SET_SIDES, sides) ?? `${sides} entry`
}

export const connlimit: ExplainMatch = (options, phrases) => {
  const above = options.signed('--connlimit-above')
  const upTo = above ? undefined : options.signed('--connlimit-upto')
  const bound = above ?? upTo
  if (!bound) return
  const side = options.flag('--connlimit-daddr') ? 'destination' : 'source'
  if (side === 'source') options.flag('--connlimit-saddr')
  const mask = options.value('--connlimit-mask')
  const isWhole = mask === undefined || mask === '32' || mask === '128'
  const key = isWhole ? `${side} address` : `${side}'s /${mask} network`
  const exceeds = (above !== undefined) !== bound.negated
  const count = exceeds ? 'more than' : 'at most'
  phrases.addClause(
    words`whose ${part('text', key, mask && `--connlimit-mask ${mask}`)} has ${count} ${bound.value} connections`,
  )
}

export const quota: ExplainMatch = (options, phrases) => {
  const bytes = options.signed('--quota')
  if (bytes)
    phrases.addLead(words`${bytes.negated ? 'after' : 'until'} ${bytes.value} bytes have come by this rule`)
}
