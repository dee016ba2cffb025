/**
 * The wording of the API server's validation errors (apimachinery's field package), so that what a learner
 * reads here can be searched for.
 */

/** `Invalid value: "x": what is wrong`. */
export function invalidValue(value: unknown, detail: string): string {
  return `Invalid value: ${formatValue(value)}: ${detail}`
}

/** `Required value`, with a detail where the field's name does not say it all. */
export function requiredValue(detail = ''): string {
  return detail === '' ? 'Required value' : `Required value: ${detail}`
}

export function duplicateValue(value: unknown, detail = ''): string {
  return `Duplicate value: ${formatValue(value)}${detail === '' ? '' : `: ${detail}`}`
}

export function forbidden(detail: string): string {
  return `Forbidden: ${detail}`
}

/** `Unsupported value: "x": supported values: "A", "B"`. */
export function unsupportedValue(value: unknown, supported: readonly string[]): string {
  return `Unsupported value: ${formatValue(value)}: supported values: ${supported.map((one) => `"${one}"`).join(', ')}`
}

export function tooMany(count: number, limit: number): string {
  return `Too many: ${count}: must have at most ${limit} items`
}

function formatValue(value: unknown): string {
  return JSON.stringify(value) ?? 'null'
}
