import type { View } from '../lab-state.svelte.ts'

/** What the window itself does on a key, wherever the keyboard is. */
export type FrameCommand =
  | { readonly do: 'palette' }
  | { readonly do: 'dock' }
  | { readonly do: 'help' }
  | { readonly do: 'view'; readonly view: View }
  | { readonly do: 'region'; readonly step: 1 | -1 }

export interface KeyPress {
  readonly key: string
  readonly code: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
  readonly shiftKey: boolean
}

/** Views in the order of their keys, Ctrl+1 first. */
const VIEW_KEYS: readonly View[] = ['path', 'topology', 'rules', 'trace', 'manifests']

/** `typing`: the keyboard is in a field or a terminal, so that plain letters are text. */
export function frameCommand(press: KeyPress, typing: boolean): FrameCommand | undefined {
  const { key, code, altKey, shiftKey } = press
  const control = press.ctrlKey || press.metaKey
  if (key === 'F6') return { do: 'region', step: shiftKey ? -1 : 1 }
  if (altKey) return undefined
  if (control && !shiftKey && key.toLowerCase() === 'k') return { do: 'palette' }
  if (control && code === 'Backquote') return { do: 'dock' } // on some layouts the key is a dead one
  if (control && !shiftKey) {
    const view = VIEW_KEYS[Number(/^Digit([1-9])$/.exec(code)?.[1] ?? 0) - 1]
    return view && { do: 'view', view }
  }
  return key === '?' && !typing && !control ? { do: 'help' } : undefined
}

/** The help sheet's lines. */
export const KEY_HELP: readonly {
  readonly title: string
  readonly keys: readonly { readonly keys: readonly string[]; readonly does: string }[]
}[] = [
  {
    title: 'Window',
    keys: [
      { keys: ['Ctrl', 'K'], does: 'Every action by name' },
      { keys: ['Ctrl', '1'], does: 'Path' },
      { keys: ['Ctrl', '2'], does: 'Topology' },
      { keys: ['Ctrl', '3'], does: 'Rules' },
      { keys: ['Ctrl', '4'], does: 'Trace' },
      { keys: ['Ctrl', '5'], does: 'Manifests' },
      { keys: ['Ctrl', '`'], does: 'Show or hide the terminals' },
      { keys: ['F6'], does: 'To the next part of the window (Shift+F6: back)' },
      { keys: ['F11'], does: 'Full screen' },
      { keys: ['?'], does: 'This sheet' },
    ],
  },
  {
    title: 'Nodes, pods and Services',
    keys: [
      { keys: ['↑', '↓'], does: 'Go through the list' },
      { keys: ['→', '←'], does: 'Open or close a node' },
      { keys: ['Enter'], does: 'A terminal there' },
    ],
  },
  {
    title: 'Trace',
    keys: [
      { keys: ['←', '→'], does: 'To the step before or after' },
      { keys: ['Home', 'End'], does: 'To the first or last step' },
      { keys: ['↑', '↓'], does: 'To the packet before or after' },
      { keys: ['Space'], does: 'Play or pause' },
      { keys: ['D'], does: 'To the DNAT' },
      { keys: ['Ctrl', 'Enter'], does: 'Trace again' },
    ],
  },
  {
    title: 'Terminals',
    keys: [
      { keys: ['Ctrl', 'Shift', 'C'], does: 'Copy what is selected' },
      { keys: ['Ctrl', 'Shift', 'V'], does: 'Paste' },
      { keys: ['Ctrl', 'Shift', 'F'], does: 'Search' },
      { keys: ['Delete'], does: 'On a tab: close it' },
    ],
  },
  {
    title: 'Between panes',
    keys: [
      { keys: ['←', '→', '↑', '↓'], does: 'Make a pane larger or smaller' },
      { keys: ['Enter'], does: 'Fold it away' },
    ],
  },
]
