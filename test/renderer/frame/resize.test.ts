import { describe, expect, it } from 'vitest'
import { boundsIn, clampSize, foldsAt, sizeAfterKey } from '../../../src-renderer/frame/resize.ts'

describe('sizes of panes', () => {
  const bounds = boundsIn(1000, 200, 400)

  it('leaves the rest its room', () => {
    expect(bounds).toEqual({ min: 200, max: 600 })
    expect(clampSize(900, bounds)).toBe(600)
    expect(clampSize(10, bounds)).toBe(200)
  })

  it('keeps the smallest size where there is no room at all', () => {
    expect(boundsIn(300, 200, 400)).toEqual({ min: 200, max: 200 })
  })

  it('folds a pane that is dragged below half of its smallest size', () => {
    expect(foldsAt(99, bounds)).toBe(true)
    expect(foldsAt(100, bounds)).toBe(false)
  })

  it('moves with the arrow that points away from the pane, and back with the other', () => {
    expect(sizeAfterKey('ArrowRight', false, 300, bounds, 'ArrowRight')).toBe(316)
    expect(sizeAfterKey('ArrowLeft', false, 300, bounds, 'ArrowRight')).toBe(284)
    expect(sizeAfterKey('ArrowLeft', true, 300, bounds, 'ArrowLeft')).toBe(364)
    expect(sizeAfterKey('ArrowDown', false, 205, bounds, 'ArrowUp')).toBe(200)
    expect(sizeAfterKey('End', false, 300, bounds, 'ArrowUp')).toBe(600)
  })

  it('leaves keys along the edge to others', () => {
    expect(sizeAfterKey('ArrowUp', false, 300, bounds, 'ArrowRight')).toBeUndefined()
    expect(sizeAfterKey('Tab', false, 300, bounds, 'ArrowRight')).toBeUndefined()
  })
})
