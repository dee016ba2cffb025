import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { streamChannel } from '../../../src-main/system/channel/stream-channel.ts'

const open = () => {
  const input = new PassThrough()
  const output = new PassThrough()
  const channel = streamChannel(input, output)
  const received: unknown[] = []
  let closed = false
  channel.onMessage((message) => received.push(message))
  channel.onClose(() => {
    closed = true
  })
  return { input, output, channel, received, isClosed: () => closed }
}

describe('streamChannel', () => {
  test('puts messages together from any pieces, also within a character', async () => {
    const { input, received } = open()
    const bytes = Buffer.from(
      `${JSON.stringify({ text: 'grün', list: [1, 2] })}\n${JSON.stringify('two')}\n\n`,
    )
    for (const byte of bytes) input.write(Buffer.from([byte]))
    await expect.poll(() => received).toEqual([{ text: 'grün', list: [1, 2] }, 'two'])
  })

  test('closes on a line that is no JSON, and takes nothing after it', async () => {
    const { input, received, isClosed } = open()
    input.write('{"a":1}\nGET / HTTP/1.1\n{"b":2}\n')
    await expect.poll(isClosed).toBe(true)
    expect(received).toEqual([{ a: 1 }])
  })

  test('says when the other end does not keep up, and when it does again', async () => {
    const { output, channel } = open()
    expect(channel.writable).toBe(true)
    for (let n = 0; n < 100 && channel.writable; n += 1) channel.send('x'.repeat(1000))
    expect(channel.writable).toBe(false)
    output.resume()
    await channel.drained()
    expect(channel.writable).toBe(true)
  })

  test('a close ends what waits for it', async () => {
    const { channel, isClosed } = open()
    for (let n = 0; n < 100 && channel.writable; n += 1) channel.send('x'.repeat(1000))
    channel.close()
    await channel.drained()
    expect(isClosed()).toBe(true)
    channel.send('into the void')
  })
})
