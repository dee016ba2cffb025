import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readLadders } from '../../../src-main/domain/iptables/explain-chance.ts'
import {
  type Explanation,
  type ExplanationPart,
  formatExplanation,
} from '../../../src-main/domain/iptables/explain-parts.ts'
import { explainRule, type RuleContext } from '../../../src-main/domain/iptables/explain-rule.ts'
import { parseSave } from '../../../src-main/domain/iptables/parse-save.ts'
import {
  type ChainName,
  type Family,
  type Rule,
  rulesByChain,
} from '../../../src-main/domain/iptables/rule-set.ts'
import { targetOf } from '../../../src-main/domain/iptables/rule-spec.ts'
import { splitWords } from '../../../src-main/domain/iptables/rule-words.ts'
import { nastyString } from './arbitrary-rule-set.ts'
import { cleanDumps, goldenRestores, goldenSaves } from './corpus.ts'

/** `CHAIN the words of the rule`. */
function sentence(line: string, context: Partial<RuleContext> = {}): string {
  const [chain = '', ...rest] = line.split(' ')
  const rule = { chain, text: rest.join(' ') }
  return formatExplanation(explainRule(rule, { table: 'filter', family: 'ipv4', ...context }).parts)
}

const nat = { table: 'nat' }

describe("kube-proxy's rules", () => {
  const sentences: [line: string, said: string][] = [
    [
      'PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
      'Go to KUBE-SERVICES (find the Service)',
    ],
    [
      'POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING',
      'Go to KUBE-POSTROUTING (masquerade what is marked)',
    ],
    [
      'KUBE-SERVICES -d 10.107.38.142/32 -p tcp -m comment --comment "default/http-svc cluster IP" -m tcp --dport 80 -j KUBE-SVC-CM2MQB3R',
      'TCP packets to 10.107.38.142 port 80: go to KUBE-SVC-CM2MQB3R',
    ],
    [
      'KUBE-SERVICES -m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain" -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS',
      'Packets whose destination is an address of this node: go to KUBE-NODEPORTS (find the node port)',
    ],
    [
      'KUBE-SERVICES ! -d 127.0.0.0/8 -m comment --comment x -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS',
      'Packets that do not go to 127.0.0.0/8 and whose destination is an address of this node: go to KUBE-NODEPORTS (find the node port)',
    ],
    [
      'KUBE-NODEPORTS -p tcp -m comment --comment default/http-np -m tcp --dport 32054 -j KUBE-EXT-K3FX',
      'TCP packets to port 32054: go to KUBE-EXT-K3FX',
    ],
    [
      'KUBE-NODEPORTS -d 127.0.0.0/8 -p tcp -m comment --comment default/web -m tcp --dport 30080 -m nfacct --nfacct-name localhost_nps_accepted_pkts -j KUBE-EXT-X',
      'TCP packets to 127.0.0.0/8 port 30080: count in the account localhost_nps_accepted_pkts, then go to KUBE-EXT-X',
    ],
    [
      'KUBE-EXT-X -m comment --comment "masquerade traffic for default/web external destinations" -j KUBE-MARK-MASQ',
      'Go to KUBE-MARK-MASQ (mark for masquerade)',
    ],
    [
      'KUBE-EXT-X -s 10.244.0.0/16 -m comment --comment "pod traffic" -j KUBE-SVC-X',
      'Packets from 10.244.0.0/16: go to KUBE-SVC-X',
    ],
    [
      'KUBE-EXT-X -m comment --comment "masquerade LOCAL traffic" -m addrtype --src-type LOCAL -j KUBE-MARK-MASQ',
      'Packets whose source is an address of this node: go to KUBE-MARK-MASQ (mark for masquerade)',
    ],
    ['KUBE-EXT-X -j KUBE-SVL-X', 'Go to KUBE-SVL-X'],
    [
      'KUBE-FW-X -s 198.51.100.0/24 -m comment --comment "default/lb loadbalancer IP" -j KUBE-EXT-X',
      'Packets from 198.51.100.0/24: go to KUBE-EXT-X',
    ],
    [
      'KUBE-FW-X -m comment --comment "other traffic to default/lb will be dropped by KUBE-PROXY-FIREWALL"',
      'Only counts packets',
    ],
    [
      'KUBE-SVC-X ! -s 10.244.0.0/16 -d 10.107.38.142/32 -p tcp -m comment --comment "default/http-svc cluster IP" -m tcp --dport 80 -j KUBE-MARK-MASQ',
      'TCP packets to 10.107.38.142 port 80 that do not come from 10.244.0.0/16: go to KUBE-MARK-MASQ (mark for masquerade)',
    ],
    [
      'KUBE-SVC-X -d 10.96.0.1/32 ! -i cbr0 -p udp -m comment --comment x -m udp --dport 53 -j KUBE-MARK-MASQ',
      'UDP packets to 10.96.0.1 port 53 that do not come in by cbr0: go to KUBE-MARK-MASQ (mark for masquerade)',
    ],
    [
      'KUBE-EXT-X -i veth+ -m comment --comment x -j KUBE-SVC-X',
      'Packets that come in by an interface named veth+ (any ending): go to KUBE-SVC-X',
    ],
    [
      'KUBE-SVC-X -m comment --comment "default/web -> 10.244.1.7:80" -m statistic --mode random --probability 0.33333333349 -j KUBE-SEP-A',
      'With a chance of 1 in 3 (33 %): go to KUBE-SEP-A',
    ],
    [
      'KUBE-SVC-X -m comment --comment "default/web -> 10.244.1.7:80" -m recent --rcheck --seconds 10800 --reap --name KUBE-SEP-A --mask 255.255.255.255 --rsource -j KUBE-SEP-A',
      'Senders that used this endpoint within the last 3 hours stay with it: go to KUBE-SEP-A',
    ],
    [
      'KUBE-SVC-X -m recent --name KUBE-SEP-A --rcheck --seconds 60 --reap -j KUBE-SEP-A',
      'Senders that used this endpoint within the last minute stay with it: go to KUBE-SEP-A',
    ],
    [
      'KUBE-SEP-A -s 10.244.1.7/32 -m comment --comment default/web -j KUBE-MARK-MASQ',
      'Packets from 10.244.1.7: go to KUBE-MARK-MASQ (mark for masquerade)',
    ],
    [
      'KUBE-SEP-A -p tcp -m comment --comment default/web -m tcp -j DNAT --to-destination 10.244.1.7:80',
      'TCP packets: change the destination to 10.244.1.7 port 80 (DNAT)',
    ],
    [
      'KUBE-SEP-A -p sctp -m recent --set --name KUBE-SEP-A --mask 255.255.255.255 --rsource -m sctp -j DNAT --to-destination 10.244.1.7:80',
      'SCTP packets: remember the source address in the list KUBE-SEP-A, then change the destination to 10.244.1.7 port 80 (DNAT)',
    ],
    ['KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000', 'Set bit 0x4000 of the mark'],
    ['KUBE-MARK-MASQ -j MARK --or-mark 0x00004000', 'Set bit 0x4000 of the mark'],
    [
      'KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN',
      'Packets whose mark lacks bit 0x4000: go back to where they came from (RETURN)',
    ],
    [
      'KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0',
      'Flip bit 0x4000 of the mark, which clears it: here it is always set',
    ],
    [
      'KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully',
      'Give the packet the address of the link it leaves by as source (MASQUERADE), with fully random source ports',
    ],
    [
      'KUBE-POSTROUTING -j MASQUERADE',
      'Give the packet the address of the link it leaves by as source (MASQUERADE)',
    ],
  ]
  test.each(sentences)('nat %s', (line, said) => {
    expect(sentence(line, nat)).toBe(said)
  })

  const filterSentences: [line: string, said: string][] = [
    [
      'FORWARD -m conntrack --ctstate NEW -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
      'Packets that begin a connection (state NEW): go to KUBE-SERVICES (refuse Services without endpoints)',
    ],
    [
      'INPUT -m comment --comment "kubernetes health check service ports" -j KUBE-NODEPORTS',
      'Go to KUBE-NODEPORTS (admit health checks)',
    ],
    ['INPUT -j KUBE-FIREWALL', 'Go to KUBE-FIREWALL (protect loopback addresses)'],
    [
      'KUBE-SERVICES -d 10.96.0.9/32 -p tcp -m comment --comment "default/web has no endpoints" -m tcp --dport 80 -j REJECT --reject-with icmp-port-unreachable',
      'TCP packets to 10.96.0.9 port 80: refuse with ICMP port unreachable (REJECT)',
    ],
    [
      'KUBE-EXTERNAL-SERVICES -p tcp -m comment --comment "default/web has no local endpoints" -m addrtype --dst-type LOCAL -m tcp --dport 30080 -j DROP',
      'TCP packets to port 30080 whose destination is an address of this node: discard without an answer (DROP)',
    ],
    [
      'KUBE-PROXY-FIREWALL -d 203.0.113.29/32 -p tcp -m comment --comment x -m tcp --dport 80 -j DROP',
      'TCP packets to 203.0.113.29 port 80: discard without an answer (DROP)',
    ],
    [
      'KUBE-NODEPORTS -p tcp -m comment --comment x -m tcp --dport 32605 -j ACCEPT',
      'TCP packets to port 32605: let through (ACCEPT)',
    ],
    [
      'KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment x -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP',
      'Packets to 127.0.0.0/8 that do not come from 127.0.0.0/8 and whose connection state is none of RELATED, ESTABLISHED and DNAT: discard without an answer (DROP)',
    ],
    [
      'KUBE-FORWARD -m conntrack --ctstate INVALID -m nfacct --nfacct-name ct_state_invalid_dropped_pkts -j DROP',
      'Packets that fit no connection (state INVALID): count in the account ct_state_invalid_dropped_pkts, then discard without an answer (DROP)',
    ],
    [
      'KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark 0x4000/0x4000 -j ACCEPT',
      'Packets whose mark has bit 0x4000: let through (ACCEPT)',
    ],
    [
      'KUBE-FORWARD -m comment --comment x -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
      'Packets that belong to a known connection (state RELATED or ESTABLISHED): let through (ACCEPT)',
    ],
  ]
  test.each(filterSentences)('filter %s', (line, said) => {
    expect(sentence(line)).toBe(said)
  })

  test('a title of the caller stands behind a chain', () => {
    const chainTitle = (chain: string) => (chain === 'KUBE-SVC-X' ? 'http-svc' : undefined)
    expect(sentence('KUBE-EXT-X -j KUBE-SVC-X', { ...nat, chainTitle })).toBe('Go to KUBE-SVC-X (http-svc)')
  })

  test('the overall share on a ladder', () => {
    const texts = [
      '! -s 10.244.0.0/16 -d 10.96.0.1/32 -p tcp -m tcp --dport 80 -j KUBE-MARK-MASQ',
      '-m comment --comment "default/web -> 10.244.1.7:80" -m statistic --mode random --probability 0.33333333349 -j KUBE-SEP-A',
      '-m comment --comment "default/web -> 10.244.1.8:80" -m statistic --mode random --probability 0.50000000000 -j KUBE-SEP-B',
      '-m comment --comment "default/web -> 10.244.1.9:80" -j KUBE-SEP-C',
    ]
    const ladders = readLadders(texts.map((text) => ({ text })))
    const said = texts.map((text, at) =>
      sentence(`KUBE-SVC-X ${text}`, { ...nat, precedingStatistics: ladders[at] }),
    )
    expect(said.slice(1)).toEqual([
      'With a chance of 1 in 3 (33 %): go to KUBE-SEP-A',
      'With a chance of 1 in 2 (50 %), overall 1 in 3: go to KUBE-SEP-B',
      'The rest, overall 1 in 3: go to KUBE-SEP-C',
    ])
  })
})

