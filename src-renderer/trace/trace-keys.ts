/** What a key does in the trace. */
export type TraceCommand =
  | { readonly do: 'step'; readonly by: 1 | -1 }
  | { readonly do: 'journey'; readonly by: 1 | -1 }
  | { readonly do: 'first' | 'last' | 'play' | 'dnat' | 'trace' }

export interface TraceKey {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
  readonly shiftKey: boolean
}

/** `typing`: the keyboard is in a field, so that only Ctrl+Enter is a command. */
export function traceCommand(press: TraceKey, typing: boolean): TraceCommand | undefined {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = press
  if ((ctrlKey || metaKey) && key === 'Enter') return { do: 'trace' }
  if (typing || ctrlKey || metaKey || altKey || shiftKey) return undefined
  switch (key) {
    case 'ArrowRight':
      return { do: 'step', by: 1 }
    case 'ArrowLeft':
      return { do: 'step', by: -1 }
    case 'ArrowDown':
      return { do: 'journey', by: 1 }
    case 'ArrowUp':
      return { do: 'journey', by: -1 }
    case 'Home':
      return { do: 'first' }
    case 'End':
      return { do: 'last' }
    case ' ':
      return { do: 'play' }
    case 'd':
      return { do: 'dnat' }
    default:
      return undefined
  }
}
