import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  buildEndpointChain,
  isServiceChain,
  ServicePortChains,
} from '../../../src-main/domain/kube-proxy/chain-names.ts'
import { sha256 } from '../../../src-main/domain/kube-proxy/sha256.ts'

const hex = (words: Int32Array) =>
  Array.from(words, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')

describe('sha256', () => {
  it.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
  ])('of %j is the published value', (text, digest) => {
    expect(hex(sha256(text))).toBe(digest)
  })

  it('equals that of node:crypto for any texts in a row', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 150 }),
        fc.string({ unit: 'binary-ascii', maxLength: 70 }),
        fc.string({ unit: 'grapheme' }),
        (first, second, third) => {
          const real = createHash('sha256').update(first).update(second).update(third).digest('hex')
          expect(hex(sha256(first, second, third))).toBe(real)
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('chain names', () => {
  it('are those of the real kube-proxy', () => {
    const chains = new ServicePortChains('default/web:http', 'tcp')
    expect([chains.cluster, chains.local, chains.external, chains.firewall]).toEqual([
      'KUBE-SVC-CDGGSHYLG3RE2FKL',
      'KUBE-SVL-CDGGSHYLG3RE2FKL',
      'KUBE-EXT-CDGGSHYLG3RE2FKL',
      'KUBE-FW-CDGGSHYLG3RE2FKL',
    ])
    expect(buildEndpointChain('default/web:http', 'tcp', '10.244.1.7:8080')).toBe('KUBE-SEP-A4JCWMD6AMIS43DD')
    expect(buildEndpointChain('default/web:http', 'tcp', '[fd00:10:244:1::7]:8080')).toBe(
      'KUBE-SEP-HU5DTQM4RZTT75AC',
    )
  })

  it('tell whose a chain is', () => {
    expect(isServiceChain('KUBE-SEP-A4JCWMD6AMIS43DD')).toBe(true)
    expect(isServiceChain('KUBE-SERVICES')).toBe(false)
    expect(isServiceChain('KUBE-POD-FW-A4JCWMD6AMIS43DD')).toBe(false)
  })
})
