import type { Cluster, ClusterConfig, Namespaced, ObjectOf, Source } from './cluster-objects.ts'
import { displayName, type ObjectKey, type ObjectRef, objectKey } from './object-names.ts'
import type { Kind, KubernetesObject, OwnerReference } from './objects.ts'
import type { Problem } from './problem.ts'

/** An object that this draft wrote or removed, with what it was in the cluster that the draft began from. */
export interface Touched extends ObjectRef {
  readonly before: KubernetesObject | undefined
}

type ByName = Map<string, KubernetesObject>
type ByOwner = Map<string, ByName>

const questionsWithoutIndex = 4

/**
 * The next cluster while it is being worked out: reads fall through to the cluster that it began from, and a
 * map is copied when it is first written to. One use: begin, write, finish.
 */
export class ClusterDraft {
  readonly config: ClusterConfig
  readonly problems: Problem[] = []
  readonly #before: Cluster
  readonly #namespaces = new Map<Kind, Map<string, ByName>>()
  readonly #ownMaps = new Set<ByName>()
  readonly #touched = new Map<ObjectKey, Touched>()
  readonly #owned = new Map<string, ByOwner>()
  readonly #ownerQuestions = new Map<string, number>()
  readonly #sources: Map<ObjectKey, Source | undefined> = new Map()
  readonly #lastPodOffsets = new Map<string, number>()
  readonly #podSerials = new Map<ObjectKey, number>()

  constructor(before: Cluster) {
    this.#before = before
    this.config = before.config
  }

  get<K extends Kind>(kind: K, namespace: string, name: string): ObjectOf<K> | undefined {
    return this.map(kind, namespace).get(name)
  }

  /** One namespace's objects of a kind as they are now; do not keep it across a write. */
  map<K extends Kind>(kind: K, namespace: string): ReadonlyMap<string, ObjectOf<K>> {
    return this.maps(kind).get(namespace) ?? new Map<string, ObjectOf<K>>()
  }

  maps<K extends Kind>(kind: K): Namespaced<ObjectOf<K>> {
    return (this.#namespaces.get(kind) ?? this.#before.objects[kind]) as unknown as Namespaced<ObjectOf<K>>
  }

  *all<K extends Kind>(kind: K): IterableIterator<ObjectOf<K>> {
    for (const objects of this.maps(kind).values()) yield* objects.values()
  }

  /** The objects of a kind whose owner reference names this owner, in the order in which they were made. */
  ownedBy<K extends Kind>(kind: K, namespace: string, owner: OwnerReference): ObjectOf<K>[] {
    const index = this.#ownerIndex(kind, namespace)
    if (index) return [...(index.get(ownerKey(owner))?.values() ?? [])] as ObjectOf<K>[]
    return [...this.map(kind, namespace).values()].filter(({ metadata }) =>
      metadata.ownerReferences?.some((each) => each.kind === owner.kind && each.name === owner.name),
    )
  }

  put(object: KubernetesObject): void {
    const { kind, metadata } = object
    const before = this.get(kind, metadata.namespace, metadata.name)
    if (before === object) return
    this.#touch({ kind, namespace: metadata.namespace, name: metadata.name }, before)
    this.#writable(kind, metadata.namespace).set(metadata.name, object)
    const index = this.#owned.get(`${kind}/${metadata.namespace}`)
    if (index) {
      if (before) dropOwned(index, before)
      addOwned(index, object)
    }
  }

  remove({ kind, namespace, name }: ObjectRef): void {
    const before = this.get(kind, namespace, name)
    if (!before) return
    this.#touch({ kind, namespace, name }, before)
    this.#writable(kind, namespace).delete(name)
    const index = this.#owned.get(`${kind}/${namespace}`)
    if (index) dropOwned(index, before)
    this.#sources.set(objectKey(kind, namespace, name), undefined)
  }

  /** Whatever was written or removed so far, in order; `before` is undefined for what is new. */
  touched<K extends Kind>(kind: K): (Touched & { before: ObjectOf<K> | undefined })[] {
    return [...this.#touched.values()].filter((each) => each.kind === kind) as (Touched & {
      before: ObjectOf<K> | undefined
    })[]
  }

  source(ref: ObjectRef): Source | undefined {
    const key = objectKey(ref.kind, ref.namespace, ref.name)
    return this.#sources.has(key) ? this.#sources.get(key) : this.#before.sources.get(key)
  }

