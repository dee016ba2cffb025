import { ownValue } from '../own-value.ts'
import type { Family } from './rule-set.ts'
import { type MatchSpec, type Option, optionOf, type TargetSpec } from './rule-spec.ts'
import { quoteString, quoteWord } from './rule-words.ts'

export interface ListingNames {
  /** `-n`: numbers and bit masks instead of names. */
  readonly numeric: boolean
  readonly family: Family
  /** What getservbyport would say; without it ports stay numbers. Asked only if not numeric. */
  readonly service?: (port: number, protocol: string) => string | undefined
}

/** A part's text, or undefined where this writer does not know how iptables prints it. */
type PartText = (part: MatchSpec, names: ListingNames, protocol: string) => string | undefined

/**
 * What `iptables -L` prints for a match behind the columns, without the blank before it. A match or an option
 * that this writer does not know stands there in its save words (`-m time --weekdays Mon`).
 */
export function matchListingText(match: MatchSpec, names: ListingNames, protocol = 'all'): string {
  const write = ownValue(MATCH_TEXTS, match.name)
  return write?.(match, names, protocol) ?? saveWords(['-m', match.name], match.options)
}

/** As matchListingText, for what the target adds (`to:10.244.1.7:80`); empty for a verdict or a chain. */
export function targetListingText(target: TargetSpec, names: ListingNames): string {
  const write = ownValue(TARGET_TEXTS, target.name)
  return write?.(target, names, '') ?? saveWords([], target.options)
}

function saveWords(head: readonly string[], options: readonly Option[]): string {
  const words = options.flatMap((option) => [
    ...(option.negated ? ['!'] : []),
    option.name,
    ...option.values.map(quoteWord),
  ])
  return [...head, ...words].join(' ')
}

