import type { ClusterDraft } from './cluster-draft.ts'
import { resolveTargetPort, serviceNameLabel } from './endpoint-slices.ts'
import { LabelIndex } from './label-index.ts'
import { addValue } from './multi-map.ts'
import type { Labels, PodSpec, Service } from './objects.ts'

/** A pod template that some workload has, or a pod that stands alone. */
export interface WorkloadTemplate {
  readonly kind: 'Deployment' | 'ReplicaSet' | 'Pod'
  readonly namespace: string
  readonly name: string
  readonly labels: Labels
  readonly spec: PodSpec
}

/** Nearest templates are sought among so many candidates: more would help nobody and cost much. */
const maxCandidates = 200

/** Warns of Services whose selector finds no pod template, or whose targetPort no container of those found has. */
export function warnAboutSelectors(draft: ClusterDraft, services: readonly Service[]): void {
  const checked = services.filter((service) => hasSelectorToCheck(draft, service))
  if (checked.length === 0) return
  const withSlices = servicesWithGivenEndpoints(draft)
  const search = new TemplateSearch(collectTemplates(draft))
  for (const service of checked) {
    const { namespace, name } = service.metadata
    if (withSlices.has(`${namespace}/${name}`)) continue
    const ref = { kind: 'Service', namespace, name } as const
    const found = search.select(namespace, service.spec.selector)
    if (found.length === 0)
      draft.report('warning', ref, 'spec.selector', search.explain(namespace, service.spec.selector))
    else {
      for (const { path, message } of explainPorts(service, found))
        draft.report('warning', ref, path, message)
    }
  }
}

function hasSelectorToCheck(draft: ClusterDraft, service: Service): boolean {
  const { metadata, spec } = service
  if (spec.type === 'ExternalName' || Object.keys(spec.selector).length === 0) return false
  return draft.get('Service', metadata.namespace, metadata.name) !== undefined
}

function servicesWithGivenEndpoints(draft: ClusterDraft): ReadonlySet<string> {
  const found = new Set<string>()
  for (const { metadata } of draft.all('EndpointSlice')) {
    const name = metadata.labels[serviceNameLabel]
    if (name !== undefined && !metadata.ownerReferences?.length) found.add(`${metadata.namespace}/${name}`)
  }
  for (const { metadata } of draft.all('Endpoints')) found.add(`${metadata.namespace}/${metadata.name}`)
  return found
}

/** The templates of all Deployments, of ReplicaSets without Deployment, and the pods without either. */
function collectTemplates(draft: ClusterDraft): WorkloadTemplate[] {
  const templates: WorkloadTemplate[] = []
  for (const kind of ['Deployment', 'ReplicaSet'] as const) {
    for (const { metadata, spec } of draft.all(kind)) {
      if (metadata.ownerReferences) continue
      const { namespace, name } = metadata
      templates.push({
        kind,
        namespace,
        name,
        labels: spec.template.metadata.labels,
        spec: spec.template.spec,
      })
    }
  }
  for (const { metadata, spec } of draft.all('Pod')) {
    if (metadata.ownerReferences) continue
    templates.push({
      kind: 'Pod',
      namespace: metadata.namespace,
      name: metadata.name,
      labels: metadata.labels,
      spec,
    })
  }
  return templates
}

class TemplateSearch {
  readonly #byNamespace = new Map<string, WorkloadTemplate[]>()
  readonly #indexes = new Map<string, LabelIndex<WorkloadTemplate>>()
  readonly #everywhere: LabelIndex<WorkloadTemplate>
  readonly #byKey = new Map<string, WorkloadTemplate[]>()
  readonly #byValue = new Map<string, WorkloadTemplate[]>()

