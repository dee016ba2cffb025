import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  activeTab,
  closeTab,
  joinSides,
  NO_SIDES,
  type Sides,
  selectTab,
  splitWith,
} from '../../../src-renderer/terminal/split-sides.ts'

describe('two terminals side by side', () => {
  const split: Sides = { shown: [1, 2], focused: 1 }

  it('shows a tab on the side that has the keyboard', () => {
    expect(selectTab(split, 3)).toEqual({ shown: [1, 3], focused: 1 })
    expect(selectTab(split, 1)).toEqual({ shown: [1, 2], focused: 0 })
    expect(selectTab(NO_SIDES, 1)).toEqual({ shown: [1], focused: 0 })
  })

  it('splits and joins around the active one', () => {
    expect(splitWith({ shown: [1], focused: 0 }, 2)).toEqual(split)
    expect(joinSides(split)).toEqual({ shown: [2], focused: 0 })
    expect(joinSides(NO_SIDES)).toEqual(NO_SIDES)
  })

  it('gives the side of a closed tab to its neighbour', () => {
    expect(closeTab({ shown: [2], focused: 0 }, 2, [1, 3], 1)).toEqual({ shown: [3], focused: 0 })
    expect(closeTab({ shown: [3], focused: 0 }, 3, [1, 2], 2)).toEqual({ shown: [2], focused: 0 })
    expect(closeTab(split, 2, [1], 1)).toEqual({ shown: [1], focused: 0 })
    expect(closeTab({ shown: [1], focused: 0 }, 1, [], 0)).toEqual(NO_SIDES)
    expect(closeTab(split, 3, [1, 2], 2)).toEqual(split)
  })

  it('never shows a tab twice or one that has gone, whatever is done', () => {
    const step = fc.record({ kind: fc.constantFrom('select', 'split', 'close', 'join'), at: fc.nat(5) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let tabs = [1, 2, 3, 4]
        let sides = selectTab(NO_SIDES, 1)
        for (const { kind, at } of steps) {
          const tab = tabs[at % Math.max(1, tabs.length)]
          if (tab === undefined) break
          if (kind === 'select') sides = selectTab(sides, tab)
          else if (kind === 'split') sides = splitWith(sides, tab)
          else if (kind === 'join') sides = joinSides(sides)
          else {
            const place = tabs.indexOf(tab)
            tabs = tabs.filter((other) => other !== tab)
            sides = closeTab(sides, tab, tabs, place)
          }
          expect(new Set(sides.shown).size).toBe(sides.shown.length)
          expect(sides.shown.every((shown) => tabs.includes(shown))).toBe(true)
          expect(sides.shown.length).toBeLessThanOrEqual(2)
          expect(activeTab(sides) !== undefined).toBe(tabs.length > 0)
        }
      }),
    )
  })
})
