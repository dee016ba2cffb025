import type { PathKey } from './field-path.ts'
import { readJson } from './read-json.ts'
import { readPlainYaml } from './read-plain-yaml.ts'
import type { ReadText, TextProblem } from './read-text.ts'
import { readYaml } from './read-yaml.ts'
import { TextLines } from './text-lines.ts'

/** One document of a manifest file. */
export interface ManifestDocument {
  /** Undefined when the document cannot be read, null when it is empty. */
  readonly value: unknown
  readonly problems: readonly DocumentProblem[]
  /** The line of a field, from 1; of its nearest parent where the field is missing. */
  lineOf(keys: readonly PathKey[]): number
  /** A scalar as it is written. */
  sourceOf(keys: readonly PathKey[]): string | undefined
  /** Whether the line holds an action of a Go template, as Helm charts do. */
  isTemplateLine(line: number): boolean
}

export interface DocumentProblem {
  readonly severity: 'error' | 'warning'
  readonly line: number
  readonly message: string
}

export const TEMPLATE_MESSAGE =
  'this is a template, not a manifest; run "helm template" first and use its output'

/**
 * The documents of a file as kubectl splits them: JSON values after each other when the text begins with `{`,
 * else YAML documents separated by lines that begin with `---`. CRLF, CR and a byte order mark are accepted.
 */
export function* readDocuments(text: string): Generator<ManifestDocument> {
  const lines = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
  if (/^\s*\{/.test(lines)) {
    const values = readJson(lines)
    if (values) {
      const index = new TextLines(lines)
      for (const value of values) yield buildDocument(value, index)
      return
    }
  }
  for (const chunk of splitYaml(lines)) {
    const index = new TextLines(chunk.text, chunk.firstLine)
    yield buildDocument(checkTemplate(readChunk(chunk.text), chunk.text), index, chunk.problem)
  }
}

function buildDocument(
  read: ReadText,
  index: TextLines,
  separatorProblem?: DocumentProblem,
): ManifestDocument {
  const problems = read.problems.map(({ severity, offset, message }) => ({
    severity,
    line: index.lineAt(offset),
    message,
  }))
  return {
    value: read.value,
    problems: separatorProblem ? [separatorProblem, ...problems] : problems,
    lineOf: (keys) => index.lineAt(read.offsetOf(keys)),
    sourceOf: read.sourceOf,
    isTemplateLine: (line) => findTemplateAction(index.textOf(line)) !== undefined,
  }
}

interface Chunk {
  readonly text: string
  readonly firstLine: number
  /** What is wrong with the separator before the text. */
  readonly problem?: DocumentProblem
}

function* splitYaml(text: string): Generator<Chunk> {
  let firstLine = 1
  let start = 0
  let problem: DocumentProblem | undefined
  while (start <= text.length) {
    const end = findSeparator(text, start)
    const chunk = text.slice(start, end ?? text.length)
    yield { text: chunk, firstLine, ...(problem && { problem }) }
    if (end === undefined) return
    firstLine += countLines(chunk)
    const lineEnd = text.indexOf('\n', end)
    const tail = text.slice(end + 3, lineEnd < 0 ? text.length : lineEnd).trim()
    const isGlued = tail !== '' && !tail.startsWith('#')
    problem = isGlued
      ? {
          severity: 'error',
          line: firstLine,
          message: `invalid Yaml document separator: ${tail}; write "---" on a line of its own`,
        }
      : undefined
    // Behind a glued separator the document is still looked at, so that its own problems show too.
    if (isGlued && !/^-+$/.test(tail)) start = end + 3
    else if (lineEnd < 0) start = text.length
    else {
      start = lineEnd + 1
      firstLine++
    }
    if (lineEnd < 0 && !isGlued) return
  }
}

/** The next line that begins with `---`, from the beginning of a line on. */
function findSeparator(text: string, start: number): number | undefined {
  const isLineStart = start === 0 || text[start - 1] === '\n'
  if (isLineStart && text.startsWith('---', start)) return start
  const found = text.indexOf('\n---', start)
  return found < 0 ? undefined : found + 1
}

function countLines(text: string): number {
  let count = 0
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) count++
  return count
}

function readChunk(text: string): ReadText {
  const plain = readPlainYaml(text)
  if (plain) return locateLazily(plain, text)
  const control = text.search(/(?![\t\n\u0085])\p{Cc}/u)
  if (control < 0) return readYaml(text)
  const message = 'control characters are not allowed in YAML; write them as escapes inside double quotes'
  const problem: TextProblem = { severity: 'error', offset: control, message }
  return { value: undefined, problems: [problem], offsetOf: () => 0, sourceOf: () => undefined }
}

/** Only the library knows places; it reads the text again when one is asked for, but for the first key's. */
function locateLazily(value: unknown, text: string): ReadText {
  let located: ReadText | undefined
  const locate = () => {
    located ??= readYaml(text)
    return located
  }
  return {
    value,
    problems: [],
    offsetOf: (keys) => (keys.length === 0 ? text.search(/^[A-Za-z]/m) : locate().offsetOf(keys)),
    sourceOf: (keys) => locate().sourceOf(keys),
  }
}

/** A template makes YAML errors that say nothing about the cause; it is named instead. */
function checkTemplate(read: ReadText, text: string): ReadText {
  if (!read.problems.some(({ severity }) => severity === 'error')) return read
  const offset = findTemplateAction(text)
  if (offset === undefined) return read
  return { ...read, problems: [{ severity: 'error', offset, message: TEMPLATE_MESSAGE }] }
}

function findTemplateAction(text: string): number | undefined {
  const action = /\{\{-?\s*[.$/"`(\w]/g
  for (let match = action.exec(text); match; match = action.exec(text)) {
    const lineStart = text.lastIndexOf('\n', match.index) + 1
    if (!/^\s*#/.test(text.slice(lineStart, match.index))) return match.index
    const lineEnd = text.indexOf('\n', match.index)
    if (lineEnd < 0) return undefined
    action.lastIndex = lineEnd
  }
  return undefined
}
