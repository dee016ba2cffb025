import type { Fields } from './decode-fields.ts'
import { unsupportedValue } from './field-messages.ts'
import { qualifiedNameProblems } from './names.ts'
import type { Protocol } from './objects.ts'

const PROTOCOLS: readonly string[] = ['SCTP', 'TCP', 'UDP'] satisfies Protocol[]

/** The field `protocol` of a port: TCP when missing, reported when unknown (`udp` in lower case is). */
export function decodeProtocol(fields: Fields): Protocol {
  const protocol = fields.string('protocol') || 'TCP'
  if (!PROTOCOLS.includes(protocol)) {
    fields.report.error(fields.path.child('protocol'), unsupportedValue(protocol, PROTOCOLS))
  }
  return protocol as Protocol
}

/** The field `appProtocol` of a port; undefined when missing. */
export function decodeAppProtocol(fields: Fields): string | undefined {
  const appProtocol = fields.string('appProtocol')
  if (appProtocol !== undefined) {
    fields.report.invalid(fields.path.child('appProtocol'), appProtocol, qualifiedNameProblems(appProtocol))
  }
  return appProtocol
}
