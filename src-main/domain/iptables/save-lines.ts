import type { Chain, ChainName, Counters } from './rule-set.ts'
import { isBalanced } from './rule-words.ts'

/** The commands of iptables-restore lines; iptables-save writes `-A` alone. */
export type RestoreCommand = '-A' | '-I' | '-R' | '-D' | '-N' | '-X' | '-F' | '-P' | '-Z' | '-E'

/** One line of a save or restore text. Inverse of `formatLine`, but for `refused`. */
export type SaveLine =
  | { readonly kind: 'table'; readonly name: string }
  | ({ readonly kind: 'chain' } & Chain)
  | CommandLine
  | { readonly kind: 'commit' }
  | { readonly kind: 'remark'; readonly text: string }

/** `[p:b] -A CHAIN TEXT`; only `-F`, `-X` and `-Z` may stand without a chain (all of the table's). */
export interface CommandLine {
  readonly kind: 'command'
  readonly command: RestoreCommand
  readonly chain?: ChainName
  readonly text: string
  readonly counters?: Counters
}

export interface RefusedLine {
  readonly kind: 'refused'
  readonly message: string
}

const ZERO: Counters = { packets: 0n, bytes: 0n }
const U64_MAX = 18446744073709551615n
const POLICIES: ReadonlySet<string> = new Set(['ACCEPT', 'DROP', 'QUEUE', 'RETURN'])
const COMMANDS: ReadonlySet<string> = new Set(['-A', '-I', '-R', '-D', '-N', '-X', '-F', '-P', '-Z', '-E'])
const WITHOUT_CHAIN: ReadonlySet<string> = new Set(['-X', '-F', '-Z'])

/** Strict: a line that iptables-save would not write like this is refused with the reason. */
export function parseLine(line: string): SaveLine | RefusedLine {
  switch (line.charAt(0)) {
    case '':
    case '#':
      return { kind: 'remark', text: line }
    case '*':
      return /^\*[\w-]+$/.test(line)
        ? { kind: 'table', name: line.slice(1) }
        : refused('a table line is `*` and the name of the table, nothing else')
    case ':':
      return parseChainLine(line)
    case '[':
    case '-':
      return parseCommandLine(line)
    case 'C':
      if (line === 'COMMIT') return { kind: 'commit' }
  }
  if (line.startsWith('COMMIT')) return refused('COMMIT must stand alone on its line')
  if (line.trim() === '') return refused('the line holds blanks only')
  return refused(`this is no line of an iptables-save text: ${excerpt(line)}`)
}

export function formatLine(line: SaveLine): string {
  switch (line.kind) {
    case 'table':
      return `*${line.name}`
    case 'chain': {
      const counters = line.counters ? ` ${formatCounters(line.counters)}` : ''
      return `:${line.name} ${line.policy ?? '-'}${counters}`
    }
    case 'command': {
      const counters = line.counters ? `${formatCounters(line.counters)} ` : ''
      const chain = line.chain === undefined ? '' : ` ${line.chain}`
      return `${counters}${line.command}${chain}${line.text === '' ? '' : ` ${line.text}`}`
    }
    case 'commit':
      return 'COMMIT'
    case 'remark':
      return line.text
    default:
      return line satisfies never
  }
}

function formatCounters(counters: Counters): string {
  return `[${counters.packets}:${counters.bytes}]`
}

function parseChainLine(line: string): SaveLine | RefusedLine {
  const parts = /^:(\S+) (\S+)(?: (\S+))?$/.exec(line)
  if (!parts)
    return refused('a chain line is `:CHAIN POLICY [packets:bytes]` with one blank between the parts')
  const [, name = '', policy = '', written] = parts
  if (policy !== '-' && !POLICIES.has(policy))
    return refused(`chain ${name} has the policy "${excerpt(policy)}"; it must be ACCEPT, DROP, QUEUE or -`)
  const counters = written === undefined ? undefined : parseCounters(written)
  if (written !== undefined && !counters) return refused(badCounters(written))
  return {
    kind: 'chain',
    name: name as ChainName,
    ...(policy === '-' ? {} : { policy }),
    ...(counters ? { counters } : {}),
  }
}

function parseCommandLine(line: string): SaveLine | RefusedLine {
  let at = 0
  let counters: Counters | undefined
  if (line.startsWith('[')) {
    const end = line.indexOf(' ')
    const written = end === -1 ? line : line.slice(0, end)
    counters = parseCounters(written)
    if (!counters) return refused(badCounters(written))
    if (line.charAt(end + 1) !== '-' || end === -1)
      return refused('behind the counters must come one blank and `-A CHAIN`')
    at = end + 1
  }
  const command = line.slice(at, at + 2)
  if (!COMMANDS.has(command) || (line.length > at + 2 && line.charAt(at + 2) !== ' '))
    return refused(`"${excerpt(line.slice(at).split(' ', 1)[0] ?? '')}" is not a command of a rule line`)
  const chainFrom = at + 3
  if (line.length < chainFrom) {
    if (!WITHOUT_CHAIN.has(command) || counters) return refused(`${command} has no chain`)
    return { kind: 'command', command: command as RestoreCommand, text: '' }
  }
  const blank = line.indexOf(' ', chainFrom)
  const chain = blank === -1 ? line.slice(chainFrom) : line.slice(chainFrom, blank)
  if (chain === '' || chain.startsWith('-') || chain.includes('\t') || chain.includes('"'))
    return refused(`${command} has no chain, or not one blank before it`)
  const text = blank === -1 ? '' : line.slice(blank + 1)
  if (blank !== -1 && text === '') return refused(`a blank stands behind the chain ${chain} and then nothing`)
  if (!isBalanced(text)) return refused('a quote is opened and not closed')
  // Built with one shape for all rules: 100,000 objects cost less that way.
  return counters
    ? { kind: 'command', command: command as RestoreCommand, chain: chain as ChainName, text, counters }
    : { kind: 'command', command: command as RestoreCommand, chain: chain as ChainName, text }
}

function parseCounters(written: string): Counters | undefined {
  if (written === '[0:0]') return ZERO
  const parts = /^\[(0|[1-9]\d*):(0|[1-9]\d*)\]$/.exec(written)
  if (!parts?.[1] || !parts[2] || parts[1].length > 20 || parts[2].length > 20) return undefined
  const counters = { packets: BigInt(parts[1]), bytes: BigInt(parts[2]) }
  return counters.packets > U64_MAX || counters.bytes > U64_MAX ? undefined : counters
}

function badCounters(written: string): string {
  return `the counters "${excerpt(written)}" are not [packets:bytes] with two whole numbers below 2^64`
}

function refused(message: string): RefusedLine {
  return { kind: 'refused', message }
}

function excerpt(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}