  setSource(ref: ObjectRef, source: Source): void {
    this.#sources.set(objectKey(ref.kind, ref.namespace, ref.name), source)
  }

  lastPodOffset(cidr: string): number {
    return this.#lastPodOffsets.get(cidr) ?? this.#before.lastPodOffsets.get(cidr) ?? 0
  }

  setLastPodOffset(cidr: string, offset: number): void {
    this.#lastPodOffsets.set(cidr, offset)
  }

  /** Counts one more pod of a ReplicaSet, from 1. */
  nextPodSerial(replicaSet: ObjectKey): number {
    const serial = (this.#podSerials.get(replicaSet) ?? this.#before.podSerials.get(replicaSet) ?? 0) + 1
    this.#podSerials.set(replicaSet, serial)
    return serial
  }

  report(severity: Problem['severity'], ref: ObjectRef, path: string, message: string): void {
    const source = this.source(ref) ?? { file: '', line: 0 }
    const name = displayName(ref.namespace, ref.name)
    this.problems.push({
      severity,
      file: source.file,
      line: source.line,
      kind: ref.kind,
      name,
      path,
      message,
    })
  }

  hasErrors(): boolean {
    return this.problems.some((problem) => problem.severity === 'error')
  }

  /** The cluster with everything that was written; the same value as before when nothing was. */
  finish(): Cluster {
    const before = this.#before
    if (this.#touched.size === 0 && this.#sources.size === 0) return before
    const objects = { ...before.objects, ...Object.fromEntries(this.#namespaces) } as Cluster['objects']
    return {
      config: this.config,
      objects,
      sources: merged(before.sources, this.#sources),
      lastPodOffsets: merged(before.lastPodOffsets, this.#lastPodOffsets),
      podSerials: merged(before.podSerials, this.#podSerials),
    }
  }

  #touch(ref: ObjectRef, before: KubernetesObject | undefined): void {
    const key = objectKey(ref.kind, ref.namespace, ref.name)
    if (!this.#touched.has(key)) this.#touched.set(key, { ...ref, before })
  }

  #writable(kind: Kind, namespace: string): ByName {
    let namespaces = this.#namespaces.get(kind)
    if (!namespaces) {
      namespaces = new Map(this.#before.objects[kind] as unknown as Map<string, ByName>)
      this.#namespaces.set(kind, namespaces)
    }
    const objects = namespaces.get(namespace)
    if (objects && this.#ownMaps.has(objects)) return objects
    const copy: ByName = new Map(objects)
    this.#ownMaps.add(copy)
    namespaces.set(namespace, copy)
    return copy
  }

  /** Not worth building for the first few questions. */
  #ownerIndex(kind: Kind, namespace: string): ByOwner | undefined {
    const key = `${kind}/${namespace}`
    const known = this.#owned.get(key)
    if (known) return known
    const asked = (this.#ownerQuestions.get(key) ?? 0) + 1
    this.#ownerQuestions.set(key, asked)
    if (asked <= questionsWithoutIndex) return undefined
    const index: ByOwner = new Map()
    for (const object of this.map(kind, namespace).values()) addOwned(index, object)
    this.#owned.set(key, index)
    return index
  }
}

function ownerKey(owner: OwnerReference): string {
  return `${owner.kind}/${owner.name}`
}

function addOwned(index: ByOwner, object: KubernetesObject): void {
  for (const owner of object.metadata.ownerReferences ?? []) {
    const key = ownerKey(owner)
    const owned = index.get(key)
    if (owned) owned.set(object.metadata.name, object)
    else index.set(key, new Map([[object.metadata.name, object]]))
  }
}

function dropOwned(index: ByOwner, object: KubernetesObject): void {
  for (const owner of object.metadata.ownerReferences ?? []) {
    index.get(ownerKey(owner))?.delete(object.metadata.name)
  }
}

function merged<K, V>(before: ReadonlyMap<K, V>, changes: ReadonlyMap<K, V | undefined>): ReadonlyMap<K, V> {
  if (changes.size === 0) return before
  const after = new Map(before)
  for (const [key, value] of changes) {
    if (value === undefined) after.delete(key)
    else after.set(key, value)
  }
  return after
}
