const PREFIX = 'chainwalk/'

/** What the window remembers between visits. A browser that keeps nothing (private, full) is no failure. */
export function readPreference(name: string): unknown {
  try {
    const text = localStorage.getItem(PREFIX + name)
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined // no store, or another's text
  }
}

export function writePreference(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value))
  } catch {
    // The next visit starts with the defaults.
  }
}
