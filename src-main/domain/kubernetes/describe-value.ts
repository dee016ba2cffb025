/** The type of a value and, for a scalar, the value itself; `source` is how it is written, where that is known. */
export function describeValue(value: unknown, source?: string): string {
  switch (typeof value) {
    case 'string':
      return value === '' ? 'an empty string' : `the string ${JSON.stringify(value)}`
    case 'number':
      return `the number ${source ?? value}`
    case 'boolean':
      return `the boolean ${value}${source === undefined || source === String(value) ? '' : ` (written ${source})`}`
    default:
      if (value === null || value === undefined) return 'nothing'
      return Array.isArray(value) ? 'a list' : 'a mapping'
  }
}
