import { resolvePlainScalar } from './yaml-scalar.ts'

/**
 * Reads the plain part of YAML that nearly every manifest is written in: block mappings and lists with one-line
 * scalars. Undefined for anything else (flow style, comments behind values, anchors, block scalars, equal keys,
 * mistakes), which is for the full reader. Several times faster than the library, and tested to agree with it.
 */
export function readPlainYaml(text: string): Record<string, unknown> | undefined {
  if (/[^\n -~]/.test(text)) return undefined
  const reader = new PlainReader(text)
  const value = reader.readMapping(0)
  return reader.isAtEnd && !reader.isEmpty ? value : undefined
}

/** A line: indent, list marks, then `key:` with or without a value, or a value alone. */
const LINE = /^( *)(- +)?(?:([A-Za-z][\w./-]*):(?: +(\S.*))? *|(\S+) *)$/
const BLANK = /^ *(?:#|$)/
const PLAIN = /^[\w./+](?:[\w./@%+=~^-]|:(?=\S))*$/
const QUOTED = /^(?:"[^"\\]*"|'[^']*')$/

interface Line {
  /** The column of the key or value. */
  column: number
  /** The column of the list mark; -1 where there is none. */
  markColumn: number
  key: string | undefined
  value: string | undefined
}

class PlainReader {
  private readonly lines: readonly string[]
  private next = 0
  /** Undefined at the end and where the text is not plain. */
  private line: Line | undefined
  private isPlain = true

  constructor(text: string) {
    this.lines = text.split('\n')
    this.advance()
  }

  get isEmpty(): boolean {
    return this.lines.every((line) => BLANK.test(line))
  }

  get isAtEnd(): boolean {
    return this.isPlain && this.line === undefined
  }

  /** Keys in `column`, up to the first line that stands further left. */
  readMapping(column: number): Record<string, unknown> | undefined {
    const mapping: Record<string, unknown> = {}
    while (this.line && this.line.markColumn < 0 && this.line.column === column) {
      const { key, value } = this.line
      if (key === undefined || Object.hasOwn(mapping, key)) return this.giveUp()
      this.advance()
      mapping[key] = value === undefined ? this.readNested(column) : this.readScalar(value, column)
    }
    return mapping
  }

  private readList(column: number): unknown[] {
    const list: unknown[] = []
    while (this.line?.markColumn === column) {
      const line = this.line
      if (line.key !== undefined) {
        // The rest of the line is the first key of a mapping in its own column.
        line.markColumn = -1
        list.push(this.readMapping(line.column))
      } else {
        this.advance()
        list.push(this.readScalar(line.value ?? '', column))
      }
    }
    return list
  }

  /** The value below `key:`: further right, or a list in the key's own column. */
  private readNested(column: number): unknown {
    const line = this.line
    if (!line) return null
    if (line.markColumn >= column) return this.readList(line.markColumn)
    if (line.markColumn < 0 && line.column > column) return this.readMapping(line.column)
    return null
  }

  /** A line further right would go on with the scalar. */
  private readScalar(text: string, column: number): unknown {
    const indent = this.line ? (this.line.markColumn < 0 ? this.line.column : this.line.markColumn) : 0
    if (this.line && indent > column) return this.giveUp()
    if (QUOTED.test(text)) return text.slice(1, -1)
    if (text === '[]') return []
    if (text === '{}') return {}
    const value = PLAIN.test(text) ? resolvePlainScalar(text) : undefined
    if (value === undefined || (typeof value === 'number' && !Number.isFinite(value))) return this.giveUp()
    return value
  }

  private advance(): void {
    while (this.next < this.lines.length) {
      const text = this.lines[this.next++] ?? ''
      if (BLANK.test(text)) continue
      const [matched, indent = '', mark = '', key, keyed, alone] = LINE.exec(text) ?? []
      // A key such as `on` is no text.
      if (matched === undefined || (key !== undefined && typeof resolvePlainScalar(key) !== 'string')) {
        this.giveUp()
        return
      }
      this.line = {
        column: indent.length + mark.length,
        markColumn: mark === '' ? -1 : indent.length,
        key,
        value: keyed?.trimEnd() ?? alone,
      }
      return
    }
    this.line = undefined
  }

  private giveUp(): undefined {
    this.isPlain = false
    this.line = undefined
    this.next = this.lines.length
  }
}
