import { describe, expect, it } from 'vitest'
import { contains, normalizeIp, parseCidr, parseIp } from '../../../src-main/domain/kube-proxy/ip-address.ts'

describe('an address', () => {
  it.each([
    ['10.0.0.1', 'IPv4', '10.0.0.1'],
    ['010.001.0.1', 'IPv4', '10.1.0.1'],
    ['::ffff:10.0.0.1', 'IPv4', '10.0.0.1'],
    ['FD00:0:0:0:1:0:0:7', 'IPv6', 'fd00::1:0:0:7'],
    ['fd00:0:1:0:0:0:0:0', 'IPv6', 'fd00:0:1::'],
    ['0:0:0:0:0:0:0:0', 'IPv6', '::'],
    ['2001:db8:0:1:1:1:1:1', 'IPv6', '2001:db8:0:1:1:1:1:1'],
  ] as const)('%s is %s %s', (text, family, normal) => {
    expect(parseIp(text)).toMatchObject({ family, text: normal })
    expect(normalizeIp(text, family)).toBe(normal)
    expect(normalizeIp(text, family === 'IPv4' ? 'IPv6' : 'IPv4')).toBeUndefined()
  })

  it.each([
    '',
    'None',
    '10.0.0',
    '10.0.0.256',
    '10.0.0.1.1',
    '10..0.1',
    'fd00::1::2',
    '1:2:3:4:5:6:7',
    'fe80::1%eth0',
  ])('%j is none', (text) => {
    expect(parseIp(text)).toBeUndefined()
    expect(normalizeIp(text, 'IPv4')).toBeUndefined()
  })
})

describe('a CIDR', () => {
  it.each([
    ['10.244.3.4/16', '10.244.0.0/16'],
    ['10.96.0.0/12', '10.96.0.0/12'],
    ['192.168.1.9/32', '192.168.1.9/32'],
    ['203.0.113.77/0', '0.0.0.0/0'],
    ['fd00:10:244:ff::1/56', 'fd00:10:244::/56'],
    ['::/0', '::/0'],
  ])('%s loses its host bits: %s', (text, masked) => {
    expect(parseCidr(text)?.text).toBe(masked)
  })

  it.each(['10.0.0.0', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/-1', '::/129', '/8'])('%j is none', (text) => {
    expect(parseCidr(text)).toBeUndefined()
  })

  it('holds the addresses of its own family and range', () => {
    const holds = (cidr: string, ip: string) => {
      const [range, address] = [parseCidr(cidr), parseIp(ip)]
      return range && address && contains(range, address)
    }
    expect(holds('10.96.0.0/12', '10.111.255.255')).toBe(true)
    expect(holds('10.96.0.0/12', '10.112.0.0')).toBe(false)
    expect(holds('::/0', '10.0.0.1')).toBe(false)
    expect(holds('fd00:10:244::/56', 'fd00:10:244:ff::1')).toBe(true)
    expect(holds('fd00:10:244::/56', 'fd00:10:244:100::1')).toBe(false)
  })
})
