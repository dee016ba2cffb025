import type { Fields } from './decode-fields.ts'
import { decodeMetadata } from './decode-metadata.ts'
import { decodeAppProtocol, decodeProtocol } from './decode-protocol.ts'
import { serviceNameLabel } from './endpoint-slices.ts'
import { duplicateValue, requiredValue, tooMany, unsupportedValue } from './field-messages.ts'
import { IP_DETAIL, ipFamilyOf, specialIpProblems } from './ip-text.ts'
import { knownFields } from './known-fields.ts'
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  domainNameProblems,
  labelValueProblems,
  portNumberProblems,
} from './names.ts'
import type { Endpoint, EndpointAddress, EndpointPort, EndpointSlice, Endpoints } from './objects.ts'

const ADDRESS_TYPES: readonly string[] = ['FQDN', 'IPv4', 'IPv6'] satisfies EndpointSlice['addressType'][]
const MAX_ENDPOINTS = 1000
const MAX_ADDRESSES = 100
const MAX_PORTS = 20_000
const MAX_HINTS = 8

export function decodeEndpointSlice(object: Fields): EndpointSlice {
  object.allowOnly(knownFields.endpointSlice)
  const { report, path } = object
  const metadata = decodeMetadata(object, {
    isNamespaced: true,
    nameProblems: dnsSubdomainProblems,
    hasPodIps: false,
  })
  if (metadata.labels[serviceNameLabel] === undefined) {
    const message = `without the label ${serviceNameLabel} no Service has these endpoints`
    report.warning(path.child('metadata', 'labels'), message)
  }
  const addressType = decodeAddressType(object)
  const endpointList = object.list('endpoints')
  if (endpointList.length > MAX_ENDPOINTS) {
    report.error(path.child('endpoints'), tooMany(endpointList.length, MAX_ENDPOINTS))
  }
  const endpoints = endpointList.map((fields) => decodeEndpoint(fields, addressType))
  return { kind: 'EndpointSlice', metadata, addressType, endpoints, ports: decodeSlicePorts(object) }
}

function decodeAddressType(object: Fields): EndpointSlice['addressType'] {
  const errorsBefore = object.typeErrorCount
  const addressType = object.string('addressType') ?? ''
  if (object.typeErrorCount === errorsBefore && !ADDRESS_TYPES.includes(addressType)) {
    const message = addressType === '' ? requiredValue() : unsupportedValue(addressType, ADDRESS_TYPES)
    object.report.error(object.path.child('addressType'), message)
  }
  return addressType as EndpointSlice['addressType']
}

function decodeEndpoint(fields: Fields, addressType: EndpointSlice['addressType']): Endpoint {
  fields.allowOnly(knownFields.endpoint)
  const { report, path } = fields
  const addresses = fields.strings('addresses')
  if (fields.isSound) {
    const place = path.child('addresses')
    if (addresses.length === 0) report.error(place, requiredValue('must contain at least 1 address'))
    if (addresses.length > MAX_ADDRESSES) report.error(place, tooMany(addresses.length, MAX_ADDRESSES))
    addresses.forEach((address, index) => {
      report.invalid(place.child(index), address, endpointAddressProblems(address, addressType))
    })
  }
  const hostname = fields.string('hostname')
  if (hostname !== undefined) report.invalid(path.child('hostname'), hostname, dnsLabelProblems(hostname))
  const nodeName = fields.string('nodeName')
  if (nodeName !== undefined) report.invalid(path.child('nodeName'), nodeName, dnsSubdomainProblems(nodeName))
  const zone = fields.string('zone')
  const hints = decodeHints(fields)
  const targetRef = decodeTargetRef(fields)
  return {
    addresses,
    conditions: decodeConditions(fields),
    ...(hostname !== undefined && { hostname }),
    ...(nodeName !== undefined && { nodeName }),
    ...(zone !== undefined && { zone }),
    ...(hints && { hints }),
    ...(targetRef && { targetRef }),
  }
}

function endpointAddressProblems(address: string, type: EndpointSlice['addressType']): string[] {
  switch (type) {
    case 'FQDN':
      return domainNameProblems(address)
    case 'IPv4':
    case 'IPv6':
      if (ipFamilyOf(address) !== type) return [`must be a valid ${type} address`]
      return specialIpProblems(address)
    default:
      // An unknown type is already reported.
      return []
  }
}

function decodeConditions(endpoint: Fields): Endpoint['conditions'] {
  const fields = endpoint.fields('conditions')
  fields.allowOnly(knownFields.endpointConditions)
  const ready = fields.boolean('ready')
  const serving = fields.boolean('serving')
  const terminating = fields.boolean('terminating')
  return {
    ...(ready !== undefined && { ready }),
    ...(serving !== undefined && { serving }),
    ...(terminating !== undefined && { terminating }),
  }
}

