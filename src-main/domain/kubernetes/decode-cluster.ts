import type { Fields } from './decode-fields.ts'
import { decodeMetadata } from './decode-metadata.ts'
import { duplicateValue, invalidValue } from './field-messages.ts'
import { CIDR_DETAIL, cidrFamilyOf, IP_DETAIL, ipFamilyOf } from './ip-text.ts'
import { knownFields } from './known-fields.ts'
import { dnsLabelProblems, dnsSubdomainProblems } from './names.ts'
import type { Namespace, NodeObject } from './objects.ts'

export function decodeNamespace(object: Fields): Namespace {
  object.allowOnly(knownFields.object)
  const metadata = decodeMetadata(object, {
    isNamespaced: false,
    nameProblems: dnsLabelProblems,
    hasPodIps: false,
  })
  const labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name }
  return { kind: 'Namespace', metadata: { ...metadata, labels } }
}

export function decodeNode(object: Fields): NodeObject {
  object.allowOnly(knownFields.object)
  const metadata = decodeMetadata(object, {
    isNamespaced: false,
    nameProblems: dnsSubdomainProblems,
    hasPodIps: false,
  })
  const spec = object.fields('spec')
  spec.allowOnly(knownFields.nodeSpec)
  const podCIDRs = decodePodCidrs(spec)
  const addresses = object.fields('status').list('addresses').map(decodeNodeAddress)
  return { kind: 'Node', metadata, spec: { podCIDRs }, status: { addresses } }
}

/** The API keeps podCIDR and podCIDRs in step; where they differ, podCIDR wins. */
function decodePodCidrs(spec: Fields): string[] {
  const { report } = spec
  const single = spec.string('podCIDR') ?? ''
  const given = spec.strings('podCIDRs')
  if (!spec.isSound) return []
  const isSingle = single !== '' && given[0] !== single
  const podCidrs = isSingle ? [single] : given
  const path = spec.path.child(isSingle ? 'podCIDR' : 'podCIDRs')
  const families = podCidrs.map(cidrFamilyOf)
  podCidrs.forEach((cidr, index) => {
    const place = isSingle ? path : path.child(index)
    if (!families[index]) report.error(place, invalidValue(cidr, CIDR_DETAIL))
    if (podCidrs.indexOf(cidr) < index) report.error(place, duplicateValue(cidr))
  })
  if (podCidrs.length > 1 && (podCidrs.length > 2 || families[0] === families[1])) {
    report.error(path, invalidValue(podCidrs, 'may specify no more than one CIDR for each IP family'))
  }
  return podCidrs
}

function decodeNodeAddress(fields: Fields): NodeObject['status']['addresses'][number] {
  fields.allowOnly(knownFields.nodeAddress)
  const type = fields.string('type') ?? ''
  const address = fields.string('address') ?? ''
  // The API takes any text here; kube-proxy and the lab need an address.
  if (type.endsWith('IP') && address !== '' && !ipFamilyOf(address)) {
    fields.report.error(fields.path.child('address'), invalidValue(address, IP_DETAIL))
  }
  return { type, address }
}
