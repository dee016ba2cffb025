import { describe, expect, it } from 'vitest'
import { traceCommand } from '../../../src-renderer/trace/trace-keys.ts'

const press = (key: string, held = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
})

describe('keys of the trace', () => {
  it('step, change the packet, play and jump', () => {
    expect(traceCommand(press('ArrowRight'), false)).toEqual({ do: 'step', by: 1 })
    expect(traceCommand(press('ArrowLeft'), false)).toEqual({ do: 'step', by: -1 })
    expect(traceCommand(press('ArrowDown'), false)).toEqual({ do: 'journey', by: 1 })
    expect(traceCommand(press('ArrowUp'), false)).toEqual({ do: 'journey', by: -1 })
    expect(traceCommand(press('Home'), false)).toEqual({ do: 'first' })
    expect(traceCommand(press('End'), false)).toEqual({ do: 'last' })
    expect(traceCommand(press(' '), false)).toEqual({ do: 'play' })
    expect(traceCommand(press('d'), false)).toEqual({ do: 'dnat' })
  })

  it('are text while somebody types, but for Ctrl+Enter', () => {
    for (const key of ['ArrowLeft', 'Home', ' ', 'd'])
      expect(traceCommand(press(key), true), key).toBeUndefined()
    expect(traceCommand(press('Enter', { ctrlKey: true }), true)).toEqual({ do: 'trace' })
  })

  it('leave keys that are held with others alone', () => {
    expect(traceCommand(press('ArrowRight', { altKey: true }), false)).toBeUndefined()
    expect(traceCommand(press('d', { ctrlKey: true }), false)).toBeUndefined()
  })
})
