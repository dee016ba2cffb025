import type { PathKey } from './field-path.ts'
import type { ReadText } from './read-text.ts'

/**
 * A text of one or more JSON values after each other, as kubectl accepts it. Undefined when the text is not
 * JSON throughout. Places are worked out only when asked for.
 */
export function readJson(text: string): ReadText[] | undefined {
  const whole = parseValue(text, 0)
  if (whole) return [whole]
  const values: ReadText[] = []
  for (let start = skipBlanks(text, 0); start < text.length; ) {
    const end = skipValue(text, start)
    const value = end > start && parseValue(text.slice(start, end), start)
    if (!value) return undefined
    values.push(value)
    start = skipBlanks(text, end)
  }
  return values
}

function parseValue(text: string, start: number): ReadText | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const places = new JsonPlaces(text)
    return {
      value,
      problems: [],
      offsetOf: (keys) => start + places.offsetOf(keys),
      sourceOf: (keys) => places.sourceOf(keys),
    }
  } catch {
    // Not JSON: the caller reads the text as YAML and reports what is wrong with it.
    return undefined
  }
}

interface Child {
  /** Where the key or, in an array, the value begins. */
  readonly keyOffset: number
  readonly valueOffset: number
}

/** Finds values in a text that is known to be valid JSON. */
class JsonPlaces {
  private readonly text: string
  private readonly childrenByOffset = new Map<number, ReadonlyMap<PathKey, Child>>()

  constructor(text: string) {
    this.text = text
  }

  /** The offset of the key that leads to the value; of the nearest parent where the path ends early. */
  offsetOf(keys: readonly PathKey[]): number {
    return this.find(keys).child.keyOffset
  }

  /** The text of a number, string, boolean or null. */
  sourceOf(keys: readonly PathKey[]): string | undefined {
    const { child, isComplete } = this.find(keys)
    const opener = this.text[child.valueOffset]
    if (!isComplete || opener === '{' || opener === '[') return undefined
    return this.text.slice(child.valueOffset, skipValue(this.text, child.valueOffset))
  }

  private find(keys: readonly PathKey[]): { child: Child; isComplete: boolean } {
    const start = skipBlanks(this.text, 0)
    let child: Child = { keyOffset: start, valueOffset: start }
    for (const key of keys) {
      const next = this.childrenAt(child.valueOffset).get(key)
      if (!next) return { child, isComplete: false }
      child = next
    }
    return { child, isComplete: true }
  }

  private childrenAt(offset: number): ReadonlyMap<PathKey, Child> {
    const known = this.childrenByOffset.get(offset)
    if (known) return known
    const children = scanChildren(this.text, offset)
    this.childrenByOffset.set(offset, children)
    return children
  }
}

function scanChildren(text: string, offset: number): ReadonlyMap<PathKey, Child> {
  const children = new Map<PathKey, Child>()
  const isObject = text[offset] === '{'
  if (!isObject && text[offset] !== '[') return children
  const closer = isObject ? '}' : ']'
  let at = skipBlanks(text, offset + 1)
  while (at < text.length && text[at] !== closer) {
    const keyOffset = at
    let key: PathKey = children.size
    if (isObject) {
      at = skipString(text, at)
      key = String(JSON.parse(text.slice(keyOffset, at)))
      at = skipBlanks(text, skipBlanks(text, at) + 1)
    }
    children.set(key, { keyOffset, valueOffset: at })
    at = skipBlanks(text, skipValue(text, at))
    if (text[at] === ',') at = skipBlanks(text, at + 1)
  }
  return children
}

/** The offset behind the value that begins at `start`; `start` itself where no value begins. */
function skipValue(text: string, start: number): number {
  const opener = text[start]
  if (opener === '"') return skipString(text, start)
  if (opener !== '{' && opener !== '[') {
    let end = start
    while (end < text.length && !',:{}[]" \t\n\r'.includes(text.charAt(end))) end++
    return end
  }
  let depth = 0
  for (let at = start; at < text.length; ) {
    const character = text[at]
    if (character === '"') {
      at = skipString(text, at)
      continue
    }
    if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') depth--
    at++
    if (depth === 0) return at
  }
  return text.length
}

function skipString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text[end - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return end + 1
  }
  return text.length
}

function skipBlanks(text: string, start: number): number {
  let at = start
  while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at++
  return at
}