describe('hand-made rules', () => {
  const sentences: [line: string, said: string][] = [
    ['INPUT -i lo -j ACCEPT', 'Packets that come in by lo: let through (ACCEPT)'],
    ['INPUT', 'Only counts packets'],
    ['INPUT -s 10.0.0.0/8', 'Packets from 10.0.0.0/8: only counts them'],
    ['INPUT -s 0.0.0.0/0 -j DROP', 'Packets from any address (0.0.0.0/0): discard without an answer (DROP)'],
    [
      'INPUT -s 10.0.0.1,10.0.0.2 -j DROP',
      'Packets from 10.0.0.1 or 10.0.0.2: discard without an answer (DROP)',
    ],
    [
      'INPUT -p tcp -m multiport --dports 80,443,8000:9000 -j ACCEPT',
      'TCP packets to port 80, 443 or 8000 to 9000: let through (ACCEPT)',
    ],
    [
      'INPUT -p tcp --syn -m connlimit --connlimit-above 5 --connlimit-mask 32 --connlimit-saddr -j REJECT --reject-with tcp-reset',
      'TCP packets that ask for a connection (SYN set and FIN, RST and ACK not set) and whose source address has more than 5 connections: refuse with a TCP reset (REJECT)',
    ],
    [
      'INPUT -m limit --limit 3/min -j LOG --log-prefix "[UFW BLOCK] "',
      'At most 3 times a minute (bursts of 5): write a line that begins with "[UFW BLOCK] " to the kernel log and go on (LOG)',
    ],
    [
      'INPUT -p tcp --dport 22 -m hashlimit --hashlimit-above 5/min --hashlimit-mode srcip --hashlimit-name ssh -j DROP',
      'Only beyond 5 times a minute for each source address (bursts of 5, table ssh), TCP packets to port 22: discard without an answer (DROP)',
    ],
    [
      'INPUT -m recent --update --seconds 30 --hitcount 6 --name DEFAULT --mask 255.255.255.255 --rsource -j DROP',
      'Packets whose source address is in the list DEFAULT as seen at least 6 times within the last 30 seconds (this time is noted, too): discard without an answer (DROP)',
    ],
    ['INPUT -m recent --set', 'Remember the source address in the list DEFAULT'],
    [
      'INPUT -m set ! --match-set allowed src -j DROP',
      'Packets whose source is not in the set allowed: discard without an answer (DROP)',
    ],
    [
      'INPUT -m time --timestart 09:00 --timestop 17:00 --weekdays Mon,Tue -j ACCEPT',
      'On Mon and Tue from 09:00 to 17:00 (UTC): let through (ACCEPT)',
    ],
    [
      'INPUT -m statistic --mode random --probability 0.2 -j DROP',
      'With a chance of 1 in 5 (20 %): discard without an answer (DROP)',
    ],
    [
      'INPUT -m statistic --mode nth --every 3 --packet 0 -j DROP',
      'For 1 packet in every 3 (the count starts at 0): discard without an answer (DROP)',
    ],
    ['INPUT -p tcp --dport domain-s -j ACCEPT', 'TCP packets to port domain-s: let through (ACCEPT)'],
    ['INPUT -j RETURN', 'Stop here, the policy of INPUT decides (RETURN)'],
    ['user -g logdrop', 'Go to logdrop and do not come back to this chain (goto)'],
    [
      'OUTPUT -m owner --uid-owner 1000 -j ACCEPT',
      'Packets that come from a process of user 1000: let through (ACCEPT)',
    ],
    ['INPUT -j NFLOG --nflog-group 100', 'Hand a copy to the programs of log group 100 and go on (NFLOG)'],
  ]
  test.each(sentences)('%s', (line, said) => {
    expect(sentence(line)).toBe(said)
  })

  const otherTables: [table: string, line: string, said: string][] = [
    [
      'nat',
      'PREROUTING -p tcp -j REDIRECT --to-ports 8080',
      'TCP packets: send to this node itself, port 8080 (REDIRECT)',
    ],
    [
      'nat',
      'PREROUTING -p tcp -j DNAT --to-destination :8080',
      'TCP packets: change the destination port to 8080 (DNAT)',
    ],
    [
      'nat',
      'PREROUTING -p tcp -j DNAT --to-destination 10.0.0.1-10.0.0.9:80-90 --persistent',
      'TCP packets: change the destination to one of 10.0.0.1 to 10.0.0.9 ports 80 to 90 (DNAT), the same for all connections of a client',
    ],
    [
      'nat',
      'POSTROUTING -o eth0 -j SNAT --to-source 192.0.2.1',
      'Packets that go out by eth0: change the source to 192.0.2.1 (SNAT)',
    ],
    ['nat', 'PREROUTING -j ACCEPT', 'Done with the nat table at this hook (ACCEPT)'],
    ['mangle', 'PREROUTING -j MARK --set-xmark 0x5/0xff', 'Set the bits 0xff of the mark to 0x5'],
    ['mangle', 'PREROUTING -j CONNMARK --restore-mark', "Copy the connection's mark to the mark (CONNMARK)"],
    ['mangle', 'PREROUTING -j TTL --ttl-inc 1', 'Raise the TTL by 1 (TTL)'],
    [
      'mangle',
      'FORWARD -p tcp -m tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu',
      'TCP packets that have SYN set and RST not set: limit the largest TCP segment (MSS) to what the path carries (its MTU) (TCPMSS)',
    ],
    ['raw', 'PREROUTING -j CT --notrack', 'Do not track, so no connection state and no NAT (CT)'],
  ]
  test.each(otherTables)('%s %s', (table, line, said) => {
    expect(sentence(line, { table })).toBe(said)
  })

  test('IPv6', () => {
    expect(sentence('INPUT -j REJECT', { family: 'ipv6' })).toBe(
      'Refuse with ICMPv6 port unreachable (REJECT)',
    )
    expect(
      sentence('X -d fd00::a/128 -p tcp -j DNAT --to-destination [fd00::1]:80', { ...nat, family: 'ipv6' }),
    ).toBe('TCP packets to fd00::a: change the destination to fd00::1 port 80 (DNAT)')
  })
})

