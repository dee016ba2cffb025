import type { MatchSpec, Option } from '../iptables/rule-spec.ts'
import { ownValue } from '../own-value.ts'
import { optionText } from './match-header.ts'
import { type Check, MATCHED, miss, notKnown, open, type Question } from './match-outcome.ts'
import { parseAddress } from './walk-address.ts'
import { complement, fraction, parseProbability, toChance } from './walk-chance.ts'
import type { RecentEntry } from './walk-context.ts'

function find(match: MatchSpec, name: string): Option | undefined {
  return match.options.find((option) => option.name === name)
}

function optionValue(match: MatchSpec, name: string): string | undefined {
  return find(match, name)?.values[0]
}

function matchText(match: MatchSpec): string {
  return [`-m ${match.name}`, ...match.options.map(optionText)].join(' ')
}

export function readStatistic(match: MatchSpec): Check[] {
  const probability = find(match, '--probability')
  const every = find(match, '--every')
  if (probability) {
    const written = parseProbability(probability.values[0] ?? '')
    if (!written) return [notKnown(matchText(match))]
    const chance = probability.negated ? complement(written) : written
    const { text } = toChance(chance)
    if (chance.numerator === 0n) return [() => miss('the draw cannot succeed: the chance is 0')]
    if (text === '1') return [() => MATCHED]
    const question: Question = {
      fact: `the draw, with a chance of ${text}, comes out for the rule`,
      denial: `the draw, with a chance of ${text}, comes out against the rule`,
      negated: false,
      chance,
    }
    return [() => ({ kind: 'open', question })]
  }
  const count = Number(every?.values[0])
  if (!every || !(count >= 1)) return [notKnown(matchText(match))]
  const once = fraction(1n, BigInt(count))
  const chance = every.negated ? complement(once) : once
  const said = `the count, which lets ${toChance(chance).text} of the packets match, is`
  const question: Question = {
    fact: `${said} at such a packet`,
    denial: `${said} at another packet`,
    negated: false,
    chance,
  }
  return [() => ({ kind: 'open', question })]
}

/** The lists of `-m recent`: `--set` always matches, the others ask what the list holds. */
export function readRecent(match: MatchSpec): Check[] {
  const list = optionValue(match, '--name') ?? 'DEFAULT'
  const isDestination = find(match, '--rdest') !== undefined
  const mask = optionValue(match, '--mask')
  const verb = match.options.find(({ name }) => /^--(set|rcheck|update|remove)$/.test(name))
  const seconds = optionValue(match, '--seconds')
  const hits = optionValue(match, '--hitcount')
  const isPlain = mask === undefined || /^(255\.255\.255\.255|(ffff:){7}ffff)$/i.test(mask)
  if (!verb || find(match, '--rttl')) return [notKnown(matchText(match))]
  return [
    (packet, facts) => {
      const address = isDestination ? packet.dst : packet.src
      const whose = `${address?.text ?? 'the new source'}${isPlain ? '' : ` under ${mask}`}`
      const key = `recent ${list} ${whose}${hits === undefined ? '' : ` ${hits} hits`}`
      if (verb.name === '--set')
        return verb.negated
          ? miss(`${whose} is noted in the list ${list}, which a negated --set takes for no match`)
          : { kind: 'match', effect: { text: `notes ${whose} in the list ${list}`, settles: key } }
      const within = seconds === undefined ? '' : ` within the last ${seconds} seconds`
      const often = hits === undefined ? '' : ` at least ${hits} times`
      const entries = facts.context.recentLists?.[list]
      if (!entries || !address || !isPlain)
        return open(facts, 'recent-list', {
          key,
          fact: `the list ${list} holds ${whose}${often}${within}`,
          denial: `the list ${list} does not hold ${whose}${often}${within}`,
          negated: verb.negated,
        })
      const seen = entries.find((entry) => parseAddress(entry.address)?.value === address.value)
      const isThere = countOf(seen, seconds) >= Number(hits ?? 1)
      facts.note(
        'recent-list',
        `the list ${list} ${isThere ? 'holds' : 'does not hold'} ${whose}${often}${within}`,
      )
      if (isThere !== verb.negated) return MATCHED
      return miss(`the list ${list} ${isThere ? 'holds' : 'does not hold'} ${whose}${often}${within}`)
    },
  ]
}

function countOf(entry: RecentEntry | undefined, seconds: string | undefined): number {
  const ages = entry?.seenSecondsAgo ?? []
  return seconds === undefined ? ages.length : ages.filter((age) => age <= Number(seconds)).length
}

/** limit, hashlimit, connlimit, time, quota: what went before, or the clock, decides. */
export function readPast(match: MatchSpec): Check[] {
  const text = matchText(match)
  const question: Question = {
    // The clock stands still during a walk; a rate's budget shrinks with every packet that asks.
    ...(match.name === 'time' ? { key: text } : {}),
    fact: `${ownValue(PAST, match.name) ?? 'the past'} fits \`${text}\``,
    denial: `${ownValue(PAST, match.name) ?? 'the past'} does not fit \`${text}\``,
    negated: false,
  }
  return [(_, facts) => open(facts, 'rate', question)]
}

const PAST: Readonly<Record<string, string>> = {
  limit: 'the rate of such packets',
  hashlimit: 'the rate of such packets',
  connlimit: 'the number of connections',
  time: 'the time of day',
  quota: 'the number of bytes so far',
}
