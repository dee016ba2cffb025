import type { NodePorts } from './allocate-node-port.ts'
import type { ReportAllocation } from './allocation-report.ts'
import { invalidValue } from './field-messages.ts'
import type { Service, ServicePort } from './objects.ts'

export function needsNodePorts({ spec }: Service): boolean {
  return spec.type === 'NodePort' || spec.type === 'LoadBalancer'
}

/** A Service with the node ports that it had before where its manifest gives none, and without any where its type has none. */
export function keepNodePorts(given: Service, live: Service | undefined): Service {
  const { spec } = given
  if (!needsNodePorts(given)) {
    if (spec.healthCheckNodePort === 0 && spec.ports.every((port) => port.nodePort === 0)) return given
    const ports = spec.ports.map((port) => ({ ...port, nodePort: 0 }))
    return { ...given, spec: { ...spec, ports, healthCheckNodePort: 0 } }
  }
  if (!live || !needsNodePorts(live)) return given
  const used = new Set(spec.ports.map((port) => port.nodePort))
  const isFree = (port: ServicePort) => port.nodePort > 0 && !used.has(port.nodePort)
  const ports = spec.ports.map((port) => {
    if (port.nodePort > 0) return port
    const held =
      live.spec.ports.find((old) => old.port === port.port && old.protocol === port.protocol) ??
      live.spec.ports.find((old) => old.name === port.name && isFree(old))
    return held ? { ...port, nodePort: held.nodePort } : port
  })
  const hasHealthCheck = spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'
  const healthCheckNodePort = hasHealthCheck ? spec.healthCheckNodePort || live.spec.healthCheckNodePort : 0
  return { ...given, spec: { ...spec, ports, healthCheckNodePort } }
}

/** Sets aside all node ports that a Service has; one that another Service has, or out of range, is an error. */
export function takeNodePorts(
  { spec }: Service,
  owner: string,
  ports: NodePorts,
  isStrict: boolean,
  report: ReportAllocation,
): void {
  const take = (port: number, path: string) => {
    const other = ports.owner(port)
    if (other !== undefined && other !== owner) {
      report('error', path, invalidValue(port, `provided port is already allocated (${other} has it)`))
    } else if (isStrict && !ports.isInRange(port)) {
      const why = `provided port is not in the valid range. The range of valid ports is ${ports.describeRange()}`
      report('error', path, invalidValue(port, why))
    } else ports.take(port, owner)
  }
  spec.ports.forEach(({ nodePort }, index) => {
    if (nodePort > 0) take(nodePort, `spec.ports[${index}].nodePort`)
  })
  if (spec.healthCheckNodePort > 0) take(spec.healthCheckNodePort, 'spec.healthCheckNodePort')
}
