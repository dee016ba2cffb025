import { FitAddon } from '@xterm/addon-fit'
import { SearchAddon } from '@xterm/addon-search'
import { WebLinksAddon } from '@xterm/addon-web-links'
import { Terminal } from '@xterm/xterm'
import { untrack } from 'svelte'
import type { Attachment } from 'svelte/attachments'
import { frameCommand } from '../frame/keys.ts'
import type { DockState } from './dock-state.svelte.ts'
import { requestLine } from './suggestions.ts'
import type { TerminalTab } from './terminal-tab.svelte.ts'
import { xtermTheme } from './xterm-theme.ts'

const SCROLLBACK_LINES = 5000

/** What the pane around a terminal may do with it. */
export interface TerminalControls {
  /** False where nothing was found. */
  search(text: string, direction: 'next' | 'previous', grow: boolean): boolean
  endSearch(): void
  focus(): void
  /** Takes colours and type from the tokens, as they are now. */
  restyle(): void
  setReadable(readable: boolean): void
}

export interface ShownTerminal {
  readonly tab: TerminalTab
  readonly dock: DockState
  readonly onControls: (controls: TerminalControls) => void
  readonly onSearch: () => void
}

const token = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

const style = () => ({
  theme: xtermTheme(token),
  fontFamily: token('--font-mono'),
  fontSize: Number.parseFloat(token('--text-m')),
})

/** An xterm in an element, drawn by `tab`, until the element goes. What changes meanwhile comes through its controls. */
export function showTerminal(shown: ShownTerminal): Attachment<HTMLElement> {
  return (element) => untrack(() => openTerminal(element, shown))
}

function openTerminal(element: HTMLElement, { tab, dock, onControls, onSearch }: ShownTerminal): () => void {
  const terminal = new Terminal({
    ...style(),
    scrollback: SCROLLBACK_LINES,
    screenReaderMode: dock.readable,
    cursorBlink: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    allowProposedApi: true, // the search addon's marks need it
    lineHeight: 1.15,
  })
  const fit = new FitAddon()
  const search = new SearchAddon()
  terminal.loadAddon(fit)
  terminal.loadAddon(search)
  terminal.loadAddon(new WebLinksAddon((_event, address) => dock.type(tab.target, requestLine(address))))
  terminal.open(element)

  const refit = (): void => {
    if (element.clientWidth > 0 && element.clientHeight > 0) fit.fit()
  }
  refit()
  const copy = (): void => {
    if (terminal.hasSelection()) void navigator.clipboard?.writeText(terminal.getSelection())
  }
  terminal.attachCustomKeyEventHandler((event) => {
    if (frameCommand(event, true)) return false // the window's own; it hears the event, too
    if (event.type !== 'keydown' || !event.ctrlKey || !event.shiftKey) return true
    switch (event.code) {
      case 'KeyC':
        event.preventDefault()
        copy()
        return false
      case 'KeyF':
        event.preventDefault()
        onSearch()
        return false
      case 'KeyV':
        return false // the browser pastes, and xterm takes it from there
      default:
        return true
    }
  })
  terminal.onData((data) => dock.send(tab, data))
  terminal.onResize(() => dock.resized(tab))
  terminal.textarea?.addEventListener('focus', () => dock.focused(tab))
  const unmount = tab.mount({
    write: (data, drawn) => terminal.write(data, drawn),
    reset: () => terminal.reset(),
    focus: () => terminal.focus(),
    get size() {
      return { cols: terminal.cols, rows: terminal.rows }
    },
  })
  onControls({
    search: (text, direction, grow) =>
      text === '' ||
      (direction === 'next'
        ? search.findNext(text, { incremental: grow })
        : search.findPrevious(text, { incremental: grow })),
    endSearch: () => {
      search.clearDecorations()
      terminal.clearSelection()
      terminal.focus()
    },
    focus: () => terminal.focus(),
    restyle: () => {
      terminal.options = style()
      refit()
    },
    setReadable: (readable) => {
      terminal.options.screenReaderMode = readable
    },
  })
  let frame = 0
  const resizes = new ResizeObserver(() => {
    cancelAnimationFrame(frame)
    frame = requestAnimationFrame(refit)
  })
  resizes.observe(element)
  return () => {
    resizes.disconnect()
    cancelAnimationFrame(frame)
    unmount()
    terminal.dispose()
  }
}