describe('what is not known', () => {
  const sentences: [line: string, said: string][] = [
    [
      'INPUT -p tcp -m wonder ! --of "the world" two -j ACCEPT',
      'TCP packets that match `-m wonder ! --of "the world" two`: let through (ACCEPT)',
    ],
    ['INPUT -j MAGIC --power 9', 'Do `-j MAGIC --power 9`'],
    ['INPUT -j SYNPROXY', 'Do `-j SYNPROXY`'],
    ['INPUT -j REJECT --reject-with smile', 'Refuse with `smile` (REJECT)'],
    [
      'INPUT -j LOG --log-colour red',
      'Write a line to the kernel log and go on (LOG), with `--log-colour red`',
    ],
    ['INPUT stray -j DROP', 'Discard without an answer (DROP), not understood: `stray`'],
    ['INPUT -j DROP -s', 'Discard without an answer (DROP), not understood: `-s has no value`'],
    [
      'INPUT -m statistic --mode dice --sides 6 -j DROP',
      'Packets that match `-m statistic --mode dice --sides 6`: discard without an answer (DROP)',
    ],
    [
      'INPUT -m conntrack --ctstate NEW --ctmood good -j DROP',
      'Packets that begin a connection (state NEW) and that match `-m conntrack --ctmood good`: discard without an answer (DROP)',
    ],
    ['INPUT -j KUBE-FIREWALL -c 1204 98765', 'Go to KUBE-FIREWALL (protect loopback addresses)'],
    ['INPUT -c 1204 98765 -j ACCEPT', 'Let through (ACCEPT)'],
    ['INPUT -m mark -j DROP', 'Packets that match `-m mark`: discard without an answer (DROP)'],
  ]
  test.each(sentences)('%s', (line, said) => {
    expect(sentence(line)).toBe(said)
  })

  test.each(['__proto__', 'constructor', 'toString'])('%s is a name like any other', (name) => {
    expect(sentence(`-j ${name}`)).toContain(name)
    expect(sentence(`-m ${name} -j ACCEPT`)).toContain(name)
    expect(sentence(`-p ${name} -j REJECT --reject-with ${name}`)).toContain(name)
  })

  test('never throws', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            nastyString,
            fc.constantFrom(
              '-m',
              'tcp',
              'mark',
              'statistic',
              'recent',
              'limit',
              '-j',
              'DNAT',
              'MARK',
              '-s',
              '!',
              '--dport',
            ),
            fc.constantFrom(
              '--mark',
              '--to-destination',
              '--mode',
              'random',
              '--probability',
              '0',
              '1',
              '--set-xmark',
            ),
          ),
        ),
        (words) => {
          expect(sentence(`INPUT ${words.join(' ')}`)).not.toBe('')
        },
      ),
    )
  })
})

