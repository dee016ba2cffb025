import type { Kind } from './objects.ts'

/** How the API and kubectl call a kind. */
export interface ResourceName {
  /** `services`, as in `services "web" not found`; with the API group where there is one. */
  readonly qualified: string
  /** As kubectl prefixes names: `service/web`, `deployment.apps/web`. */
  readonly prefix: string
  readonly apiVersion: string
  readonly isNamespaced: boolean
  /** What may be typed, in lower case. */
  readonly aliases: readonly string[]
}

export const resourceNames: { readonly [K in Kind]: ResourceName } = {
  Namespace: core('namespace', 'namespaces', ['ns'], false),
  Node: core('node', 'nodes', ['no'], false),
  Pod: core('pod', 'pods', ['po'], true),
  Service: core('service', 'services', ['svc'], true),
  Endpoints: core('endpoints', 'endpoints', ['ep', 'eps', 'endpoint'], true),
  Deployment: grouped('deployment', 'deployments', 'apps', ['deploy']),
  ReplicaSet: grouped('replicaset', 'replicasets', 'apps', ['rs']),
  EndpointSlice: grouped('endpointslice', 'endpointslices', 'discovery.k8s.io', []),
}

/** What `all` means to kubectl, as far as the lab has it. */
export const allKinds: readonly Kind[] = ['Pod', 'Service', 'Deployment', 'ReplicaSet']

/**
 * The kinds that a word of `get` names, e.g. `po`, `pod,svc`, `Deployments.apps`, `all`; undefined when a part is
 * unknown. Upper and lower case are the same.
 */
export function parseKinds(text: string): readonly Kind[] | undefined {
  const kinds: Kind[] = []
  for (const word of text.toLowerCase().split(',')) {
    if (word === 'all') {
      kinds.push(...allKinds)
      continue
    }
    const found = (Object.keys(resourceNames) as Kind[]).find((kind) =>
      resourceNames[kind].aliases.includes(word),
    )
    if (!found) return undefined
    kinds.push(found)
  }
  return [...new Set(kinds)]
}

function core(
  singular: string,
  plural: string,
  short: readonly string[],
  isNamespaced: boolean,
): ResourceName {
  return {
    qualified: plural,
    prefix: singular,
    apiVersion: 'v1',
    isNamespaced,
    aliases: [singular, plural, ...short],
  }
}

function grouped(singular: string, plural: string, group: string, short: readonly string[]): ResourceName {
  return {
    qualified: `${plural}.${group}`,
    prefix: `${singular}.${group}`,
    apiVersion: `${group}/v1`,
    isNamespaced: true,
    aliases: [singular, plural, `${singular}.${group}`, `${plural}.${group}`, ...short],
  }
}
