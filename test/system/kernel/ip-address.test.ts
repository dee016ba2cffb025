import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatIpAddress, parseIpAddress } from '../../../src-main/system/kernel/ip-address.ts'

describe('IP addresses', () => {
  test.each([
    ['10.244.1.7', '0af40107'],
    ['255.255.255.255', 'ffffffff'],
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['fd00:10:244::5', 'fd000010024400000000000000000005'],
    ['fe80::ff:fe00:1', 'fe800000000000000000' + '00ff' + 'fe000001'],
    ['1::', '00010000000000000000000000000000'],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['1:0:2:0:0:3:0:0', undefined],
    ['2001:db8::1:0:0:1', undefined],
    ['::ffff:10.0.0.1', '00000000000000000000ffff0a000001'],
  ])('%s', (text, hex) => {
    const { bytes } = parseIpAddress(text)
    if (hex !== undefined) expect(Buffer.from(bytes).toString('hex')).toBe(hex)
    expect(parseIpAddress(formatIpAddress(bytes)).bytes).toEqual(bytes)
  })

  test.each([
    ['2001:db8::1:0:0:1', '2001:db8:0:0:1:0:0:1'], // the first of two equal runs
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'], // a single zero stays
    ['1:0:2::3', '1:0:2:0:0:0:0:3'],
    ['::8', '0:0:0:0:0:0:0:8'],
    ['fd00:ab::', 'FD00:00AB:0:0:0:0:0:0'],
  ])('are written as %s for %s', (expected, text) => {
    expect(formatIpAddress(parseIpAddress(text).bytes)).toBe(expected)
  })

  test('of any bytes come back', () => {
    const sparse = fc.oneof(fc.constant(0), fc.nat(255))
    const address = fc
      .constantFrom(4, 16)
      .chain((length) => fc.array(sparse, { minLength: length, maxLength: length }))
    fc.assert(
      fc.property(address, (values) => {
        const bytes = Uint8Array.from(values)
        expect(parseIpAddress(formatIpAddress(bytes)).bytes).toEqual(bytes)
      }),
    )
  })

  test.each(['', '10.0.0', '10.0.0.256', 'fe80::1%eth0', '1::2::3', 'host'])('%j is none', (text) => {
    expect(() => parseIpAddress(text)).toThrow(`not an IP address: ${text}`)
  })

  test('have 4 or 16 bytes', () => {
    expect(() => formatIpAddress(new Uint8Array(5))).toThrow('4 or 16 bytes, not 5')
  })
})
