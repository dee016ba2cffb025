import type { Fields } from './decode-fields.ts'
import { decodeAppProtocol, decodeProtocol } from './decode-protocol.ts'
import { duplicateValue, forbidden, invalidValue, requiredValue, unsupportedValue } from './field-messages.ts'
import { IP_DETAIL, ipFamilyOf } from './ip-text.ts'
import { knownFields } from './known-fields.ts'
import { dnsLabelProblems, dnsSubdomainProblems, portNameProblems, portNumberProblems } from './names.ts'
import type { LoadBalancerIngress, ServicePort } from './objects.ts'

/** The API server's default `--service-node-port-range`. */
export const NODE_PORT_RANGE = { first: 30_000, last: 32_767 } as const

const IP_MODES = ['Proxy', 'VIP']

interface PortContext {
  readonly type: string
  /** The names of the ports before. */
  readonly portNames: Set<string>
  /** Whether the Service has more than one port. */
  readonly needsName: boolean
}

export function decodeServicePort(fields: Fields, { type, portNames, needsName }: PortContext): ServicePort {
  fields.allowOnly(knownFields.servicePort)
  const { report, path } = fields
  const name = fields.string('name') ?? ''
  const port = fields.integer('port') ?? 0
  const targetPort = fields.integerOrString('targetPort') || port
  const nodePort = fields.integer('nodePort') ?? 0
  const protocol = decodeProtocol(fields)
  const appProtocol = decodeAppProtocol(fields)
  if (fields.isSound) {
    if (name !== '') {
      report.invalid(path.child('name'), name, dnsLabelProblems(name))
      if (portNames.has(name)) report.error(path.child('name'), duplicateValue(name))
      portNames.add(name)
    } else if (needsName) report.error(path.child('name'), requiredValue())
    report.invalid(path.child('port'), port, portNumberProblems(port))
    if (typeof targetPort === 'string') {
      report.invalid(path.child('targetPort'), targetPort, targetNameProblems(targetPort))
    } else if (targetPort !== port) {
      report.invalid(path.child('targetPort'), targetPort, portNumberProblems(targetPort))
    }
    validateNodePort(fields, type, nodePort)
  }
  return { name, protocol, port, targetPort, nodePort, ...(appProtocol !== undefined && { appProtocol }) }
}

/** Only digits make a name that no container port can have: the quotes are the mistake. */
function targetNameProblems(name: string): string[] {
  const advice = /^\d+$/.test(name) ? '; remove the quotes to mean the number' : ''
  return portNameProblems(name).map((problem) => problem + advice)
}

function validateNodePort(fields: Fields, type: string, nodePort: number): void {
  if (nodePort === 0) return
  const path = fields.path.child('nodePort')
  if (type === 'ClusterIP') {
    fields.report.error(path, forbidden("may not be used when `type` is 'ClusterIP'"))
  } else if (type !== 'ExternalName') {
    fields.report.invalid(path, nodePort, nodePortRangeProblems(nodePort))
  }
}

export function nodePortRangeProblems(port: number): string[] {
  const { first, last } = NODE_PORT_RANGE
  if (port >= first && port <= last) return []
  return [`provided port is not in the valid range. The range of valid ports is ${first}-${last}`]
}

/**
 * `status.loadBalancer.ingress`, which the API server would drop on creation: here it stands in for the cloud
 * that hands out the addresses.
 */
export function decodeLoadBalancerStatus(object: Fields, type: string): LoadBalancerIngress[] {
  const status = object.fields('status')
  status.allowOnly(knownFields.serviceStatus)
  const loadBalancer = status.fields('loadBalancer')
  loadBalancer.allowOnly(knownFields.loadBalancerStatus)
  const list = loadBalancer.list('ingress')
  if (list.length > 0 && type !== 'LoadBalancer') {
    const detail = "may only be used when `spec.type` is 'LoadBalancer'"
    object.report.error(loadBalancer.path.child('ingress'), forbidden(detail))
  }
  return list.map(decodeIngress)
}

function decodeIngress(fields: Fields): LoadBalancerIngress {
  fields.allowOnly(knownFields.loadBalancerIngress)
  const { report, path } = fields
  const ip = fields.string('ip') ?? ''
  const hostname = fields.string('hostname') ?? ''
  const ipMode = fields.string('ipMode')
  if (ip !== '' && !ipFamilyOf(ip)) report.error(path.child('ip'), invalidValue(ip, IP_DETAIL))
  if (ipMode !== undefined && ip === '') {
    report.error(path.child('ipMode'), forbidden('may not be specified when `ip` is not set'))
  } else if (ipMode !== undefined && !IP_MODES.includes(ipMode)) {
    report.error(path.child('ipMode'), unsupportedValue(ipMode, IP_MODES))
  }
  if (hostname !== '') {
    report.invalid(path.child('hostname'), hostname, dnsSubdomainProblems(hostname))
    if (ipFamilyOf(hostname)) {
      report.error(path.child('hostname'), invalidValue(hostname, 'must be a DNS name, not an IP address'))
    }
  }
  return {
    ...(ip !== '' && { ip, ipMode: ipMode === 'Proxy' ? 'Proxy' : 'VIP' }),
    ...(hostname !== '' && { hostname }),
  }
}
