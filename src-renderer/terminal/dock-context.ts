import { createContext } from 'svelte'
import type { DockState } from './dock-state.svelte.ts'

/** The window's terminals, for every component inside it. */
export const [getDock, provideDock] = createContext<DockState>()
