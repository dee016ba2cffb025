import { expect, test } from 'vitest'
import { nflogInstead } from '../../../src-main/domain/iptables/nflog-instead.ts'

test('a LOG rule becomes the command that puts NFLOG in its place, without the options that NFLOG lacks', () => {
  const rule = { table: 'filter', chain: 'FORWARD', number: 3 }
  expect(
    nflogInstead({
      ...rule,
      text: '-p tcp -m tcp --dport 80 -j LOG --log-prefix "web: " --log-level 7 --log-tcp-options --log-uid',
    }),
  ).toBe('iptables -t filter -R FORWARD 3 -p tcp -m tcp --dport 80 -j NFLOG --nflog-prefix "web: "')
  expect(nflogInstead({ ...rule, table: 'mangle', chain: 'INPUT', text: '-j LOG' })).toBe(
    'iptables -t mangle -R INPUT 3 -j NFLOG',
  )
})
