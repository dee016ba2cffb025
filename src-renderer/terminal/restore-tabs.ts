import type { TargetId, TerminalInfo } from '../../src-main/contract/lab-contract.ts'

/** What a window remembers of its terminals over a reload, by lab. */
export interface RememberedTabs {
  readonly tabs: readonly { readonly stream: number; readonly target: TargetId }[]
  /** Places in `tabs` that are shown side by side. */
  readonly shown: readonly number[]
  readonly focused: number
}

/** A terminal that the window shall have: one that runs in the lab, or a new one where `stream` is undefined. */
export interface WantedTab {
  readonly target: TargetId
  readonly stream: number | undefined
}

const isThere = (alive: readonly TerminalInfo[], tab: WantedTab): boolean =>
  alive.some(({ stream, target }) => stream === tab.stream && target === tab.target)

/**
 * The terminals of a window that has just been opened: those that still run, in the remembered order, then those
 * that it does not know; a new one for the client where nothing runs.
 */
export function planFreshTabs(
  remembered: RememberedTabs | undefined,
  alive: readonly TerminalInfo[],
): readonly WantedTab[] {
  const known = (remembered?.tabs ?? []).filter((tab) => isThere(alive, tab))
  const rest = alive.filter(({ stream }) => !known.some((tab) => tab.stream === stream))
  const wanted = [...known, ...rest].map(({ stream, target }) => ({ stream, target }))
  return wanted.length > 0 ? wanted : [{ target: 'client', stream: undefined }]
}

/** After a lost connection each terminal of the window comes back; where the lab is another one now, as a new shell. */
export function planReconnectedTabs<T extends WantedTab>(
  tabs: readonly T[],
  alive: readonly TerminalInfo[],
): readonly { readonly tab: T; readonly attach: boolean }[] {
  return tabs.map((tab) => ({ tab, attach: isThere(alive, tab) }))
}

/** The terminals that another window has opened since; `closed` are streams that this one has closed and that still end. */
export function planOthersTabs(
  tabs: readonly WantedTab[],
  alive: readonly TerminalInfo[],
  closed: ReadonlySet<number>,
): readonly WantedTab[] {
  return alive
    .filter(({ stream }) => !closed.has(stream) && !tabs.some((tab) => tab.stream === stream))
    .map(({ stream, target }) => ({ stream, target }))
}

/** Undefined where the text is none of ours. */
export function parseRememberedTabs(value: unknown): RememberedTabs | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { tabs, shown, focused } = value as Partial<RememberedTabs>
  if (!Array.isArray(tabs) || !Array.isArray(shown) || typeof focused !== 'number') return undefined
  const isTab = (tab: unknown): boolean =>
    typeof tab === 'object' && tab !== null && 'stream' in tab && 'target' in tab
  return tabs.every(isTab) ? { tabs, shown, focused } : undefined
}
