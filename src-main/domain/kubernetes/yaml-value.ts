import { type Alias, isAlias, isMap, isScalar, isSeq, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml'
import type { PathKey } from './field-path.ts'
import type { TextProblem } from './read-text.ts'
import { resolvePlainScalar } from './yaml-scalar.ts'

export type YamlNode = unknown
type YamlMapping = Record<string, unknown>

export interface BuiltYamlValue {
  readonly value: unknown
  readonly problems: readonly TextProblem[]
  /** For each alias the node that carries its anchor. */
  readonly aliasTargets: ReadonlyMap<YamlNode, YamlNode>
}

/** Composed nodes → the value that kubectl sends: merge keys applied, keys as text, scalars resolved. */
export function buildYamlValue(root: YamlNode): BuiltYamlValue {
  const builder = new ValueBuilder()
  const value = builder.build(root)
  return { value, problems: builder.problems, aliasTargets: builder.aliasTargets }
}

/** The node at a path and where a reader looks for it: at a scalar, or at the key of anything larger. */
export function findYamlNode(
  root: YamlNode,
  keys: readonly PathKey[],
  aliasTargets: ReadonlyMap<YamlNode, YamlNode>,
): { node: YamlNode; offset: number; isComplete: boolean } {
  let node = resolveAlias(root, aliasTargets)
  let offset = offsetOf(node) ?? 0
  for (const key of keys) {
    if (isMap(node)) {
      const pair = findPair(node, String(key), aliasTargets, 0)
      if (!pair) return { node, offset, isComplete: false }
      const isWritten = isScalar(pair.value) && pair.value.source !== ''
      offset = (isWritten ? offsetOf(pair.value) : undefined) ?? offsetOf(pair.key) ?? offset
      node = resolveAlias(pair.value, aliasTargets)
    } else if (isSeq(node) && typeof key === 'number' && key < node.items.length) {
      const item = node.items[key]
      offset = offsetOf(item) ?? offset
      node = resolveAlias(item, aliasTargets)
    } else return { node, offset, isComplete: false }
  }
  return { node, offset, isComplete: true }
}

interface Anchored {
  readonly node: YamlNode
  value: unknown
  isFinished: boolean
}

class ValueBuilder {
  readonly problems: TextProblem[] = []
  readonly aliasTargets = new Map<YamlNode, YamlNode>()
  private readonly anchors = new Map<string, Anchored>()

  build(node: YamlNode): unknown {
    if (isAlias(node)) return this.buildAlias(node)
    if (isScalar(node)) return this.anchored(node, () => this.buildScalar(node))
    if (isSeq(node)) return this.anchored(node, () => node.items.map((item) => this.build(item)))
    if (isMap(node)) return this.anchored(node, () => this.buildMapping(node))
    return null
  }

  private anchored(node: Scalar | YAMLSeq | YAMLMap, build: () => unknown): unknown {
    if (!node.anchor) return build()
    const entry: Anchored = { node, value: undefined, isFinished: false }
    this.anchors.set(node.anchor, entry)
    entry.value = build()
    entry.isFinished = true
    return entry.value
  }

  private buildAlias(alias: Alias): unknown {
    const entry = this.anchors.get(alias.source)
    if (!entry) {
      this.error(
        alias,
        `there is no anchor "&${alias.source}" before this alias in the document (anchors end at "---")`,
      )
      return null
    }
    if (!entry.isFinished) {
      this.error(alias, `the value of anchor "&${alias.source}" contains itself`)
      return null
    }
    this.aliasTargets.set(alias, entry.node)
    return entry.value
  }

  private buildScalar(scalar: Scalar): unknown {
    const text = typeof scalar.value === 'string' ? scalar.value : ''
    const tag = scalar.tag?.replace('tag:yaml.org,2002:', '!!')
    const value = tag === undefined ? (scalar.type === 'PLAIN' ? resolvePlainScalar(text) : text) : text
    if (typeof value === 'number' && !Number.isFinite(value)) {
      this.error(scalar, `${text} is a number that JSON cannot hold; put it in quotes if it is a text`)
    }
    return tag === undefined ? value : this.buildTagged(scalar, tag, text)
  }

  private buildTagged(scalar: Scalar, tag: string, text: string): unknown {
    const wanted = { '!!int': 'number', '!!float': 'number', '!!bool': 'boolean' }[tag]
    const value = wanted || tag === '!!null' ? resolvePlainScalar(text) : text
    if (wanted ? typeof value !== wanted : tag === '!!null' && value !== null) {
      this.error(scalar, `"${text}" cannot be read as ${tag}`)
    }
    return value
  }

  private buildMapping(node: YAMLMap): YamlMapping {
    const mapping: YamlMapping = {}
    const written = new Map<string, unknown>()
    for (const { key, value } of node.items) {
      if (isMergeKey(key)) {
        this.merge(mapping, written, value)
        continue
      }
      const name = this.buildKey(key)
      if (name === undefined) continue
      if (written.has(name)) {
        const message = `the key "${name}" stands twice in this mapping; the last one wins`
        this.problems.push({ severity: 'warning', offset: offsetOf(key) ?? 0, message })
      }
      written.set(name, key)
      setField(mapping, name, this.build(value))
    }
    return mapping
  }

  /** kubectl's YAML library lets a merge replace what stands before it, against the YAML specification. */
  private merge(mapping: YamlMapping, written: ReadonlyMap<string, unknown>, node: YamlNode): void {
    const built = this.build(node)
    const sources = Array.isArray(built) ? [...(built as unknown[])].reverse() : [built]
    for (const source of sources) {
      if (!isMapping(source)) {
        this.error(node, 'a merge key "<<" needs a mapping or a list of mappings')
        continue
      }
      for (const [name, value] of Object.entries(source)) {
        if (written.has(name)) {
          const message = `the merge key "<<" replaces "${name}", which stands before it; put "<<" first`
          this.problems.push({ severity: 'warning', offset: offsetOf(node) ?? 0, message })
        }
        setField(mapping, name, value)
      }
    }
  }

  private buildKey(node: YamlNode): string | undefined {
    const value = isAlias(node) || isScalar(node) ? this.build(node) : undefined
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      return String(value)
    }
    this.error(node, 'a key must be a text, a number or a boolean')
    return undefined
  }

  private error(node: YamlNode, message: string): void {
    this.problems.push({ severity: 'error', offset: offsetOf(node) ?? 0, message })
  }
}

