import { describe, expect, it } from 'vitest'
import { frameCommand, type KeyPress } from '../../../src-renderer/frame/keys.ts'

const press = (key: string, held: Partial<KeyPress> = {}): KeyPress => ({
  key,
  code: /^\d$/.test(key) ? `Digit${key}` : '',
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
})
const ctrl = { ctrlKey: true }

describe('keys of the window', () => {
  it('opens the palette, also while somebody types', () => {
    expect(frameCommand(press('k', ctrl), true)).toEqual({ do: 'palette' })
    expect(frameCommand(press('K', { metaKey: true }), false)).toEqual({ do: 'palette' })
  })

  it('picks views by digit, and leaves other digits alone', () => {
    expect(frameCommand(press('1', ctrl), true)).toEqual({ do: 'view', view: 'path' })
    expect(frameCommand(press('4', ctrl), false)).toEqual({ do: 'view', view: 'trace' })
    expect(frameCommand(press('5', ctrl), false)).toEqual({ do: 'view', view: 'manifests' })
    expect(frameCommand(press('8', ctrl), false)).toBeUndefined()
    expect(frameCommand(press('0', ctrl), false)).toBeUndefined()
  })

  it('takes digits by place, where a layout has signs on them', () => {
    expect(frameCommand(press('&', { ...ctrl, code: 'Digit1' }), false)).toEqual({ do: 'view', view: 'path' })
  })

  it('toggles the dock by the key under Escape, even where it is a dead one', () => {
    expect(frameCommand(press('Dead', { ...ctrl, code: 'Backquote' }), true)).toEqual({ do: 'dock' })
  })

  it('goes through the parts of the window', () => {
    expect(frameCommand(press('F6'), true)).toEqual({ do: 'region', step: 1 })
    expect(frameCommand(press('F6', { shiftKey: true }), true)).toEqual({ do: 'region', step: -1 })
  })

  it('takes a question mark for help only where it is no text', () => {
    expect(frameCommand(press('?', { shiftKey: true }), false)).toEqual({ do: 'help' })
    expect(frameCommand(press('?', { shiftKey: true }), true)).toBeUndefined()
  })

  it('leaves the shell its keys', () => {
    for (const key of ['c', 'd', 'r', 'u', 'l', 'w'])
      expect(frameCommand(press(key, ctrl), true), key).toBeUndefined()
    expect(frameCommand(press('k', { ...ctrl, shiftKey: true }), true)).toBeUndefined()
    expect(frameCommand(press('1', { altKey: true }), true)).toBeUndefined()
    expect(frameCommand(press('F11'), false)).toBeUndefined()
  })
})
