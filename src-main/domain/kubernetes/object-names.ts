import type { Kind } from './objects.ts'

/** Kubernetes' alphabet for generated names: no vowels and no look-alikes, so that no words come out. */
const safeAlphabet = 'bcdfghjklmnpqrstvwxz2456789'
/** Kubernetes cuts what stands before a generated suffix, so that the whole stays a DNS label. */
const maxGeneratedBase = 58

/** An object's identity in a cluster, `Kind/namespace/name`, with an empty namespace for cluster-scoped kinds. */
export type ObjectKey = `${Kind}/${string}/${string}`

/** Names one object of a cluster; the namespace is empty for Node and Namespace. */
export interface ObjectRef {
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
}

/** The key under which a cluster knows this object. */
export function objectKey(kind: Kind, namespace: string, name: string): ObjectKey {
  return `${kind}/${namespace}/${name}`
}

/** How a Problem names an object: without the namespace where that is `default` or empty. */
export function displayName(namespace: string, name: string): string {
  return namespace === '' || namespace === 'default' ? name : `${namespace}/${name}`
}

/** FNV-1a over the UTF-16 code units of a text, as an unsigned 32-bit number. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  }
  return hash >>> 0
}

/** A value as JSON with sorted keys, so that equal values give equal texts whatever order they were written in. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
  })
}

/** `pod-template-hash`: decimal digits put into the safe alphabet, up to 10 characters such as `7b59c6d8f4`. */
export function templateHash(template: unknown): string {
  const digits = String(hash32(canonicalJson(template)))
  let encoded = ''
  for (let i = 0; i < digits.length; i++) encoded += safeCharacter(digits.charCodeAt(i))
  return encoded
}

/** `base` and a suffix of five characters that follows from `seed` alone; `isTaken` names are passed over. */
export function generateName(base: string, seed: string, isTaken: (name: string) => boolean): string {
  const prefix = base.slice(0, maxGeneratedBase)
  for (let attempt = 0; ; attempt++) {
    const name = prefix + safeSuffix(attempt === 0 ? seed : `${seed}+${attempt}`)
    if (!isTaken(name)) return name
  }
}

function safeSuffix(seed: string): string {
  // FNV's low bits of short, similar seeds are too alike: mix them before taking digits in base 27.
  let rest = hash32(seed)
  rest = Math.imul(rest ^ (rest >>> 16), 0x85ebca6b)
  rest = Math.imul(rest ^ (rest >>> 13), 0xc2b2ae35)
  rest = (rest ^ (rest >>> 16)) >>> 0
  let suffix = ''
  for (let i = 0; i < 5; i++) {
    suffix += safeCharacter(rest)
    rest = Math.floor(rest / safeAlphabet.length)
  }
  return suffix
}

function safeCharacter(value: number): string {
  return safeAlphabet.charAt(value % safeAlphabet.length)
}
