import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { LABEL_LENGTH, matchLabel, targetLabel } from '../../../src-main/domain/iptables/explain-label.ts'
import { parseSave } from '../../../src-main/domain/iptables/parse-save.ts'
import { goldenSaves } from './corpus.ts'

const matchLabels: [text: string, label: string][] = [
  ['-m comment --comment x -m statistic --mode random --probability 0.33333333349 -j KUBE-SEP-A', '33 %'],
  ['-p tcp -m comment --comment x -m tcp --dport 80 -j KUBE-EXT-A', 'tcp dport 80'],
  ['! -s 10.244.0.0/16 -j KUBE-MARK-MASQ', '! src 10.244.0.0/16'],
  ['-d 10.107.38.142/32 -p tcp -m tcp --dport 80 -j KUBE-SVC-A', 'dst 10.107.38.142 tcp 80'],
  [
    '! -s 10.244.0.0/16 -d 10.107.38.142/32 -p tcp -m tcp --dport 80 -j KUBE-MARK-MASQ',
    '! src 10.244.0.0/16 dst 10.107.38.142 …',
  ],
  ['! -s fd00:10:244:aaaa:bbbb:cccc:dddd:eeee/112 -j X', '! src fd00:10:244:aaaa:bbbb:cccc:dddd:e…'],
  ['-m mark --mark 0x4000/0x4000 -j ACCEPT', 'mark 0x4000'],
  ['-m mark ! --mark 0x4000/0x4000 -j RETURN', '! mark 0x4000'],
  ['-m mark --mark 0x1/0xff -j RETURN', 'mark 0x1/0xff'],
  ['-m comment --comment "kubernetes service portals" -j KUBE-SERVICES', ''],
  ['-j KUBE-SVC-A', ''],
  ['', ''],
  ['-m addrtype --dst-type LOCAL -j KUBE-NODEPORTS', 'dst local'],
  ['-m recent --rcheck --seconds 10800 --reap --name KUBE-SEP-A --rsource -j KUBE-SEP-A', 'seen in 3 hours'],
  ['-m recent --rcheck --seconds 60 --hitcount 4 --name a -j DROP', 'seen 4x in 1 minute'],
  ['-p tcp -m recent --set --name KUBE-SEP-A -m tcp -j DNAT --to-destination 10.244.1.7:80', 'tcp'],
  ['-m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT', 'state RELATED,ESTABLISHED'],
  ['-i cbr0 -j X', 'in cbr0'],
  ['! -o eth0 -j X', '! out eth0'],
  ['-p tcp -m multiport ! --dports 80,443 -j X', '! dports 80,443 tcp'],
  ['-m limit --limit 3/min -j LOG', 'limit 3/min'],
  ['-m set --match-set allowed src -j X', 'src in allowed'],
  ['-m statistic --mode nth ! --every 3 --packet 0 -j X', '! 1 of every 3'],
  ['-m tcp --dport 5 -j X', 'dport 5'],
  ['-m statistic --mode dice -j X', 'statistic …'],
  ['-m wonder --of the --world -j X', 'wonder …'],
]
test.each(matchLabels)('%s has the label "%s"', (text, label) => {
  expect(matchLabel({ text })).toBe(label)
})

const targetLabels: [text: string, label: string][] = [
  ['-p tcp -m tcp -j DNAT --to-destination 10.244.1.7:80', 'DNAT 10.244.1.7:80'],
  ['-j SNAT --to-source 192.0.2.1 --random-fully', 'SNAT 192.0.2.1'],
  ['-j MASQUERADE --random-fully', 'MASQUERADE'],
  ['-j REJECT --reject-with icmp-port-unreachable', 'REJECT'],
  ['-j DROP', 'DROP'],
  ['-j KUBE-SVC-CM2MQB3RNOKNMVP5', 'KUBE-SVC-CM2MQB3RNOKNMVP5'],
  ['-g user', 'goto user'],
  ['-j MARK --set-xmark 0x4000/0x4000', 'MARK or 0x4000'],
  ['-j MARK --set-xmark 0x4000/0x0', 'MARK xor 0x4000'],
  ['-j LOG --log-prefix "x "', 'LOG'],
  ['-s 10.0.0.0/8', ''],
]
test.each(targetLabels)('%s leads to "%s"', (text, label) => {
  expect(targetLabel({ text })).toBe(label)
})

test('labels keep their length', () => {
  const classics = readFileSync(new URL('classics.ipv4.rules', import.meta.url), 'utf8')
  for (const text of [classics, ...goldenSaves.map((save) => save.text)])
    for (const table of parseSave(text).ruleSet?.tables ?? [])
      for (const rule of table.rules) {
        expect(matchLabel(rule).length).toBeLessThanOrEqual(LABEL_LENGTH)
        expect(targetLabel(rule).length).toBeLessThanOrEqual(LABEL_LENGTH)
      }
})
