/** Which terminals stand side by side (one or two, by tab id), and which side has the keyboard. */
export interface Sides {
  readonly shown: readonly number[]
  readonly focused: number
}

export const NO_SIDES: Sides = { shown: [], focused: 0 }

export const activeTab = ({ shown, focused }: Sides): number | undefined => shown[focused]

/** Shows a tab on the side that has the keyboard, or moves the keyboard to the side where it stands already. */
export function selectTab(sides: Sides, tab: number): Sides {
  const place = sides.shown.indexOf(tab)
  if (place >= 0) return { ...sides, focused: place }
  if (sides.shown.length === 0) return { shown: [tab], focused: 0 }
  return { ...sides, shown: sides.shown.map((shown, side) => (side === sides.focused ? tab : shown)) }
}

/** Puts a tab on the right of the one that is shown. */
export function splitWith(sides: Sides, tab: number): Sides {
  const left = activeTab(sides)
  if (left === undefined || left === tab) return selectTab(sides, tab)
  return { shown: [left, tab], focused: 1 }
}

export function joinSides(sides: Sides): Sides {
  const active = activeTab(sides)
  return active === undefined ? NO_SIDES : { shown: [active], focused: 0 }
}

/** After a tab has gone from `tabs` (the ones left, in order, with its old place): its neighbour takes its side. */
export function closeTab(sides: Sides, tab: number, tabs: readonly number[], place: number): Sides {
  const side = sides.shown.indexOf(tab)
  if (side < 0) return sides
  const free = tabs.filter((other) => !sides.shown.includes(other))
  const neighbour = tabs
    .slice(place)
    .concat(tabs.slice(0, place).reverse())
    .find((other) => free.includes(other))
  const shown = sides.shown.flatMap((other) =>
    other !== tab ? [other] : neighbour === undefined ? [] : [neighbour],
  )
  return { shown, focused: Math.max(0, Math.min(sides.focused, shown.length - 1)) }
}
