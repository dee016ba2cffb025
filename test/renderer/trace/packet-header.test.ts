import { describe, expect, it } from 'vitest'
import { changeWords, headerFields, hopHeaders } from '../../../src-renderer/trace/packet-header.ts'
import { NODE_PORT_HOPS } from './seed-journey.ts'

const headers = hopHeaders(NODE_PORT_HOPS)
const field = (step: number, name: string) => headerFields(headers, step).find((each) => each.name === name)

describe('the packet’s header at a step', () => {
  it('changes the mark at the rule that sets it, and not again where the kernel tells it', () => {
    expect(field(4, 'mark')).toEqual({ name: 'mark', value: '0x0', becomes: '0x4000' })
    for (const step of [5, 6, 7]) expect(field(step, 'mark')).toEqual({ name: 'mark', value: '0x4000' })
    expect(field(11, 'mark')).toEqual({ name: 'mark', value: '0x4000', becomes: '0x0' })
    expect(field(12, 'mark')).toEqual({ name: 'mark', value: '0x0' })
  })

  it('changes addresses where NAT does', () => {
    expect(field(7, 'destination')).toEqual({
      name: 'destination',
      value: '172.18.0.3:32054',
      becomes: '10.244.2.8:80',
    })
    expect(field(7, 'source')?.becomes).toBeUndefined()
    expect(field(12, 'source')).toEqual({
      name: 'source',
      value: '172.18.0.254:40000',
      becomes: '172.18.0.3:1024',
    })
  })

  it('leaves the links to routing: they are new at the step behind it', () => {
    expect(field(7, 'out by')).toEqual({ name: 'out by', value: '' })
    expect(field(8, 'out by')).toEqual({ name: 'out by', value: 'eth0', was: '' })
    expect(field(13, 'out by')).toEqual({ name: 'out by', value: '', was: 'eth0' })
  })

  it('says the changes short, and nothing where there are none', () => {
    expect(changeWords(headers, 7)).toBe('dst → 10.244.2.8:80')
    expect(changeWords(headers, 4)).toBe('mark → 0x4000')
    expect(changeWords(headers, 0)).toBe('')
    expect(headerFields(headers, 99)).toEqual([])
  })
})
