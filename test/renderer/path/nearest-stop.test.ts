import { expect, test } from 'vitest'
import { nearestStop } from '../../../src-renderer/path/nearest-stop.ts'
import { buildNetfilterMap } from '../../../src-renderer/path/netfilter-map.ts'

const cells = buildNetfilterMap().hooks.flatMap((hook) => hook.cells)

function from(id: string, direction: 'left' | 'right' | 'up' | 'down'): string | undefined {
  const start = cells.find((cell) => cell.id === id)
  return start && nearestStop(cells, start, direction)?.id
}

test('arrows move to the next table, and to the next hook', () => {
  expect(from('PREROUTING raw', 'down')).toBe('PREROUTING mangle')
  expect(from('PREROUTING mangle', 'right')).toBe('FORWARD mangle')
  expect(from('POSTROUTING mangle', 'left')).toBe('FORWARD mangle')
  expect(from('PREROUTING raw', 'up')).toBeUndefined()
})

test('every cell can be reached with the arrows', () => {
  const reached = new Set(['PREROUTING raw'])
  for (const id of reached)
    for (const direction of ['left', 'right', 'up', 'down'] as const) {
      const next = from(id, direction)
      if (next) reached.add(next)
    }
  expect(reached.size).toBe(cells.length)
})
