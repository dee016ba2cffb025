import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { channelPair } from '../../../src-main/contract/channel.ts'
import { type PausableChannel, pipeChannels } from '../../../src-main/system/channel/pipe-channels.ts'
import { streamChannel } from '../../../src-main/system/channel/stream-channel.ts'
import { webSocketChannel } from '../../../src-main/system/channel/web-socket-channel.ts'

/** A lab's end of a Unix socket, and a page's WebSocket, joined as the web entry joins them. */
let lab: PausableChannel
let page: WebSocket
let unix: Server
let web: WebSocketServer
let folder: string

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'chainwalk-pipe-'))
  unix = createServer()
  const accepted = new Promise<PausableChannel>((resolve) => {
    unix.once('connection', (socket) => resolve(streamChannel(socket, socket)))
  })
  await new Promise<void>((resolve) => unix.listen(join(folder, 'lab.sock'), resolve))
  const toLab = connect(join(folder, 'lab.sock'))
  lab = await accepted

  web = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await new Promise((resolve) => web.once('listening', resolve))
  const opened = new Promise<WebSocket>((resolve) => web.once('connection', resolve))
  page = new WebSocket(`ws://127.0.0.1:${(web.address() as AddressInfo).port}/`)
  await new Promise((resolve) => page.once('open', resolve))
  pipeChannels(webSocketChannel(await opened), streamChannel(toLab, toLab))
})

afterEach(async () => {
  page.terminate()
  lab.close()
  await new Promise((resolve) => web.close(resolve))
  await new Promise((resolve) => unix.close(resolve))
  rmSync(folder, { recursive: true })
})

test('a page that does not read makes the lab wait, and then gets everything in its order', async () => {
  const heard: number[] = []
  page.on('message', (data) => heard.push((JSON.parse(String(data)) as { n: number }).n))
  page.pause()
  const filler = 'x'.repeat(1024 * 1024)
  let sent = 0
  // 100 MB are offered; what the sockets and the entry hold is a few.
  for (const until = Date.now() + 1500; Date.now() < until && sent < 100; await sleep(1))
    while (lab.writable && sent < 100) {
      lab.send({ n: sent, filler })
      sent += 1
    }
  expect(lab.writable).toBe(false)
  expect(sent).toBeLessThan(50)
  page.resume()
  await lab.drained()
  await expect.poll(() => heard.length, { timeout: 5000 }).toBe(sent)
  expect(heard).toEqual(Array.from({ length: sent }, (_, n) => n))
})

test('what is no JSON text ends both sides', async () => {
  const gone = new Promise<void>((resolve) => lab.onClose(resolve))
  const closed = new Promise<number>((resolve) => page.once('close', resolve))
  page.send('{"t":"request"')
  expect(await closed).toBe(1003)
  await gone
})

test('binary frames end both sides', async () => {
  const gone = new Promise<void>((resolve) => lab.onClose(resolve))
  page.send(Buffer.from('{}'))
  await gone
})

test('a channel that has ended already ends the other at once', async () => {
  const [near, far] = channelPair()
  const pausable = (channel: typeof near): PausableChannel => ({
    ...channel,
    pause: () => undefined,
    resume: () => undefined,
  })
  near.close()
  const [other, otherEnd] = channelPair()
  const gone = new Promise<void>((resolve) => otherEnd.onClose(resolve))
  pipeChannels(pausable(far), pausable(other))
  await gone
})