  constructor(templates: readonly WorkloadTemplate[]) {
    this.#everywhere = new LabelIndex(templates, (template) => template.labels)
    for (const template of templates) {
      addValue(this.#byNamespace, template.namespace, template)
      for (const [key, value] of Object.entries(template.labels)) {
        addValue(this.#byKey, key, template)
        addValue(this.#byValue, value, template)
      }
    }
  }

  select(namespace: string, selector: Labels): readonly WorkloadTemplate[] {
    let index = this.#indexes.get(namespace)
    if (!index) {
      index = new LabelIndex(this.#byNamespace.get(namespace) ?? [], (template) => template.labels)
      this.#indexes.set(namespace, index)
    }
    return index.select(selector)
  }

  /** ``selector `a=b` matches 0 of 1 pod templates in namespace shop; nearest: …`` */
  explain(namespace: string, selector: Labels): string {
    const count = this.#byNamespace.get(namespace)?.length ?? 0
    const nearest = this.#nearest(namespace, selector)
    const found = `selector \`${formatLabels(selector)}\` matches 0 of ${count} pod templates in namespace ${namespace}`
    return nearest === undefined ? found : `${found}; nearest: ${nearest}`
  }

  #nearest(namespace: string, selector: Labels): string | undefined {
    const candidates = new Set(this.#everywhere.select(selector).slice(0, maxCandidates))
    for (const [key, value] of Object.entries(selector)) {
      for (const template of this.#byValue.get(value)?.slice(0, maxCandidates) ?? []) candidates.add(template)
      for (const template of this.#byKey.get(key)?.slice(0, maxCandidates) ?? []) candidates.add(template)
    }
    let best: { template: WorkloadTemplate; nearness: Nearness } | undefined
    for (const template of candidates) {
      const nearness = compareLabels(selector, template, namespace)
      if (!best || nearness.score > best.nearness.score) best = { template, nearness }
    }
    if (!best) return undefined
    const { kind, name, namespace: where } = best.template
    const isElsewhere = where !== namespace
    const place = isElsewhere ? `${kind} ${name} in namespace ${where}` : `${kind} ${name}`
    const { pair, relation } = best.nearness
    const note = isElsewhere ? `${relation}; a selector never crosses namespaces` : relation
    return `${place} has \`${pair}\` (${note})`
  }
}

interface Nearness {
  readonly score: number
  readonly pair: string
  readonly relation: string
}

/** More agreeing pairs are nearer, then the same value under another key, then the same key; at home before elsewhere. */
function compareLabels(selector: Labels, template: WorkloadTemplate, namespace: string): Nearness {
  const wanted = Object.entries(selector)
  const missing = wanted.filter(([key, value]) => template.labels[key] !== value)
  const agreeing = wanted.length - missing.length
  const isHome = template.namespace === namespace
  if (missing.length === 0) return { score: 1000, pair: formatLabels(selector), relation: 'same labels' }
  const score = agreeing * 10 + (isHome ? 5 : 0)
  for (const [, value] of missing) {
    const other = Object.entries(template.labels).find(([, each]) => each === value)
    if (other) return { score: score + 3, pair: other.join('='), relation: 'same value, other key' }
  }
  for (const [key] of missing) {
    const value = template.labels[key]
    if (value !== undefined)
      return { score: score + 2, pair: `${key}=${value}`, relation: 'same key, other value' }
  }
  const lacking = missing.map((pair) => pair.join('=')).join(',')
  const has = formatLabels(template.labels)
  return { score: score + 1, pair: has, relation: `but not \`${lacking}\`` }
}

function explainPorts(
  service: Service,
  templates: readonly WorkloadTemplate[],
): { path: string; message: string }[] {
  const warnings: { path: string; message: string }[] = []
  service.spec.ports.forEach(({ targetPort, protocol }, index) => {
    const path = `spec.ports[${index}].targetPort`
    const declared = describePorts(templates)
    if (typeof targetPort === 'string') {
      if (templates.some((template) => resolveTargetPort(targetPort, protocol, template) !== undefined))
        return
      warnings.push({
        path,
        message: `no container of the selected pods has a ${protocol} port named "${targetPort}"; ${declared}`,
      })
      return
    }
    const isDeclared = templates.some(({ spec }) =>
      spec.containers.some(({ ports }) =>
        ports.some((port) => port.containerPort === targetPort && port.protocol === protocol),
      ),
    )
    if (isDeclared) return
    warnings.push({
      path,
      message: `no container of the selected pods declares ${protocol} port ${targetPort}, so nothing listens there in the lab; ${declared}`,
    })
  })
  return warnings
}

function describePorts(templates: readonly WorkloadTemplate[]): string {
  const ports = new Set<string>()
  for (const { kind, name, spec } of templates.slice(0, 5)) {
    for (const container of spec.containers) {
      for (const port of container.ports) {
        const label = port.name === '' ? '' : ` "${port.name}"`
        ports.add(`${port.containerPort}/${port.protocol}${label} (${kind} ${name})`)
      }
    }
  }
  return ports.size === 0 ? 'they declare no containerPort at all' : `there are ${[...ports].join(', ')}`
}

function formatLabels(labels: Labels): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',')
}
