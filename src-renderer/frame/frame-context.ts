import { createContext } from 'svelte'
import type { FrameState } from './frame-state.svelte.ts'

/** The frame around the views: theme, panes, sheets. */
export const [getFrame, provideFrame] = createContext<FrameState>()