function decodeHints(endpoint: Fields): Endpoint['hints'] {
  if (!endpoint.has('hints')) return undefined
  const fields = endpoint.fields('hints')
  fields.allowOnly(knownFields.endpointHints)
  const forZones = decodeHintNames(fields, 'forZones', labelValueProblems)
  const forNodes = decodeHintNames(fields, 'forNodes', dnsSubdomainProblems)
  return { ...(fields.has('forZones') && { forZones }), ...(fields.has('forNodes') && { forNodes }) }
}

function decodeHintNames(
  hints: Fields,
  list: string,
  nameProblems: (name: string) => string[],
): { readonly name: string }[] {
  const { report } = hints
  const items = hints.list(list)
  if (items.length > MAX_HINTS) report.error(hints.path.child(list), tooMany(items.length, MAX_HINTS))
  const seen = new Set<string>()
  return items.map((fields) => {
    fields.allowOnly(knownFields.endpointHint)
    const path = fields.path.child('name')
    const name = fields.string('name') ?? ''
    if (seen.has(name)) report.error(path, duplicateValue(name))
    seen.add(name)
    report.invalid(path, name, nameProblems(name))
    return { name }
  })
}

function decodeSlicePorts(object: Fields): EndpointPort[] {
  const { report } = object
  const list = object.list('ports')
  if (list.length > MAX_PORTS) report.error(object.path.child('ports'), tooMany(list.length, MAX_PORTS))
  const names = new Set<string>()
  return list.map((fields) => {
    fields.allowOnly(knownFields.endpointPort)
    const { path } = fields
    const name = fields.string('name') ?? ''
    if (name !== '') report.invalid(path.child('name'), name, dnsLabelProblems(name))
    if (names.has(name)) report.error(path.child('name'), duplicateValue(name))
    names.add(name)
    const protocol = decodeProtocol(fields)
    decodeAppProtocol(fields)
    const port = fields.integer('port')
    // The API takes any number; one that no packet can carry would make iptables-restore refuse all rules.
    if (port !== undefined && port !== 0) report.invalid(path.child('port'), port, portNumberProblems(port))
    return { name, protocol, ...(port !== undefined && { port }) }
  })
}

export function decodeEndpoints(object: Fields): Endpoints {
  object.allowOnly(knownFields.endpoints)
  const metadata = decodeMetadata(object, {
    isNamespaced: true,
    nameProblems: dnsSubdomainProblems,
    hasPodIps: false,
  })
  return { kind: 'Endpoints', metadata, subsets: object.list('subsets').map(decodeSubset) }
}

function decodeSubset(fields: Fields): Endpoints['subsets'][number] {
  fields.allowOnly(knownFields.endpointSubset)
  const { report, path } = fields
  const addresses = fields.list('addresses').map(decodeSubsetAddress)
  const notReadyAddresses = fields.list('notReadyAddresses').map(decodeSubsetAddress)
  if (addresses.length + notReadyAddresses.length === 0 && fields.isSound) {
    report.error(path, requiredValue('must specify `addresses` or `notReadyAddresses`'))
  }
  const portList = fields.list('ports')
  const ports = portList.map((port) => decodeSubsetPort(port, portList.length > 1))
  return { addresses, notReadyAddresses, ports }
}

function decodeSubsetAddress(fields: Fields): EndpointAddress {
  fields.allowOnly(knownFields.endpointAddress)
  const { report, path } = fields
  const ip = fields.string('ip') ?? ''
  if (fields.isSound) {
    report.invalid(path.child('ip'), ip, ipFamilyOf(ip) ? specialIpProblems(ip) : [IP_DETAIL])
  }
  const hostname = fields.string('hostname')
  if (hostname) report.invalid(path.child('hostname'), hostname, dnsLabelProblems(hostname))
  const nodeName = fields.string('nodeName')
  if (nodeName !== undefined) report.invalid(path.child('nodeName'), nodeName, dnsSubdomainProblems(nodeName))
  const targetRef = decodeTargetRef(fields)
  return {
    ip,
    ...(hostname && { hostname }),
    ...(nodeName !== undefined && { nodeName }),
    ...(targetRef && { targetRef }),
  }
}

function decodeSubsetPort(fields: Fields, needsName: boolean): EndpointPort {
  fields.allowOnly(knownFields.endpointPort)
  const { report, path } = fields
  const name = fields.string('name') ?? ''
  const protocol = decodeProtocol(fields)
  const port = fields.integer('port') ?? 0
  decodeAppProtocol(fields)
  if (fields.isSound) {
    if (name !== '') report.invalid(path.child('name'), name, dnsLabelProblems(name))
    else if (needsName) report.error(path.child('name'), requiredValue())
    report.invalid(path.child('port'), port, portNumberProblems(port))
  }
  return { name, protocol, port }
}

function decodeTargetRef(owner: Fields): Endpoint['targetRef'] {
  if (!owner.has('targetRef')) return undefined
  const fields = owner.fields('targetRef')
  fields.allowOnly(knownFields.objectReference)
  const namespace = fields.string('namespace')
  return {
    kind: fields.string('kind') ?? '',
    name: fields.string('name') ?? '',
    ...(namespace !== undefined && { namespace }),
  }
}
