import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addMessageFlags,
  findAttribute,
  isNetworkOrder,
  messageFlags,
  NetlinkDecodeError,
  readString,
  readU8,
  readU16,
  readU16be,
  readU32,
  readU32be,
  readU64,
  readU64be,
  valueEnd,
  walkAttributes,
  walkMessages,
  writeBody,
  writeMessage,
} from '../../../src-main/system/netlink/codec.ts'

interface SeenAttribute {
  readonly type: number
  readonly value: string
}

function attributesOf(body: Buffer): SeenAttribute[] {
  const seen: SeenAttribute[] = []
  walkAttributes(body, 0, body.length, (type, start, end) => {
    seen.push({ type, value: body.toString('hex', start, end) })
  })
  return seen
}

describe('attributes', () => {
  test('are written in the layout of struct nlattr, padded to four bytes', () => {
    const body = writeBody((w) => {
      w.attributeString(3, 'eth0').attributeU32(4, 1500).attributeU8(1, 7)
      w.nested(18, () => w.attributeU16(2, 0x0102).attributeU32be(5, 1))
    })
    expect(Buffer.from(body).toString('hex')).toBe(
      ['09000300', '65746830', '00000000', '08000400', 'dc050000', '05000100', '07000000'].join('') +
        ['14001280', '06000200', '02010000', '08000500', '00000001'].join(''),
    )
  })

  test('come back as they were written', () => {
    const anyAttribute = fc.record({ type: fc.nat(0x3fff), value: fc.uint8Array({ maxLength: 300 }) })
    fc.assert(
      fc.property(fc.array(anyAttribute), (attributes) => {
        const body = writeBody((w) => {
          for (const { type, value } of attributes) w.attributeBytes(type, value)
        })
        expect(body.length % 4).toBe(0)
        expect(attributesOf(Buffer.from(body))).toEqual(
          attributes.map(({ type, value }) => ({ type, value: Buffer.from(value).toString('hex') })),
        )
      }),
    )
  })

  test('are found by type, with the flags of their type left aside', () => {
    const body = Buffer.from(
      writeBody((w) => {
        w.attributeU32(1, 11).attributeU32be(2 | 0x4000, 22)
        w.nested(3, () => w.attributeU64be(1, 33n))
      }),
    )
    const second = findAttribute(body, 0, body.length, 2)
    expect(readU32be(body, second, valueEnd(body, second))).toBe(22)
    expect(isNetworkOrder(body, second)).toBe(true)
    const third = findAttribute(body, 0, body.length, 3)
    const inner = findAttribute(body, third, valueEnd(body, third), 1)
    expect(readU64be(body, inner, valueEnd(body, inner))).toBe(33n)
    expect(isNetworkOrder(body, third)).toBe(false)
    expect(findAttribute(body, 0, body.length, 4)).toBe(-1)
  })

  test('that say a length that cannot be are refused', () => {
    for (const hex of ['0300', '03000100', '00000100', '0c00010000000000', 'ffff0100']) {
      const body = Buffer.from(hex, 'hex')
      expect(() => attributesOf(body)).toThrow(NetlinkDecodeError)
      expect(() => findAttribute(body, 0, body.length, 9)).toThrow(NetlinkDecodeError)
    }
  })

  test('may lack the padding of the last one', () => {
    expect(attributesOf(Buffer.from('0500010007', 'hex'))).toEqual([{ type: 1, value: '07' }])
  })
})

describe('messages', () => {
  test('carry length, type, flags and sequence in host order', () => {
    const buffer = Buffer.alloc(64)
    const body = Uint8Array.of(1, 2, 3, 4, 5)
    const next = writeMessage(buffer, 0, { type: 18, body }, 0x301, 7)
    addMessageFlags(buffer, 0, messageFlags.ack)
    expect(next).toBe(24)
    expect(buffer.toString('hex', 0, next)).toBe(
      '15000000' + '12000503' + '07000000' + '00000000' + '0102030405000000',
    )
  })

  test('come back one after the other', () => {
    const buffer = Buffer.alloc(1024)
    let length = 0
    for (let i = 0; i < 5; i++) {
      length = writeMessage(buffer, length, { type: i, body: new Uint8Array(i) }, i, 100 + i)
    }
    const seen: unknown[] = []
    walkMessages(buffer, length, ({ type, flags, sequence, start, end }) => {
      seen.push([type, flags, sequence, end - start])
      return undefined
    })
    expect(seen).toEqual([0, 1, 2, 3, 4].map((i) => [i, i, 100 + i, i]))
  })

  test('end when the visitor has seen enough', () => {
    const buffer = Buffer.alloc(64)
    const length = writeMessage(
      buffer,
      writeMessage(buffer, 0, { type: 1, body: Buffer.of() }, 0, 0),
      { type: 2, body: Buffer.of() },
      0,
      0,
    )
    const seen: number[] = []
    walkMessages(buffer, length, ({ type }) => {
      seen.push(type)
      return false
    })
    expect(seen).toEqual([1])
  })

  test('that say a length that cannot be are refused', () => {
    for (const length of [0, 15, 25, 0xffffffff]) {
      const buffer = Buffer.alloc(24)
      buffer.writeUInt32LE(length, 0)
      expect(() => walkMessages(buffer, buffer.length, () => undefined)).toThrow(NetlinkDecodeError)
    }
  })

  test('of any bytes end or are refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const buffer = Buffer.from(bytes)
        let visits = 0
        for (const walk of [
          () => walkMessages(buffer, buffer.length, () => void visits++),
          () => walkAttributes(buffer, 0, buffer.length, () => void visits++),
          () => findAttribute(buffer, 0, buffer.length, 0x3fff),
        ]) {
          try {
            walk()
          } catch (error) {
            expect(error).toBeInstanceOf(NetlinkDecodeError)
          }
        }
        expect(visits).toBeLessThanOrEqual(bytes.length)
      }),
    )
  })
})

describe('values', () => {
  const bytes = Buffer.from('0102030405060708', 'hex')

  test('are read in the order asked for', () => {
    expect(readU8(bytes, 0, 8)).toBe(1)
    expect(readU16(bytes, 0, 8)).toBe(0x0201)
    expect(readU16be(bytes, 0, 8)).toBe(0x0102)
    expect(readU32(bytes, 0, 8)).toBe(0x04030201)
    expect(readU32be(bytes, 4, 8)).toBe(0x05060708)
    expect(readU64(bytes, 0, 8)).toBe(0x0807060504030201n)
    expect(readU64be(bytes, 0, 8)).toBe(0x0102030405060708n)
    expect(readString(Buffer.from('eth0\0\0'), 0, 6)).toBe('eth0')
    expect(readString(Buffer.from('eth0'), 0, 4)).toBe('eth0')
  })

  test('that are too short are refused although more bytes follow', () => {
    for (const [read, size] of [
      [readU8, 1],
      [readU16, 2],
      [readU16be, 2],
      [readU32, 4],
      [readU32be, 4],
      [readU64, 8],
      [readU64be, 8],
    ] as const) {
      expect(() => read(bytes, 0, size - 1)).toThrow(NetlinkDecodeError)
    }
  })
})
