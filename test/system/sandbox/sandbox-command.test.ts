import { afterEach, expect, test } from 'vitest'
import { sandboxCommand, sandboxEnvironment } from '../../../src-main/system/sandbox/sandbox-command.ts'

afterEach(() => {
  Reflect.deleteProperty(process.versions, 'electron')
})

test('in the desktop app the holder is started with Electron as Node', () => {
  expect(sandboxEnvironment()).not.toHaveProperty('ELECTRON_RUN_AS_NODE')
  Object.defineProperty(process.versions, 'electron', { value: '45.5.0', configurable: true })
  expect(sandboxEnvironment()).toMatchObject({ ELECTRON_RUN_AS_NODE: '1', LC_ALL: 'C' })
  expect(sandboxCommand(['holder.cjs'], { endsWithParent: true })).toContain(process.execPath)
})