describe('parts', () => {
  test('values have their kinds, and what the rule writes where the text differs', () => {
    const { parts } = explainRule(
      {
        chain: 'KUBE-SVC-X',
        text: '-d 10.96.0.1/32 -p tcp -m tcp --dport 80 -m mark --mark 0x1/0x1 -m statistic --mode random --probability 0.5 -j KUBE-SEP-A',
      },
      { table: 'nat', family: 'ipv4' },
    )
    expect(parts.filter(({ kind }) => kind !== 'text')).toEqual([
      { kind: 'probability', text: '1 in 2', written: '--probability 0.5' },
      { kind: 'probability', text: '50 %' },
      { kind: 'address', text: '10.96.0.1', written: '10.96.0.1/32' },
      { kind: 'port', text: '80' },
      { kind: 'mark', text: '0x1', written: '0x1/0x1' },
      { kind: 'chain', text: 'KUBE-SEP-A' },
    ])
  })

  test('comments stand beside the sentence', () => {
    const text = '-m comment --comment one -m comment --comment "two words" -j ACCEPT'
    expect(explainRule({ chain: 'INPUT', text }, { table: 'filter', family: 'ipv4' }).comments).toEqual([
      'one',
      'two words',
    ])
  })
})

interface Explained {
  readonly rule: Rule
  readonly explanation: Explanation
}

