import { decodeNamespace, decodeNode } from './decode-cluster.ts'
import { decodeEndpointSlice, decodeEndpoints } from './decode-endpoints.ts'
import { Fields } from './decode-fields.ts'
import { decodeService } from './decode-service.ts'
import { decodeDeployment, decodePod, decodeReplicaSet } from './decode-workload.ts'
import { describeValue } from './describe-value.ts'
import { FieldPath, type PathKey } from './field-path.ts'
import { ObjectReport } from './object-report.ts'
import type { Kind, KubernetesObject } from './objects.ts'
import type { Problem } from './problem.ts'
import { type ManifestDocument, readDocuments, TEMPLATE_MESSAGE } from './read-documents.ts'

/** Where an object was written; the line is that of its first field. */
export interface ManifestSource {
  readonly file: string
  readonly line: number
}

export interface ParsedManifest {
  /** The objects without errors, defaults filled in, in the order of the file. */
  readonly objects: readonly KubernetesObject[]
  /** For each object, at the same index, where it was written. */
  readonly sources: readonly ManifestSource[]
  /** In the order of lines. A file with errors should not be applied at all. */
  readonly problems: readonly Problem[]
}

interface KnownKind {
  readonly apiVersion: string
  readonly decode: (object: Fields) => KubernetesObject
}

const knownKinds: Readonly<Record<Kind, KnownKind>> = {
  Deployment: { apiVersion: 'apps/v1', decode: decodeDeployment },
  ReplicaSet: { apiVersion: 'apps/v1', decode: decodeReplicaSet },
  Pod: { apiVersion: 'v1', decode: decodePod },
  Service: { apiVersion: 'v1', decode: decodeService },
  EndpointSlice: { apiVersion: 'discovery.k8s.io/v1', decode: decodeEndpointSlice },
  Endpoints: { apiVersion: 'v1', decode: decodeEndpoints },
  Node: { apiVersion: 'v1', decode: decodeNode },
  Namespace: { apiVersion: 'v1', decode: decodeNamespace },
}

const clusterScoped: ReadonlySet<string> = new Set(['Node', 'Namespace'])

/**
 * One file of YAML or JSON manifests → objects as the API server would store them, and everything that is
 * wrong with them. Never throws. `file` is the name for problems; "-" is standard input.
 */
export function parseManifests(file: string, text: string): ParsedManifest {
  const parser = new ManifestParser(file)
  for (const document of readDocuments(text)) parser.parseDocument(document)
  return parser.finish()
}

type Mapping = Readonly<Record<string, unknown>>

class ManifestParser {
  private readonly file: string
  private readonly objects: KubernetesObject[] = []
  private readonly sources: ManifestSource[] = []
  private readonly problems: Problem[] = []
  private readonly linesByName = new Map<string, number>()

  constructor(file: string) {
    this.file = file
  }

  finish(): ParsedManifest {
    const problems = this.problems.toSorted((one, other) => one.line - other.line)
    return { objects: this.objects, sources: this.sources, problems }
  }

  parseDocument(document: ManifestDocument): void {
    const { kind, name } = isMapping(document.value) ? nameObject(document.value) : { kind: '', name: '' }
    for (const problem of document.problems) {
      this.problems.push({ ...problem, file: this.file, kind, name, path: '' })
    }
    if (document.value === undefined || document.value === null) return
    const problemsBefore = this.problems.length
    this.parseObject(document, [], document.value)
    const template = this.problems
      .slice(problemsBefore)
      .find(({ severity, line }) => severity === 'error' && document.isTemplateLine(line))
    if (template) this.problems.push({ ...template, path: '', message: TEMPLATE_MESSAGE })
  }

  private parseObject(document: ManifestDocument, keys: readonly PathKey[], value: unknown): void {
    if (!isMapping(value)) {
      const message = `an object must be a mapping with apiVersion, kind and metadata, found ${describeValue(value)}`
      this.add(document, keys, 'error', '', message)
      return
    }
    const kind = this.readTypeField(document, keys, value, 'kind')
    const apiVersion = this.readTypeField(document, keys, value, 'apiVersion')
    if (kind === undefined || apiVersion === undefined) return
    if (kind.endsWith('List')) {
      this.parseList(document, keys, value, kind, apiVersion)
      return
    }
    const known = isKnown(kind) ? knownKinds[kind] : undefined
    if (known?.apiVersion === apiVersion) this.decode(document, keys, value, known)
    else {
      const advice = known ? `; ${kind} is read with "apiVersion: ${known.apiVersion}"` : ''
      const message = `${apiVersion} ${kind} is not something this lab runs; skipped${advice}`
      this.add(document, keys, 'warning', '', message)
    }
  }

