import { Composer, type Document, isAlias, isMap, isScalar, isSeq, type ParsedNode, Parser } from 'yaml'
import type { PathKey } from './field-path.ts'
import type { ReadText, TextProblem } from './read-text.ts'
import { buildYamlValue, findYamlNode, type YamlNode } from './yaml-value.ts'

/** One YAML document, without its `---`. Never throws; a document with errors has no value. */
export function readYaml(text: string): ReadText {
  const problems: TextProblem[] = []
  let root: YamlNode = null
  let value: unknown
  let targets: ReadonlyMap<YamlNode, YamlNode> = new Map()
  try {
    const [first, ...others] = composeDocuments(text)
    if (first) {
      problems.push(...listSyntaxErrors(first))
      root = first.contents
    }
    if (problems.length === 0) {
      const built = buildYamlValue(root)
      problems.push(...built.problems)
      value = built.value
      targets = built.aliasTargets
    }
    const rest = others.find(({ contents }) => contents !== null && !isEmptyScalar(contents))
    if (rest) {
      const message = 'what follows a line of "..." is not read; separate documents with "---"'
      problems.push({ severity: 'warning', offset: startOf(rest.contents), message })
    }
  } catch (error) {
    // The library recurses; a text of thousands of brackets runs it out of stack.
    if (!(error instanceof RangeError)) throw error
    problems.push({ severity: 'error', offset: 0, message: 'the values are nested too deeply to be read' })
  }
  const isBroken = problems.some(({ severity }) => severity === 'error')
  return {
    value: isBroken ? undefined : value,
    problems,
    offsetOf: (keys) => findYamlNode(root, keys, targets).offset,
    sourceOf: (keys) => writtenScalar(text, root, keys, targets),
  }
}

function composeDocuments(text: string): Document.Parsed<ParsedNode>[] {
  // The failsafe schema leaves every scalar as text: kubectl's reading of them is not the library's.
  const composer = new Composer({
    schema: 'failsafe',
    version: '1.1',
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  })
  return [...composer.compose(new Parser().parse(text))] as Document.Parsed<ParsedNode>[]
}

/** Every tab in an indent, and otherwise the first error only: the others mostly follow from it. */
function listSyntaxErrors(document: Document.Parsed<ParsedNode>): TextProblem[] {
  const tabs = document.errors.filter(({ code }) => code === 'TAB_AS_INDENT')
  const errors = tabs.length > 0 ? tabs : document.errors.slice(0, 1)
  return errors.map(({ code, message, pos }) => ({
    severity: 'error',
    offset: pos[0],
    message:
      code === 'TAB_AS_INDENT'
        ? 'a tab is used to indent; YAML allows only spaces there'
        : `this is not valid YAML: ${lowerFirst(message)}`,
  }))
}

function writtenScalar(
  text: string,
  root: YamlNode,
  keys: readonly PathKey[],
  targets: ReadonlyMap<YamlNode, YamlNode>,
): string | undefined {
  const { node, isComplete } = findYamlNode(root, keys, targets)
  if (!isComplete || !isScalar(node) || !node.range) return undefined
  return text.slice(node.range[0], node.range[1])
}

function isEmptyScalar(node: YamlNode): boolean {
  return isScalar(node) && node.source === '' && node.type === 'PLAIN'
}

function startOf(node: YamlNode): number {
  return (isMap(node) || isSeq(node) || isScalar(node) || isAlias(node)) && node.range ? node.range[0] : 0
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
