import { readPreference, writePreference } from './preferences.ts'

export type ThemeChoice = 'system' | 'dark' | 'light'

/** A pane that folds away; its size is in pixels. */
export interface PaneSizes {
  readonly sidebar: number
  readonly inspector: number
  readonly dock: number
  /** Under the trace. */
  readonly beside: number
}

export const USUAL_SIZES: PaneSizes = { sidebar: 232, inspector: 292, dock: 236, beside: 190 }

const isTheme = (value: unknown): value is ThemeChoice =>
  value === 'system' || value === 'dark' || value === 'light'

function rememberedSizes(): PaneSizes {
  const value = readPreference('panes')
  const kept: Partial<Record<string, unknown>> =
    typeof value === 'object' && value !== null ? { ...value } : {}
  const size = (pane: keyof PaneSizes): number => {
    const pixels = kept[pane]
    return typeof pixels === 'number' && Number.isFinite(pixels) ? pixels : USUAL_SIZES[pane]
  }
  return {
    sidebar: size('sidebar'),
    inspector: size('inspector'),
    dock: size('dock'),
    beside: size('beside'),
  }
}

/** What the frame itself remembers: theme, projector, panes, and which sheet lies over it. */
export class FrameState {
  theme = $state<ThemeChoice>('system')
  projector = $state(readPreference('projector') === true)
  systemDark = $state(true)
  sizes = $state.raw<PaneSizes>(rememberedSizes())
  sidebarOpen = $state(readPreference('sidebar-open') !== false)
  inspectorOpen = $state(readPreference('inspector-open') !== false)
  sheet = $state<'palette' | 'help' | undefined>()
  /** A line that says what has been done; it goes by itself. */
  said = $state<string | undefined>()
  readonly dark = $derived(this.theme === 'system' ? this.systemDark : this.theme === 'dark')

  #saidTimer: ReturnType<typeof setTimeout> | undefined

  constructor() {
    const theme = readPreference('theme')
    if (isTheme(theme)) this.theme = theme
  }

  /** Follows the system's theme. Returns the function that stops it. */
  followSystem(query: MediaQueryList): () => void {
    const follow = (): void => {
      this.systemDark = query.matches
    }
    follow()
    query.addEventListener('change', follow)
    return () => query.removeEventListener('change', follow)
  }

  setTheme(theme: ThemeChoice): void {
    this.theme = theme
    writePreference('theme', theme)
  }

  toggleTheme(): void {
    this.setTheme(this.dark ? 'light' : 'dark')
  }

  toggleProjector(): void {
    this.projector = !this.projector
    writePreference('projector', this.projector)
  }

  setSize(pane: keyof PaneSizes, pixels: number): void {
    this.sizes = { ...this.sizes, [pane]: pixels }
    writePreference('panes', this.sizes)
  }

  setSidebar(open: boolean): void {
    this.sidebarOpen = open
    writePreference('sidebar-open', open)
  }

  setInspector(open: boolean): void {
    this.inspectorOpen = open
    writePreference('inspector-open', open)
  }

  say(text: string): void {
    this.said = text
    clearTimeout(this.#saidTimer)
    this.#saidTimer = setTimeout(() => {
      this.said = undefined
    }, 4000)
  }
}
