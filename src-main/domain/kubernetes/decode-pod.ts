import type { Fields } from './decode-fields.ts'
import { decodeProtocol } from './decode-protocol.ts'
import { duplicateValue, invalidValue, requiredValue, unsupportedValue } from './field-messages.ts'
import { knownFields } from './known-fields.ts'
import { dnsLabelProblems, dnsSubdomainProblems, portNameProblems, portNumberProblems } from './names.ts'
import type { Container, ContainerPort, PodSpec } from './objects.ts'

const RESTART_POLICIES = ['Always', 'Never', 'OnFailure']

/** The pod spec in the field `spec` of a Pod or a pod template. */
export function decodePodSpec(owner: Fields, restartPolicies: readonly string[] = RESTART_POLICIES): PodSpec {
  const fields = owner.fields('spec')
  fields.allowOnly(knownFields.podSpec)
  const { report, path } = fields
  const nodeName = fields.string('nodeName') ?? ''
  if (nodeName !== '') report.invalid(path.child('nodeName'), nodeName, dnsSubdomainProblems(nodeName))
  const hostNetwork = fields.boolean('hostNetwork') ?? false
  const restartPolicy = fields.string('restartPolicy') || 'Always'
  if (!restartPolicies.includes(restartPolicy)) {
    report.error(path.child('restartPolicy'), unsupportedValue(restartPolicy, restartPolicies))
  }
  return { containers: decodeContainers(fields, hostNetwork), nodeName, hostNetwork }
}

function decodeContainers(fields: Fields, hostNetwork: boolean): Container[] {
  const { report, path } = fields
  const errorsBefore = fields.typeErrorCount
  const list = fields.list('containers')
  if (list.length === 0 && fields.typeErrorCount === errorsBefore) {
    report.error(path.child('containers'), requiredValue())
  }
  const names = new Set<string>()
  const takenPorts = new Map<string, string>()
  return list.map((item) => {
    const container = decodeContainer(item, hostNetwork)
    if (container.name !== '') {
      if (names.has(container.name)) report.error(item.path.child('name'), duplicateValue(container.name))
      names.add(container.name)
    }
    warnOfSharedPorts(item, container, takenPorts)
    return container
  })
}

function decodeContainer(fields: Fields, hostNetwork: boolean): Container {
  fields.allowOnly(knownFields.container)
  const { report, path } = fields
  const name = fields.string('name') ?? ''
  const image = fields.string('image') ?? ''
  if (fields.isSound) {
    if (name === '') report.error(path.child('name'), requiredValue())
    else report.invalid(path.child('name'), name, dnsLabelProblems(name))
    if (image === '') report.error(path.child('image'), requiredValue())
    else if (image.trim() !== image) {
      report.error(path.child('image'), invalidValue(image, 'must not have leading or trailing whitespace'))
    }
  }
  const names = new Set<string>()
  const ports = fields.list('ports').map((item) => decodeContainerPort(item, names, hostNetwork))
  return { name, image, ports }
}

function decodeContainerPort(fields: Fields, names: Set<string>, hostNetwork: boolean): ContainerPort {
  fields.allowOnly(knownFields.containerPort)
  const { report, path } = fields
  const name = fields.string('name') ?? ''
  const containerPort = fields.integer('containerPort') ?? 0
  const hostPort = fields.integer('hostPort') ?? 0
  const protocol = decodeProtocol(fields)
  if (name !== '') {
    report.invalid(path.child('name'), name, portNameProblems(name))
    if (names.has(name)) report.error(path.child('name'), duplicateValue(name))
    names.add(name)
  }
  if (fields.isSound) {
    if (containerPort === 0) report.error(path.child('containerPort'), requiredValue())
    else report.invalid(path.child('containerPort'), containerPort, portNumberProblems(containerPort))
    if (hostPort !== 0) report.invalid(path.child('hostPort'), hostPort, portNumberProblems(hostPort))
    if (hostNetwork && hostPort !== 0 && hostPort !== containerPort) {
      const detail = 'must match `hostPort` when `hostNetwork` is true'
      report.error(path.child('containerPort'), invalidValue(containerPort, detail))
    }
  }
  return { name, containerPort, protocol }
}

/** The API accepts it, but of two servers in one network namespace the second cannot listen. */
function warnOfSharedPorts(fields: Fields, container: Container, taken: Map<string, string>): void {
  container.ports.forEach(({ containerPort, protocol }, index) => {
    if (containerPort === 0) return
    const key = `${protocol} port ${containerPort}`
    const other = taken.get(key)
    if (other === undefined) taken.set(key, container.name)
    else {
      const message = `${key} is already declared by the container "${other}"; only one server can listen on it`
      fields.report.warning(fields.path.child('ports', index), message)
    }
  })
}
