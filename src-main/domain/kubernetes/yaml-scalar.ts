/**
 * A plain (unquoted, untagged) YAML scalar as kubectl's YAML library reads it. That library is close to YAML
 * 1.1, but not equal to it: no base 60 numbers, timestamps stay text, 08080 is decimal because it is not octal.
 */
export function resolvePlainScalar(source: string): string | number | boolean | null {
  const first = source.charCodeAt(0)
  const isDigit = first >= 0x30 && first <= 0x39
  if (!isDigit && first !== PLUS && first !== MINUS) {
    const word = words.get(source)
    if (word !== undefined) return word
    return first === DOT && /^\.\d+([eE][-+]?\d+)?$/.test(source) ? Number(source) : source
  }
  const word = words.get(source)
  if (word !== undefined) return word
  return parseNumber(source.replaceAll('_', '')) ?? source
}

const PLUS = 0x2b
const MINUS = 0x2d
const DOT = 0x2e

const words: ReadonlyMap<string, number | boolean | null> = new Map<string, number | boolean | null>([
  ...cased('y', 'yes', 'true', 'on').map((word) => [word, true] as const),
  ...cased('n', 'no', 'false', 'off').map((word) => [word, false] as const),
  ...['', '~', ...cased('null')].map((word) => [word, null] as const),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, Number.NaN] as const),
  ...cased('.inf', '+.inf').map((word) => [word, Number.POSITIVE_INFINITY] as const),
  ...cased('-.inf').map((word) => [word, Number.NEGATIVE_INFINITY] as const),
  ...['.Inf', '+.Inf'].map((word) => [word, Number.POSITIVE_INFINITY] as const),
  ['-.Inf', Number.NEGATIVE_INFINITY] as const,
])

/** Each word in lower case, capitalised and in upper case. */
function cased(...all: readonly string[]): string[] {
  return all.flatMap((word) => [word, word.charAt(0).toUpperCase() + word.slice(1), word.toUpperCase()])
}

function parseNumber(text: string): number | undefined {
  const [, sign = '', digits = ''] = /^([-+]?)(.*)$/s.exec(text) ?? []
  const factor = sign === '-' ? -1 : 1
  if (digits === '0') return 0
  if (/^[1-9]\d*$/.test(digits)) return factor * Number(digits)
  if (/^0[xX][0-9a-fA-F]+$|^0[bB][01]+$|^0[oO][0-7]+$/.test(digits)) return factor * Number(digits)
  if (/^0[0-7]+$/.test(digits)) return factor * Number.parseInt(digits, 8)
  if (/^(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/.test(digits)) return factor * Number(digits)
  return undefined
}