/** The last pair with the key, else the one that a merge key brings in. */
function findPair(
  map: YAMLMap,
  key: string,
  targets: ReadonlyMap<YamlNode, YamlNode>,
  depth: number,
): { key: unknown; value: unknown } | undefined {
  const own = map.items.findLast((pair) => keyText(resolveAlias(pair.key, targets)) === key)
  if (own || depth > MERGE_DEPTH) return own
  for (const pair of map.items) {
    if (!isMergeKey(pair.key)) continue
    const value = resolveAlias(pair.value, targets)
    for (const source of isSeq(value) ? value.items : [value]) {
      const node = resolveAlias(source, targets)
      const found = isMap(node) ? findPair(node, key, targets, depth + 1) : undefined
      if (found) return found
    }
  }
  return undefined
}

const MERGE_DEPTH = 20

function keyText(node: YamlNode): string | undefined {
  if (!isScalar(node) || typeof node.value !== 'string') return undefined
  return node.type === 'PLAIN' && !node.tag ? String(resolvePlainScalar(node.value)) : node.value
}

function isMergeKey(node: YamlNode): boolean {
  return isScalar(node) && node.value === '<<' && node.type === 'PLAIN'
}

function resolveAlias(node: YamlNode, targets: ReadonlyMap<YamlNode, YamlNode>): YamlNode {
  return isAlias(node) ? targets.get(node) : node
}

function offsetOf(node: YamlNode): number | undefined {
  return isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range?.[0] : undefined
}

function isMapping(value: unknown): value is YamlMapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Assigning to `__proto__` would not make a field. */
function setField(mapping: YamlMapping, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(mapping, name, { value, enumerable: true, configurable: true, writable: true })
  } else mapping[name] = value
}
