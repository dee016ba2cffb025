import type { ITheme } from '@xterm/xterm'

const ANSI = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** A terminal's colours out of the design tokens; `token` gives the value of a custom property. */
export function xtermTheme(token: (name: string) => string): ITheme {
  const theme: Record<string, string> = {
    background: token('--bg-sunken'),
    foreground: token('--text'),
    cursor: token('--accent'),
    cursorAccent: token('--bg-sunken'),
    selectionBackground: token('--term-selection'),
    selectionInactiveBackground: token('--term-selection'),
    scrollbarSliderBackground: token('--line'),
    scrollbarSliderHoverBackground: token('--line-strong'),
    scrollbarSliderActiveBackground: token('--line-strong'),
  }
  for (const name of ANSI) {
    theme[name] = token(`--term-${name}`)
    theme[`bright${capital(name)}`] = token(`--term-bright-${name}`)
  }
  return theme
}
