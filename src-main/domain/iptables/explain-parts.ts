export type PartKind =
  | 'text'
  /** The name of a chain of the same table: the window links it. */
  | 'chain'
  | 'address'
  | 'port'
  | 'mark'
  | 'probability'
  /** An interface, list, set, user or another name that somebody gave. */
  | 'name'
  /** Words of the rule that stand as they are because their meaning is not known here. */
  | 'unknown'

/** A piece of a sentence; the pieces' texts follow each other without anything between. */
export interface ExplanationPart {
  readonly kind: PartKind
  readonly text: string
  /** What the rule itself says, where the text says it in another way (`--seconds 10800` for `3 hours`). */
  readonly written?: string
}

export interface Explanation {
  readonly parts: readonly ExplanationPart[]
  /** The rule's comments: they are somebody's words about the rule and not part of what it does. */
  readonly comments: readonly string[]
}

/** Words that are not known stand in backquotes. */
export function formatExplanation(parts: readonly ExplanationPart[]): string {
  return parts.map(({ kind, text }) => (kind === 'unknown' ? `\`${text}\`` : text)).join('')
}

type Piece = string | ExplanationPart | readonly ExplanationPart[]

/** Parts from a template: what is put in keeps its kind, everything else is text. */
export function words(strings: TemplateStringsArray, ...values: readonly Piece[]): ExplanationPart[] {
  return joined(strings.flatMap((text, at) => [text, values[at] ?? '']))
}

/** One after the other; plain texts that meet become one. */
export function joined(pieces: readonly Piece[]): ExplanationPart[] {
  const parts: ExplanationPart[] = []
  for (const piece of pieces) {
    const list = typeof piece === 'string' ? [part('text', piece)] : 'kind' in piece ? [piece] : piece
    for (const next of list) {
      const last = parts.at(-1)
      if (next.text === '' && next.written === undefined) continue
      if (last && isPlain(last) && isPlain(next))
        parts[parts.length - 1] = part('text', last.text + next.text)
      else parts.push(next)
    }
  }
  return parts
}

/** `a, b and c`. */
export function series(items: readonly Piece[], conjunction: 'and' | 'or'): ExplanationPart[] {
  return joined(
    items.flatMap((item, at) => {
      if (at === 0) return [item]
      return [at === items.length - 1 ? ` ${conjunction} ` : ', ', item]
    }),
  )
}

export function part(kind: PartKind, text: string, written?: string): ExplanationPart {
  return written === undefined || written === text ? { kind, text } : { kind, text, written }
}

export function capitalised(parts: readonly ExplanationPart[]): ExplanationPart[] {
  const [first, ...rest] = parts
  if (first?.kind !== 'text') return [...parts]
  return [{ ...first, text: first.text.charAt(0).toUpperCase() + first.text.slice(1) }, ...rest]
}

function isPlain({ kind, written }: ExplanationPart): boolean {
  return kind === 'text' && written === undefined
}
