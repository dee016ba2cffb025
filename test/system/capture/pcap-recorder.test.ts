import { describe, expect, it } from 'vitest'
import { PcapRecorder } from '../../../src-main/system/capture/pcap-recorder.ts'

const header = Buffer.from('d4c3b2a1020004000000000000000000000004000100000000'.slice(0, 48), 'hex')

function packet(bytes: number): Buffer {
  const record = Buffer.alloc(16 + bytes, 7)
  record.writeUInt32LE(bytes, 8)
  record.writeUInt32LE(bytes, 12)
  return record
}

const many = { packets: 100, bytes: 1_000_000 }

describe('a pcap recorder', () => {
  it('keeps the whole file, however it comes in pieces', () => {
    const file = Buffer.concat([header, packet(60), packet(1500), packet(0)])
    for (const size of [1, 7, 24, 100, file.length]) {
      const recorder = new PcapRecorder(many)
      const whole: Buffer[] = []
      for (let at = 0; at < file.length; at += size) whole.push(recorder.add(file.subarray(at, at + size)))
      expect(Buffer.concat(whole)).toEqual(file)
      expect(recorder.file()).toEqual(file)
      expect([recorder.packets, recorder.bytes, recorder.isFull]).toEqual([3, file.length, false])
    }
  })

  it('gives only whole packets', () => {
    const recorder = new PcapRecorder(many)
    const first = Buffer.concat([header, packet(60)])
    expect(recorder.add(Buffer.concat([first, packet(60).subarray(0, 50)]))).toEqual(first)
    expect(recorder.file()).toEqual(first)
  })

  it('ends before the packet that would pass a bound, and takes no more', () => {
    const two = Buffer.concat([header, packet(60), packet(60)])
    for (const bounds of [
      { packets: 2, bytes: 1_000_000 },
      { packets: 100, bytes: two.length + 75 },
    ]) {
      const recorder = new PcapRecorder(bounds)
      recorder.add(header)
      recorder.add(Buffer.concat([packet(60), packet(60), packet(60), packet(1)]))
      recorder.add(packet(1))
      expect(recorder.file()).toEqual(two)
      expect([recorder.packets, recorder.bytes, recorder.isFull]).toEqual([2, two.length, true])
    }
    const exact = new PcapRecorder({ packets: 2, bytes: two.length })
    exact.add(two)
    expect([exact.packets, exact.isFull]).toEqual([2, false])
  })

  it('refuses what is no pcap file', () => {
    expect(() => new PcapRecorder(many).add(Buffer.from('this is not a pcap file at all'))).toThrow('no pcap')
  })
})