const MATCH_TEXTS: Readonly<Record<string, PartText>> = {
  // -m comment --comment "default/http-svc cluster IP"
  comment: (match) => only(match, ['--comment'], () => `/* ${firstValue(match, '--comment') ?? ''} */`),
  // -p tcp -m tcp ! --dport 80 --tcp-flags SYN,RST SYN
  tcp: transportText,
  udp: transportText,
  udplite: transportText,
  sctp: transportText,
  dccp: transportText,
  // -m multiport ! --dports 80,443,8000:9000
  multiport: (match, names, protocol) =>
    single(match, ({ name, negated, values: [ports = ''] }) => {
      const side = { '--source-ports': 'sports', '--destination-ports': 'dports' }[name] ?? name.slice(2)
      // A range keeps its numbers even where names are asked for.
      const written = ports
        .split(',')
        .map((port) => (port.includes(':') ? port : portText(port, names, protocol)))
        .join(',')
      return `multiport ${side} ${negated ? ' !' : ''}${written}`
    }),
  // -p icmp -m icmp --icmp-type 3/4
  icmp: (match, names) => icmpText(match, '--icmp-type', 'icmp', names),
  icmp6: (match, names) => icmpText(match, '--icmpv6-type', 'ipv6-icmp', names),
  // -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT
  conntrack: (match) => listed(match, 'ct'),
  state: (match) => listed(match, 'state'),
  // -m mark ! --mark 0x4000/0x4000
  mark: (match) => markMatchText(match, 'mark match', ''),
  connmark: (match) => markMatchText(match, 'connmark match', ' '),
  // -m statistic --mode random --probability 0.33333333349
  statistic: (match) =>
    only(match, ['--mode', '--probability', '--every', '--packet'], () => {
      const parts = match.options
        .filter((option) => !(option.name === '--packet' && option.values[0] === '0'))
        .map((option) => bare(option))
      return `statistic ${parts.join(' ')}`
    }),
  // -m addrtype ! --dst-type LOCAL --limit-iface-in
  addrtype: (match) => {
    const parts = match.options.map(({ name, negated, values: [value] }) => {
      if (name === '--limit-iface-in') return 'limit-in'
      if (name === '--limit-iface-out') return 'limit-out'
      return `${name.slice(2)} ${negated ? '!' : ''}${value}`
    })
    return `ADDRTYPE match ${parts.join(' ')}`
  },
  // -m recent --rcheck --seconds 10800 --reap --name KUBE-SEP-X --mask 255.255.255.255 --rsource
  recent: recentText,
  // -m limit --limit 3/min --limit-burst 10
  limit: (match) => {
    if (match.options.some((option) => option.negated)) return undefined
    const limit = firstValue(match, '--limit') ?? '3/hour'
    return only(
      match,
      ['--limit', '--limit-burst'],
      () => `limit: avg ${limit} burst ${firstValue(match, '--limit-burst') ?? '5'}`,
    )
  },
  // -m set ! --match-set cali40all-ipam-pools dst
  set: (match) => only(match, ['--match-set', '--return-nomatch'], () => match.options.map(bare).join(' ')),
  // -m owner ! --uid-owner 0-5
  owner: (match) => {
    const parts = match.options.map(({ name, negated, values: [value] }) => {
      const sign = negated ? '! ' : ''
      if (name === '--uid-owner') return `${sign}owner UID match ${value}`
      if (name === '--gid-owner') return `${sign}owner GID match ${value}`
      return name === '--socket-exists' ? `${sign}owner socket exists` : undefined
    })
    return parts.includes(undefined) ? undefined : parts.join(' ')
  },
  // -m physdev ! --physdev-is-bridged
  physdev: (match) => `PHYSDEV match ${saveWords([], match.options)}`,
  // -m nfacct --nfacct-name ct_state_invalid_dropped_pkts; two blanks, in iptables-save as well
  nfacct: (match) => single(match, ({ values: [name = ''] }) => `nfacct-name  ${quoteString(name)}`),
  // -m ttl ! --ttl-eq 64
  ttl: (match) => hopLimitText(match, 'TTL'),
  hl: (match) => hopLimitText(match, 'HL'),
  // -m length ! --length 40:100
  length: (match) => single(match, (option) => `length ${signed(option)}`),
  // -m mac ! --mac-source 00:11:22:33:44:aa
  mac: (match) =>
    single(match, ({ negated, values: [mac = ''] }) => `MAC ${negated ? '! ' : ''}${mac.toLowerCase()}`),
  // -m pkttype --pkt-type broadcast
  pkttype: (match) =>
    single(match, ({ negated, values: [type] }) => `PKTTYPE ${negated ? '!=' : '='} ${type}`),
  // -m iprange ! --dst-range 10.0.1.1-10.0.1.9
  iprange: (match) =>
    match.options
      .map(({ name, negated, values: [range] }) => {
        const side = name === '--src-range' ? 'source' : 'destination'
        return `${side} IP range ${negated ? '! ' : ''}${range}`
      })
      .join(' '),
  // -m connlimit --connlimit-above 5 --connlimit-mask 32 --connlimit-saddr
  connlimit: (match) => {
    const above = firstValue(match, '--connlimit-above')
    const bound = above ?? firstValue(match, '--connlimit-upto')
    const mask = firstValue(match, '--connlimit-mask')
    if (bound === undefined || mask === undefined) return undefined
    const side = optionOf(match, '--connlimit-daddr') ? 'dst' : 'src'
    return `#conn ${side}/${mask} ${above === undefined ? '<=' : '>'} ${bound}`
  },
  // -m helper ! --helper ftp
  helper: (match) =>
    single(match, ({ negated, values: [name] }) => `helper match ${negated ? '! ' : ''}"${name}"`),
  // -m string --string "GET /" --algo bm --to 1500
  string: (match) => {
    const pattern = optionOf(match, '--string') ?? optionOf(match, '--hex-string')
    if (!pattern) return undefined
    const escaped = (pattern.values[0] ?? '').replace(/["\\]/g, '\\$&')
    const parts = [`STRING match ${pattern.negated ? '!' : ''} "${escaped}"`]
    parts.push(`ALGO name ${firstValue(match, '--algo')}`)
    for (const bound of ['from', 'to']) {
      const value = firstValue(match, `--${bound}`)
      if (value !== undefined) parts.push(`${bound.toUpperCase()} ${value}`)
    }
    if (optionOf(match, '--icase')) parts.push('ICASE')
    return parts.join(' ')
  },
  // -m hashlimit --hashlimit-upto 5/sec --hashlimit-burst 7 --hashlimit-mode srcip,dstport --hashlimit-name web
  hashlimit: (match) =>
    only(
      match,
      ['upto', 'above', 'burst', 'mode', 'name'].map((name) => `--hashlimit-${name}`),
      () => {
        const above = firstValue(match, '--hashlimit-above')
        const limit = above ?? firstValue(match, '--hashlimit-upto')
        const mode = firstValue(match, '--hashlimit-mode')
        const head = `limit: ${above === undefined ? 'up to' : 'above'} ${limit}`
        const burst = `burst ${firstValue(match, '--hashlimit-burst') ?? '5'}`
        return `${head} ${burst}${mode === undefined ? '' : ` mode ${mode.replaceAll(',', '-')}`}`
      },
    ),
  // -m dscp ! --dscp 0x0a
  dscp: (match) => single(match, (option) => `DSCP match ${signed(option)}`),
  // -p tcp -m tcpmss ! --mss 10:20
  tcpmss: (match) => single(match, (option) => `tcpmss match ${signed(option)}`),
  u32: (match) => single(match, ({ negated, values: [test] }) => `u32 ${negated ? '! ' : ''}"${test}"`),
  cpu: (match) => single(match, ({ negated, values: [cpu] }) => `cpu ${negated ? '! ' : ''}${cpu}`),
  socket: (match) => saveWords(['socket'], match.options),
  // -m rpfilter --validmark --invert
  rpfilter: (match) => ['rpfilter', ...match.options.map(bare)].join(' '),
}

const TARGET_TEXTS: Readonly<Record<string, PartText>> = {
  // -j DNAT --to-destination 10.244.1.7:80
  DNAT: natText('--to-destination', 'to:'),
  // -j SNAT --to-source 198.18.7.25 --random-fully
  SNAT: natText('--to-source', 'to:'),
  NETMAP: natText('--to', 'to:'),
  // -j MASQUERADE --to-ports 1024-65535 --random-fully
  MASQUERADE: natText('--to-ports', 'masq ports: '),
  REDIRECT: natText('--to-ports', 'redir ports '),
  // -j MARK --set-xmark 0x4000/0x4000
  MARK: (target) => single(target, (option) => markTargetText('MARK', option)),
  // -j CONNMARK --restore-mark --nfmask 0x80 --ctmask 0x80
  CONNMARK: connmarkText,
  REJECT: (target, { family }) => {
    const usual = family === 'ipv6' ? 'icmp6-port-unreachable' : 'icmp-port-unreachable'
    return only(
      target,
      ['--reject-with'],
      () => `reject-with ${firstValue(target, '--reject-with') ?? usual}`,
    )
  },
  LOG: logText,
  // -j NFLOG --nflog-prefix "a b" --nflog-group 100
  NFLOG: (target) =>
    target.options
      .map(({ name, values: [value = ''] }) =>
        name === '--nflog-prefix' ? `nflog-prefix ${quoteString(value)}` : `${name.slice(2)} ${value}`,
      )
      .join(' '),
  // -j NFQUEUE --queue-balance 0:5 --queue-bypass
  NFQUEUE: (target) =>
    ['NFQUEUE', ...target.options.map((option) => bare(option).replace('queue-', ''))].join(' '),
  // -j TTL --ttl-inc 1
  TTL: (target) => hopLimitTargetText(target, 'TTL'),
  HL: (target) => hopLimitTargetText(target, 'HL'),
  TCPMSS: (target) =>
    single(target, ({ name, values: [mss] }) =>
      name === '--set-mss' ? `TCPMSS set ${mss}` : 'TCPMSS clamp to PMTU',
    ),
  // -j CT --zone 5
  CT: (target) => ['CT', ...target.options.map(bare)].join(' '),
  NOTRACK: () => 'NOTRACK',
  // -j TPROXY --on-port 50080 --on-ip 127.0.0.1 --tproxy-mark 0x1/0x1
  TPROXY: (target, { family }) => {
    const mark = splitMark(firstValue(target, '--tproxy-mark') ?? '0/0')
    const ip = firstValue(target, '--on-ip') ?? (family === 'ipv6' ? '::' : '0.0.0.0')
    return `TPROXY redirect ${ip}:${firstValue(target, '--on-port')} mark ${hex(mark.value)}/${hex(mark.mask)}`
  },
  CHECKSUM: () => 'CHECKSUM fill',
  // -j CLASSIFY --set-class 0001:0020
  CLASSIFY: (target) =>
    single(target, ({ values: [written = ''] }) => {
      const parts = written.split(':').map((part) => Number.parseInt(part, 16).toString(16))
      return `CLASSIFY set ${parts.join(':')}`
    }),
  DSCP: (target) => single(target, ({ values: [dscp] }) => `DSCP set ${dscp}`),
  TOS: (target) =>
    single(target, ({ name, values: [tos] }) => (name === '--set-tos' ? `TOS set ${tos}` : undefined)),
  TEE: (target) => single(target, ({ values: [gateway] }) => `TEE gw:${gateway}`),
  AUDIT: (target) => single(target, ({ values: [type] }) => `AUDIT ${type}`),
  SET: (target) => target.options.map(bare).join(' '),
}

const TCP_FLAGS = ['FIN', 'SYN', 'RST', 'PSH', 'ACK', 'URG']

function transportText(match: MatchSpec, names: ListingNames): string | undefined {
  const parts = [match.name]
  for (const { name, negated, values } of match.options) {
    const sign = negated ? '!' : ''
    const [value = '', second = ''] = values
    if (name === '--sport' || name === '--source-port') parts.push(portsText('s', sign, value, match, names))
    else if (name === '--dport' || name === '--destination-port')
      parts.push(portsText('d', sign, value, match, names))
    else if (name === '--tcp-option') parts.push(`option=${sign}${value}`)
    else if (name === '--tcp-flags') parts.push(flagsText(sign, flagBits(value), flagBits(second), names))
    else if (name === '--syn') parts.push(flagsText(sign, 0x17, 0x02, names))
    else return undefined
  }
  return parts.join(' ')
}

function portsText(side: string, sign: string, value: string, match: MatchSpec, names: ListingNames): string {
  if (!value.includes(':')) return `${side}pt:${sign}${portText(value, names, match.name)}`
  const [from = '', to = ''] = value.split(':')
  const ends = [from || '0', to || '65535'].map((port) => portText(port, names, match.name))
  return `${side}pts:${sign}${ends.join(':')}`
}

function portText(port: string, { numeric, service }: ListingNames, protocol: string): string {
  return (numeric ? undefined : service?.(Number(port), protocol)) ?? port
}

function flagBits(written: string): number {
  if (written === 'ALL') return 0x3f
  return written.split(',').reduce((bits, flag) => {
    const at = TCP_FLAGS.indexOf(flag)
    return at === -1 ? bits : bits | (1 << at)
  }, 0)
}

function flagsText(sign: string, mask: number, set: number, { numeric }: ListingNames): string {
  const write = (bits: number): string => {
    if (numeric) return `0x${bits.toString(16).toUpperCase().padStart(2, '0')}`
    return TCP_FLAGS.filter((_, at) => bits & (1 << at)).join(',') || 'NONE'
  }
  return `flags:${sign}${write(mask)}/${write(set)}`
}

const ICMP_NAMES: Readonly<Record<string, string>> = {
  '0': 'echo-reply',
  '3': 'destination-unreachable',
  '3/0': 'network-unreachable',
  '3/1': 'host-unreachable',
  '3/2': 'protocol-unreachable',
  '3/3': 'port-unreachable',
  '3/4': 'fragmentation-needed',
  '5': 'redirect',
  '8': 'echo-request',
  '11': 'time-exceeded',
  '12': 'parameter-problem',
  any: 'any',
}

function icmpText(match: MatchSpec, option: string, name: string, names: ListingNames): string | undefined {
  return single(match, ({ name: written, negated, values: [value = ''] }) => {
    if (written !== option) return undefined
    const sign = negated ? '!' : ''
    if (!names.numeric) {
      const known = name === 'icmp' ? ownValue(ICMP_NAMES, value) : undefined
      return known && `${name} ${sign}${known}`
    }
    const [type = '', code] = (value === 'any' ? '255' : value).split('/')
    if (!/^\d+$/.test(type)) return undefined
    return `${name}${negated ? ' !' : ''}type ${type}${code === undefined ? '' : ` code ${code}`}`
  })
}

function markMatchText(match: MatchSpec, head: string, gap: string): string | undefined {
  return single(match, ({ negated, values: [value = ''] }) => {
    const { value: mark, mask } = splitMark(value)
    return `${head} ${negated ? '! ' : gap}${hex(mark)}${mask === 0xffffffff ? '' : `/${hex(mask)}`}`
  })
}

function recentText(match: MatchSpec, { family }: ListingNames): string | undefined {
  const verbs = { '--set': 'SET', '--rcheck': 'CHECK', '--update': 'UPDATE', '--remove': 'REMOVE' }
  const verb = Object.entries(verbs).find(([name]) => optionOf(match, name))
  if (!verb) return undefined
  const widest = family === 'ipv6' ? Array(8).fill('ffff').join(':') : '255.255.255.255'
  const seconds = firstValue(match, '--seconds')
  const hits = firstValue(match, '--hitcount')
  return [
    `${optionOf(match, verb[0])?.negated ? '! ' : ''}recent: ${verb[1]}`,
    ...(seconds === undefined ? [] : [`seconds: ${seconds}`]),
    ...(optionOf(match, '--reap') ? ['reap'] : []),
    ...(hits === undefined ? [] : [`hit_count: ${hits}`]),
    ...(optionOf(match, '--rttl') ? ['TTL-Match'] : []),
    `name: ${firstValue(match, '--name') ?? 'DEFAULT'}`,
    `side: ${optionOf(match, '--rdest') ? 'dest' : 'source'}`,
    `mask: ${firstValue(match, '--mask') ?? widest}`,
  ].join(' ')
}

function hopLimitText(match: MatchSpec, name: string): string | undefined {
  return single(match, ({ name: option, negated, values: [value] }) => {
    const comparison = { eq: negated ? '!=' : '==', lt: '<', gt: '>' }[option.slice(-2)]
    return comparison && `${name} match ${name} ${comparison} ${value}`
  })
}

function hopLimitTargetText(target: MatchSpec, name: string): string | undefined {
  return single(target, ({ name: option, values: [value] }) => {
    const act = { set: 'set to', inc: 'increment by', dec: 'decrement by' }[option.slice(-3)]
    return act && `${name} ${act} ${value}`
  })
}

function natText(to: string, head: string): PartText {
  return (target) =>
    only(target, [to, '--random', '--random-fully', '--persistent'], () =>
      target.options
        .map((option) => (option.name === to ? `${head}${option.values[0]}` : bare(option)))
        .join(' '),
    )
}

function markTargetText(name: string, { name: option, values: [written = ''] }: Option): string | undefined {
  const given = splitMark(written)
  const mark = {
    '--set-xmark': given,
    '--set-mark': { value: given.value, mask: (given.mask | given.value) >>> 0 },
    '--or-mark': { value: given.value, mask: given.value },
    '--xor-mark': { value: given.value, mask: 0 },
    '--and-mark': { value: 0, mask: ~given.value >>> 0 },
  }[option]
  if (!mark) return undefined
  if (mark.value === 0) return `${name} and ${hex(~mark.mask >>> 0)}`
  if (mark.value === mark.mask) return `${name} or ${hex(mark.value)}`
  if (mark.mask === 0) return `${name} xor ${hex(mark.value)}`
  if (mark.mask === 0xffffffff) return `${name} set ${hex(mark.value)}`
  return `${name} xset ${hex(mark.value)}/${hex(mark.mask)}`
}

function connmarkText(target: MatchSpec): string | undefined {
  const move = target.options.find(({ name }) => name === '--save-mark' || name === '--restore-mark')
  if (!move) return single(target, (option) => markTargetText('CONNMARK', option))
  const maskOf = (name: string): number =>
    splitMark(firstValue(target, name) ?? firstValue(target, '--mask') ?? '0xffffffff').value
  const nfmask = maskOf('--nfmask')
  const ctmask = maskOf('--ctmask')
  const verb = `CONNMARK ${move.name === '--save-mark' ? 'save' : 'restore'}`
  if (nfmask === ctmask) return nfmask === 0xffffffff ? verb : `${verb} mask ${hex(nfmask)}`
  return move.name === '--save-mark'
    ? `${verb} nfmask ${hex(nfmask)} ctmask ~${hex(ctmask)}`
    : `${verb} ctmask ${hex(ctmask)} nfmask ~${hex(nfmask)}`
}

const LOG_FLAGS: Readonly<Record<string, number>> = {
  '--log-tcp-sequence': 1,
  '--log-tcp-options': 2,
  '--log-ip-options': 4,
  '--log-uid': 8,
  '--log-macdecode': 32,
}
const LOG_LEVELS = ['emerg', 'alert', 'crit', 'err', 'warn', 'notice', 'info', 'debug']

function logText(target: MatchSpec, { numeric }: ListingNames): string | undefined {
  const written = firstValue(target, '--log-level') ?? '4'
  const level = LOG_LEVELS.includes(written) ? LOG_LEVELS.indexOf(written) : Number(written)
  const prefix = firstValue(target, '--log-prefix')
  const flags = target.options.filter(({ name }) => Object.hasOwn(LOG_FLAGS, name))
  const bits = flags.reduce((sum, { name }) => sum | (LOG_FLAGS[name] ?? 0), 0)
  return [
    ...(numeric
      ? [`LOG flags ${bits} level ${level}`]
      : [`LOG level ${LOG_LEVELS[level] ?? `UNKNOWN level ${level}`}`]),
    ...(numeric ? [] : flags.map(({ name }) => name.replace('--log-', ''))),
    ...(prefix === undefined ? [] : [`prefix "${prefix}"`]),
  ].join(' ')
}

function only(part: MatchSpec, names: readonly string[], write: () => string): string | undefined {
  return part.options.every((option) => names.includes(option.name)) ? write() : undefined
}

function single(part: MatchSpec, write: (option: Option) => string | undefined): string | undefined {
  const [option] = part.options
  return option && part.options.length === 1 ? write(option) : undefined
}

/** Options of one family (`--ctstate`), each with its own sign: `! ctstate NEW`. */
function listed(match: MatchSpec, start: string): string | undefined {
  if (!match.options.every((option) => option.name.startsWith(`--${start}`))) return undefined
  return match.options.map(bare).join(' ')
}

function bare({ name, negated, values }: Option): string {
  return `${negated ? '! ' : ''}${[name.slice(2), ...values].join(' ')}`
}

function signed({ negated, values: [value] }: Option): string {
  return `${negated ? '!' : ''}${value}`
}

function firstValue(part: MatchSpec, name: string): string | undefined {
  return optionOf(part, name)?.values[0]
}

function splitMark(written: string): { value: number; mask: number } {
  const [value = '0', mask] = written.split('/')
  return { value: Number(value) >>> 0, mask: mask === undefined ? 0xffffffff : Number(mask) >>> 0 }
}

function hex(value: number): string {
  return `0x${value.toString(16)}`
}