  private parseList(
    document: ManifestDocument,
    keys: readonly PathKey[],
    list: Mapping,
    kind: string,
    apiVersion: string,
  ): void {
    const items = ownField(list, 'items') ?? []
    if (!Array.isArray(items) || keys.length >= MAX_LIST_DEPTH) {
      const message = Array.isArray(items) ? 'lists are nested too deeply' : 'must be a list of objects'
      this.add(document, [...keys, 'items'], 'error', 'items', message)
      return
    }
    // A ServiceList may leave out what its own kind tells about the items.
    const itemKind = kind.slice(0, -'List'.length)
    ;(items as unknown[]).forEach((item, index) => {
      const isTyped = itemKind !== '' && isMapping(item)
      const value = isTyped
        ? { ...item, kind: item['kind'] || itemKind, apiVersion: item['apiVersion'] || apiVersion }
        : item
      this.parseObject(document, [...keys, 'items', index], value)
    })
  }

  private decode(
    document: ManifestDocument,
    keys: readonly PathKey[],
    value: Mapping,
    known: KnownKind,
  ): void {
    const { kind, name } = nameObject(value)
    const report = new ObjectReport({ file: this.file, document, keys, kind, name })
    const object = known.decode(new Fields(value, FieldPath.root, report))
    const line = document.lineOf(keys)
    this.checkUnique(object, report, line)
    for (const problem of report.problems) this.problems.push(problem)
    if (report.hasErrors) return
    this.objects.push(object)
    this.sources.push({ file: this.file, line })
  }

  private checkUnique({ kind, metadata }: KubernetesObject, report: ObjectReport, line: number): void {
    if (metadata.name === '') return
    const key = `${kind} ${metadata.namespace}/${metadata.name}`
    const earlier = this.linesByName.get(key)
    if (earlier === undefined) this.linesByName.set(key, line)
    else {
      const message = `Duplicate value: "${metadata.name}": the same ${kind} is already on line ${earlier}`
      report.error(FieldPath.root.child('metadata', 'name'), message)
    }
  }

  private readTypeField(
    document: ManifestDocument,
    keys: readonly PathKey[],
    value: Mapping,
    field: 'kind' | 'apiVersion',
  ): string | undefined {
    const given = ownField(value, field)
    if (typeof given === 'string' && given !== '') return given
    const name = field === 'kind' ? 'Kind' : field
    const isMissing = given === undefined || given === null || given === ''
    const message = isMissing
      ? `Object '${name}' is missing${adviseOnMissing(value, field)}`
      : `must be a string, found ${describeValue(given)}`
    this.add(document, [...keys, field], 'error', field, message)
    return undefined
  }

  private add(
    document: ManifestDocument,
    keys: readonly PathKey[],
    severity: Problem['severity'],
    path: string,
    message: string,
    line = document.lineOf(keys),
  ): void {
    const { kind, name } = nameObject(valueAt(document.value, path === '' ? keys : keys.slice(0, -1)))
    this.problems.push({ severity, file: this.file, line, kind, name, path, message })
  }
}

/** `items` and an index for each level. */
const MAX_LIST_DEPTH = 16

function adviseOnMissing(value: Mapping, field: 'kind' | 'apiVersion'): string {
  if (field === 'apiVersion') {
    const kind = ownField(value, 'kind')
    return typeof kind === 'string' && isKnown(kind)
      ? `; add "apiVersion: ${knownKinds[kind].apiVersion}"`
      : ''
  }
  const isReleaseNotes = 'MANIFEST' in value || 'LAST DEPLOYED' in value
  return isReleaseNotes ? '; this is the head of a Helm release, use the output of "helm template" alone' : ''
}

/** The kind and name for problems, from an object of which nothing is checked yet. */
function nameObject(value: unknown): { kind: string; name: string } {
  if (!isMapping(value)) return { kind: '', name: '' }
  const given = ownField(value, 'kind')
  const kind = typeof given === 'string' ? given : ''
  const metadata = ownField(value, 'metadata')
  const name = isMapping(metadata) ? ownField(metadata, 'name') : undefined
  if (!isMapping(metadata) || typeof name !== 'string') return { kind, name: '' }
  const namespace = ownField(metadata, 'namespace')
  const isPlain =
    typeof namespace !== 'string' || ['', 'default'].includes(namespace) || clusterScoped.has(kind)
  return { kind, name: isPlain ? name : `${namespace}/${name}` }
}

function valueAt(root: unknown, keys: readonly PathKey[]): unknown {
  let value = root
  for (const key of keys) {
    if (Array.isArray(value) && typeof key === 'number') value = (value as unknown[])[key]
    else value = isMapping(value) ? ownField(value, String(key)) : undefined
  }
  return value
}

function ownField(value: Mapping, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isKnown(kind: string): kind is Kind {
  return Object.hasOwn(knownKinds, kind)
}
