import { describeValue } from './describe-value.ts'
import type { FieldPath } from './field-path.ts'
import type { ObjectReport } from './object-report.ts'
import type { Labels } from './objects.ts'
import { suggestWord } from './suggest-word.ts'

/**
 * The fields of one mapping in a manifest, read with the types that the API's Go structs give them. A missing
 * or null field is undefined (or empty); a field of the wrong type is reported and then counts as missing.
 */
export class Fields {
  readonly path: FieldPath
  readonly report: ObjectReport
  private readonly parent: Fields | undefined
  private readonly values: Readonly<Record<string, unknown>>
  private typeErrors = 0

  /** `value` must be a mapping; anything else but null is reported. */
  constructor(value: unknown, path: FieldPath, report: ObjectReport, parent?: Fields) {
    this.path = path
    this.report = report
    this.parent = parent
    this.values = this.expect(isMapping, 'a mapping', value, path) ?? {}
  }

  /** How many wrong types were met so far in these fields and below; what depends on them is not judged. */
  get typeErrorCount(): number {
    return this.typeErrors
  }

  get isSound(): boolean {
    return this.typeErrors === 0
  }

  /** Whether the field is given at all; null counts as missing, as in Go. */
  has(name: string): boolean {
    return this.value(name) !== undefined
  }

  string(name: string): string | undefined {
    return this.expect(isString, 'a string', this.value(name), this.path.child(name))
  }

  boolean(name: string): boolean | undefined {
    return this.expect(isBoolean, 'true or false', this.value(name), this.path.child(name))
  }

  /** A whole number of 32 bits. */
  integer(name: string): number | undefined {
    const path = this.path.child(name)
    const value = this.expect(isInteger, 'an integer', this.value(name), path)
    if (value === undefined || value === (value | 0)) return value
    this.typeError(path, `must be between -2147483648 and 2147483647, found ${value}`)
    return undefined
  }

  integerOrString(name: string): number | string | undefined {
    if (typeof this.value(name) === 'string') return this.string(name)
    const path = this.path.child(name)
    const value = this.expect(isInteger, 'an integer or a string', this.value(name), path)
    return value === undefined ? undefined : this.integer(name)
  }

  strings(name: string): string[] {
    return this.items(name).map((value, index) => {
      return this.expect(isString, 'a string', value, this.path.child(name, index)) ?? ''
    })
  }

  /** A mapping of strings to strings: labels, annotations, a Service's selector. */
  labels(name: string, advice = ''): Labels {
    const path = this.path.child(name)
    const given = this.expect(isMapping, 'a mapping of strings', this.value(name), path) ?? {}
    const entries = Object.entries(given).map(([key, value]): [string, string] => {
      return [key, this.expect(isString, 'a string', value, path.child(key), advice) ?? '']
    })
    return Object.fromEntries(entries)
  }

  /** The fields of a nested mapping; without fields when it is missing. */
  fields(name: string): Fields {
    return new Fields(this.value(name), this.path.child(name), this.report, this)
  }

  list(name: string): Fields[] {
    return this.items(name).map((value, index) => {
      return new Fields(value, this.path.child(name, index), this.report, this)
    })
  }

  /** Reports fields that the API does not have, as kubectl's strict decoding does. */
  allowOnly(known: ReadonlySet<string>): void {
    for (const name of Object.keys(this.values)) {
      if (known.has(name)) continue
      const path = this.path.child(name)
      const suggestion = suggestWord(name, known)
      const advice = suggestion === undefined ? '' : `; did you mean "${suggestion}"?`
      this.report.error(path, `unknown field "${path}"${advice}`)
    }
  }

  private typeError(path: FieldPath, message: string): void {
    this.report.error(path, message)
    for (let fields: Fields | undefined = this; fields; fields = fields.parent) fields.typeErrors++
  }

  private value(name: string): unknown {
    return Object.hasOwn(this.values, name) ? (this.values[name] ?? undefined) : undefined
  }

  private items(name: string): readonly unknown[] {
    return this.expect(isList, 'a list', this.value(name), this.path.child(name)) ?? []
  }

  private expect<T>(
    isExpected: (value: unknown) => value is T,
    wanted: string,
    value: unknown,
    path: FieldPath,
    advice = '',
  ): T | undefined {
    if (value === undefined || value === null || isExpected(value)) return value ?? undefined
    const source = this.report.sourceOf(path)
    const found = describeValue(value, source)
    const remedy = advice !== '' && typeof value === 'object' ? advice : adviseOnType(wanted, value, source)
    this.typeError(path, `must be ${wanted}, found ${found}${remedy}`)
    return undefined
  }
}

function adviseOnType(wanted: string, value: unknown, source: string | undefined): string {
  if (typeof value === 'string') {
    const isWanted = wanted.startsWith('an integer')
      ? /^[-+]?\d+$/.test(value)
      : wanted === 'true or false' && /^(true|false)$/.test(value)
    return isWanted ? '; remove the quotes' : ''
  }
  if (wanted !== 'a string' || typeof value === 'object') return ''
  return `; put it in quotes: "${source ?? String(value)}"`
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value)
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean'
}

function isInteger(value: unknown): value is number {
  return Number.isInteger(value)
}
