import { expect, test } from 'vitest'
import { channelPair } from '../../../src-main/contract/channel.ts'
import { connect, type Handlers, serve } from '../../../src-main/contract/rpc.ts'
import { captureInLab } from '../../../src-main/entry/cli/run-in-lab.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

test('what a command says before its start is answered is heard, and other streams are not', async () => {
  const [lab, viewer] = channelPair()
  serve(lab, {
    'exec/start': (_params, client) => {
      client.emit('streams/data', { stream: 6, channel: 'stdout', data: base64('of another') })
      client.emit('streams/data', { stream: 7, channel: 'stdout', data: base64('at once') })
      client.emit('streams/data', { stream: 7, channel: 'stderr', data: base64('oh') })
      client.emit('streams/exit', { stream: 7, code: 3, signal: null })
      return { stream: 7 }
    },
  } as Partial<Handlers> as Handlers)
  expect(await captureInLab(connect(viewer), 'client', ['true'])).toEqual({
    code: 3,
    stdout: 'at once',
    stderr: 'oh',
  })
})

test('a lab that ends meanwhile is an error, not a wait without end', async () => {
  const [lab, viewer] = channelPair()
  serve(lab, { 'exec/start': () => ({ stream: 1 }) } as Partial<Handlers> as Handlers)
  const running = captureInLab(connect(viewer), 'client', ['sleep', '100'])
  setTimeout(() => lab.close(), 20)
  await expect(running).rejects.toThrow('the lab ended')
})
