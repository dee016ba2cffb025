import type { Fields } from './decode-fields.ts'
import { decodeMetadata, decodeTemplateMetadata } from './decode-metadata.ts'
import { decodePodSpec } from './decode-pod.ts'
import { decodeLabelSelector } from './decode-selector.ts'
import { invalidValue, requiredValue } from './field-messages.ts'
import { knownFields } from './known-fields.ts'
import { dnsSubdomainProblems } from './names.ts'
import type { Deployment, Pod, PodTemplate, ReplicaSet } from './objects.ts'
import { matchesSelector } from './select.ts'

/** `status` of the manifest is not read: a new pod has none until the lab gives it addresses. */
export function decodePod(object: Fields): Pod {
  object.allowOnly(knownFields.object)
  const metadata = decodeMetadata(object, {
    isNamespaced: true,
    nameProblems: dnsSubdomainProblems,
    hasPodIps: true,
  })
  const spec = decodePodSpec(object)
  return { kind: 'Pod', metadata, spec, status: { podIPs: [], ready: false, terminating: false } }
}

export function decodeDeployment(object: Fields): Deployment {
  const { metadata, spec } = decodeReplicated(object, knownFields.deploymentSpec)
  return { kind: 'Deployment', metadata, spec }
}

export function decodeReplicaSet(object: Fields): ReplicaSet {
  const { metadata, spec } = decodeReplicated(object, knownFields.replicaSetSpec)
  return { kind: 'ReplicaSet', metadata, spec }
}

function decodeReplicated(
  object: Fields,
  specFields: ReadonlySet<string>,
): Pick<Deployment, 'metadata' | 'spec'> {
  object.allowOnly(knownFields.object)
  const metadata = decodeMetadata(object, {
    isNamespaced: true,
    nameProblems: dnsSubdomainProblems,
    hasPodIps: false,
  })
  const fields = object.fields('spec')
  fields.allowOnly(specFields)
  const { report, path } = fields
  const replicas = fields.integer('replicas') ?? 1
  if (replicas < 0) {
    const detail = 'must be greater than or equal to 0'
    report.error(path.child('replicas'), invalidValue(replicas, detail))
  }
  const errorsBefore = fields.typeErrorCount
  const selector = decodeLabelSelector(fields)
  const template = decodeTemplate(fields)
  if (fields.typeErrorCount === errorsBefore) {
    const size = Object.keys(selector.matchLabels).length + selector.matchExpressions.length
    if (!fields.has('selector')) report.error(path.child('selector'), requiredValue())
    else if (size === 0) {
      report.error(path.child('selector'), invalidValue({}, 'empty selector is invalid for deployment'))
    } else if (!matchesSelector(selector, template.metadata.labels)) {
      const detail = '`selector` does not match template `labels`'
      const labels = path.child('template', 'metadata', 'labels')
      report.error(labels, invalidValue(template.metadata.labels, detail))
    }
  }
  return { metadata, spec: { replicas, selector, template } }
}

function decodeTemplate(owner: Fields): PodTemplate {
  const fields = owner.fields('template')
  fields.allowOnly(knownFields.podTemplate)
  const metadata = decodeTemplateMetadata(fields)
  return { metadata, spec: decodePodSpec(fields, ['Always']) }
}
