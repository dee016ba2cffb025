import type { IpFamily } from '../kubernetes/objects.ts'
import { builtInChains, type KernelTables } from './kernel-tables.ts'
import { formatSavedProbability } from './probability.ts'

/**
 * What iptables-save (nft back end, 1.8.9) prints for these tables when no packet has passed, its own `#` lines
 * left out. Knows the rules that kube-proxy writes, not all of iptables.
 */
export function formatSave(tables: KernelTables, family: IpFamily): string {
  return formatTable('filter', tables, family) + formatTable('nat', tables, family)
}

function formatTable(name: 'filter' | 'nat', tables: KernelTables, family: IpFamily): string {
  const builtIn: readonly string[] = builtInChains[name]
  const own = [...tables[name].keys()].filter((chain) => !builtIn.includes(chain)).sort()
  const lines = [`*${name}`]
  for (const chain of builtIn) lines.push(`:${chain} ACCEPT [0:0]`)
  for (const chain of own) lines.push(`:${chain} - [0:0]`)
  for (const chain of [...builtIn, ...own])
    for (const text of tables[name].get(chain) ?? [])
      lines.push(`-A ${chain} ${formatSavedRule(text, family)}`)
  lines.push('COMMIT\n')
  return lines.join('\n')
}

/** A rule as written (after `-A CHAIN `) → as iptables-save gives it back. */
export function formatSavedRule(text: string, family: IpFamily): string {
  const { header, matches, target } = splitRule(text)
  const words: string[] = []
  for (const option of ['-s', '-d', '-i', '-p'] as const) {
    const value = header[option]
    if (value === undefined) continue
    const [negation, plain] = value.startsWith('! ') ? ['! ', value.slice(2)] : ['', value]
    const address = option === '-s' || option === '-d'
    words.push(`${negation}${option} ${address ? withLength(plain, family) : plain}`)
  }
  for (const match of matches) words.push(formatMatch(match, family))
  if (target.length > 0) words.push(formatTarget(target, family))
  return words.join(' ')
}

interface RuleParts {
  /** Values of -s, -d, -i and -p, with `! ` before a negated one. */
  readonly header: Partial<Record<'-s' | '-d' | '-i' | '-p', string>>
  /** Each match's name and its options in order. */
  readonly matches: readonly (readonly string[])[]
  /** The target and its options; empty for a rule that only counts. */
  readonly target: readonly string[]
}

function splitRule(text: string): RuleParts {
  const words = text.match(/"[^"]*"|\S+/g) ?? []
  const header: RuleParts['header'] = {}
  const matches: string[][] = []
  let target: string[] = []
  let negated = false
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string
    switch (word) {
      case '!':
        negated = true
        continue
      case '-s':
      case '-d':
      case '-i':
      case '-p':
        header[word] = `${negated ? '! ' : ''}${words[++i]}`
        break
      case '-m':
        matches.push([words[++i] as string])
        break
      case '-j':
        target = words.slice(i + 1)
        i = words.length
        break
      default:
        if (negated) matches.at(-1)?.push('!')
        matches.at(-1)?.push(word)
    }
    negated = false
  }
  return { header, matches, target }
}

function withLength(address: string, family: IpFamily): string {
  return address.includes('/') ? address : `${address}/${family === 'IPv4' ? 32 : 128}`
}

function formatMatch([name, ...options]: readonly string[], family: IpFamily): string {
  switch (name) {
    case 'comment':
      return `-m comment --comment ${formatComment(options[1] as string)}`
    case 'mark':
      return `-m mark ${options.map((word) => (word.startsWith('0x') ? formatMark(word) : word)).join(' ')}`
    case 'statistic':
      return `-m statistic --mode random --probability ${formatSavedProbability(options.at(-1) as string)}`
    case 'recent': {
      // The name moves behind the flags, and the defaults show.
      const list = options[options.indexOf('--name') + 1] as string
      const flags = options.filter((word) => word !== '--name' && word !== list)
      const mask = family === 'IPv4' ? '255.255.255.255' : Array(8).fill('ffff').join(':')
      return `-m recent ${flags.join(' ')} --name ${list} --mask ${mask} --rsource`
    }
    case 'nfacct':
      // iptables-save prints two blanks here.
      return `-m nfacct --nfacct-name  ${options[1]}`
    default:
      return ['-m', name, ...options].join(' ')
  }
}

/** Quoted where it holds more than letters, digits, `_` and `-`; the kernel keeps 255 bytes. */
function formatComment(word: string): string {
  const text = (word.startsWith('"') ? word.slice(1, -1) : word).slice(0, 255)
  return /^[\w-]+$/.test(text) ? text : `"${text}"`
}

function formatTarget(target: readonly string[], family: IpFamily): string {
  const [name, option, value] = target
  if (name === 'MARK') {
    const mark = (value as string).replace(/^0x0*/, '0x')
    return `-j MARK --set-xmark ${mark}/${option === '--or-mark' ? mark : '0x0'}`
  }
  if (name === 'REJECT')
    return `-j REJECT --reject-with ${family === 'IPv4' ? 'icmp-port-unreachable' : 'icmp6-port-unreachable'}`
  return `-j ${target.join(' ')}`
}

function formatMark(word: string): string {
  return word.replaceAll(/0x0+(?=[0-9a-f])/g, '0x')
}
