import { expect, test } from 'vitest'
import { channelPair } from '../../src-main/contract/channel.ts'
import type { MenuCommand } from '../../src-main/contract/menu-command.ts'
import { withoutMenu } from '../../src-renderer/connect-lab.ts'

test('menu commands are taken out of the stream, in their order, and the rest passes', async () => {
  const [desktop, page] = channelPair()
  const commands: MenuCommand[] = []
  const rest: unknown[] = []
  withoutMenu(page, (command) => commands.push(command)).onMessage((message) => rest.push(message))
  desktop.send({ t: 'event', name: 'lab/progress', data: { menu: 'no' } })
  desktop.send({ menu: 'show-view', number: 3 } satisfies MenuCommand)
  desktop.send({ menu: 'toggle-projector' } satisfies MenuCommand)
  desktop.send({ t: 'result', id: 1, result: null })
  await expect.poll(() => rest.length).toBe(2)
  expect(commands.map(({ menu }) => menu)).toEqual(['show-view', 'toggle-projector'])
})