function explainAll(text: string, family: Family): Explained[] {
  return (parseSave(text).ruleSet?.tables ?? []).flatMap((table) =>
    [...rulesByChain(table).values()].flatMap((rules) => {
      const ladders = readLadders(rules)
      return rules.map((rule, at) => ({
        rule,
        explanation: explainRule(rule, { table: table.name, family, precedingStatistics: ladders[at] }),
      }))
    }),
  )
}

describe('corpus', () => {
  test('every rule of the goldens is known', () => {
    let count = 0
    for (const { title, text } of [...goldenSaves, ...goldenRestores]) {
      // A restore text's chain lines have no built-in chains; its rule lines are those of a save.
      const lines = text.matchAll(/^-A (\S+) ?(.*)$/gm)
      for (const [, chain = '', words = ''] of lines) {
        const { parts } = explainRule({ chain, text: words }, { table: 'nat', family: 'ipv4' })
        if (parts.some(({ kind }) => kind === 'unknown'))
          expect({ title, words, said: formatExplanation(parts) }).toBeUndefined()
        count++
      }
    }
    expect(count).toBeGreaterThan(10_000)
  })

  test.each([
    ['classics.ipv4.rules', 'ipv4'],
    ['classics.ipv6.rules', 'ipv6'],
  ] as const)('no value of %s is lost, and every rule is known', (file, family) => {
    const text = readFileSync(new URL(file, import.meta.url), 'utf8')
    const explained = explainAll(text, family)
    expect(explained.length).toBeGreaterThan(10)
    for (const { rule, explanation } of explained) {
      expect({ text: rule.text, lost: lostValues(rule, explanation) }).toEqual({ text: rule.text, lost: [] })
      expect({
        text: rule.text,
        unknown: explanation.parts.filter(({ kind }) => kind === 'unknown'),
      }).toEqual({
        text: rule.text,
        unknown: [],
      })
    }
  })

  test('no value of the goldens and of real dumps is lost', () => {
    for (const { text } of [...goldenSaves, ...cleanDumps])
      for (const { rule, explanation } of explainAll(text, 'ipv4')) {
        const lost = lostValues(rule, explanation)
        if (lost.length > 0) expect({ text: rule.text, lost }).toEqual({ text: rule.text, lost: [] })
      }
  })

  test('the check sees a loss', () => {
    const rule = { chain: 'X' as ChainName, text: '-s 10.0.0.1 -m ttl --ttl-eq 7 -j user' }
    const explanation = explainRule(rule, { table: 'filter', family: 'ipv4' })
    const parts = explanation.parts.filter(({ kind }) => kind !== 'address')
    expect(lostValues(rule, { ...explanation, parts })).toEqual(['10.0.0.1'])
    expect(lostValues(rule, { parts: [], comments: [] })).toEqual(['10.0.0.1', '7', 'user'])
  })

  test('a sentence has no mark of its own at its end', () => {
    for (const { text } of goldenSaves.slice(0, 10))
      for (const { explanation } of explainAll(text, 'ipv4'))
        expect(formatExplanation(explanation.parts)).toMatch(/^[A-Z][^!]*[^.:!, ]$/)
  })
})

/** Addresses, ports, numbers and the target's name that occur nowhere in the sentence. */
function lostValues(rule: Rule, { parts, comments }: Explanation): string[] {
  const said = [
    ...parts.flatMap(({ text, written = '' }: ExplanationPart) => [text, written]),
    ...comments,
  ].join('\n')
  const words = splitWords(rule.text).words.filter(({ value, quoted }) => quoted || !value.startsWith('-'))
  const values = words
    // The whole address is what an address without mask says, too.
    .map(({ value }) => value.replace(/^(255\.){3}255$|^(ffff:){7}ffff$|(?<=[.\w:])\/(32|128)$/, ''))
    .flatMap((value) => value.split(/[,:/\-\s[\]]+/))
    .filter((value) => /\d/.test(value) && !/^(icmp6|ipv6|icmpv6|u32)$/.test(value))
  const target = targetOf(rule)?.name
  return [...values, ...(target === undefined || target === 'MARK' ? [] : [target])].filter((value) => {
    const escaped = value.replace(/[^\w]/g, '\\$&')
    return !new RegExp(`(?<!\\w)${escaped}(?!\\w)`).test(said)
  })
}
