import type { Fields } from './decode-fields.ts'
import { forbidden, invalidValue, requiredValue } from './field-messages.ts'
import { ipFamilyOf, specialIpProblems } from './ip-text.ts'
import { knownFields } from './known-fields.ts'
import { dnsLabelProblems, qualifiedNameProblems } from './names.ts'
import type { Labels, ObjectMeta, OwnerReference } from './objects.ts'
import { podIpsAnnotation } from './pinned-addresses.ts'
import { suggestWord } from './suggest-word.ts'
import { validateLabels } from './validate-labels.ts'

const LAB_PREFIX = 'chainwalk.dev/'
const MAX_ANNOTATION_BYTES = 256 * 1024

export interface MetadataRules {
  readonly isNamespaced: boolean
  readonly nameProblems: (name: string) => string[]
  /** Whether the object is a pod, whose addresses can be pinned. */
  readonly hasPodIps: boolean
}

export function decodeMetadata(object: Fields, rules: MetadataRules): ObjectMeta {
  const fields = object.fields('metadata')
  fields.allowOnly(knownFields.metadata)
  const { report, path } = fields
  const labels = decodeLabels(fields)
  const annotations = decodeAnnotations(fields, rules.hasPodIps)
  const ownerReferences = decodeOwnerReferences(fields)
  const errorsBefore = fields.typeErrorCount
  const name = fields.string('name') ?? ''
  const isNameReadable = fields.typeErrorCount === errorsBefore
  const given = fields.string('namespace')
  if (name !== '') report.invalid(path.child('name'), name, rules.nameProblems(name))
  else if (isNameReadable) report.error(path.child('name'), nameRequired(fields))
  if (rules.isNamespaced) {
    if (given) report.invalid(path.child('namespace'), given, dnsLabelProblems(given))
  } else if (given) report.error(path.child('namespace'), forbidden('not allowed on this type'))
  const namespace = rules.isNamespaced ? given || 'default' : ''
  return { name, namespace, labels, annotations, ...(ownerReferences.length > 0 && { ownerReferences }) }
}

/** The metadata of a pod template, which has no name of its own. */
export function decodeTemplateMetadata(template: Fields): Pick<ObjectMeta, 'labels' | 'annotations'> {
  const fields = template.fields('metadata')
  fields.allowOnly(knownFields.metadata)
  return { labels: decodeLabels(fields), annotations: decodeAnnotations(fields, true) }
}

function nameRequired(fields: Fields): string {
  const isGenerated = fields.has('generateName')
  return requiredValue(
    isGenerated ? 'generateName cannot be used with apply; give a name' : 'name is required',
  )
}

function decodeLabels(fields: Fields): Labels {
  const labels = fields.labels('labels')
  validateLabels(fields, 'labels', labels)
  return labels
}

function decodeAnnotations(fields: Fields, hasPodIps: boolean): Labels {
  const annotations = fields.labels('annotations')
  const path = fields.path.child('annotations')
  let size = 0
  for (const [key, value] of Object.entries(annotations)) {
    size += key.length + value.length
    fields.report.invalid(path, key, qualifiedNameProblems(key.toLowerCase()), path.child(key))
    if (key.startsWith(LAB_PREFIX)) validateLabAnnotation(fields, key, value, hasPodIps)
  }
  if (size > MAX_ANNOTATION_BYTES) {
    fields.report.error(path, `Too long: must have at most ${MAX_ANNOTATION_BYTES} bytes`)
  }
  return annotations
}

function validateLabAnnotation(fields: Fields, key: string, value: string, hasPodIps: boolean): void {
  const path = fields.path.child('annotations', key)
  if (key !== podIpsAnnotation) {
    const suggestion = suggestWord(key, [podIpsAnnotation])
    const advice =
      suggestion === undefined ? `this lab knows ${podIpsAnnotation}` : `did you mean ${suggestion}?`
    fields.report.warning(path, `unknown annotation "${key}"; ${advice}`)
    return
  }
  if (!hasPodIps) {
    const message = `"${key}" has an effect only on a Pod or in a pod template (spec.template.metadata.annotations)`
    fields.report.warning(path, message)
    return
  }
  const seen = new Set<string>()
  for (const ip of value.split(',').map((part) => part.trim())) {
    if (ipFamilyOf(ip) === undefined) {
      const detail = `"${ip}" is not an IP address; give a comma list such as 10.244.1.7,10.244.2.7`
      fields.report.error(path, invalidValue(value, detail))
      continue
    }
    for (const problem of specialIpProblems(ip)) fields.report.error(path, invalidValue(ip, problem))
    if (seen.has(ip)) fields.report.error(path, invalidValue(value, `${ip} stands twice in the list`))
    seen.add(ip)
  }
}

function decodeOwnerReferences(fields: Fields): OwnerReference[] {
  return fields.list('ownerReferences').map((owner) => ({
    kind: owner.string('kind') ?? '',
    name: owner.string('name') ?? '',
  }))
}
