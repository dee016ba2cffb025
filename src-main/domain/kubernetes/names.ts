/**
 * The forms of names in the Kubernetes API. Each `…Problems` function returns what is wrong, in the API
 * server's words; an empty list means a valid name.
 */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`
const RFC_1035_LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?'
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const LABEL_VALUE = `(${QUALIFIED})?`

const labelPattern = whole(LABEL)
const subdomainPattern = whole(SUBDOMAIN)
const rfc1035LabelPattern = whole(RFC_1035_LABEL)
const qualifiedPattern = whole(QUALIFIED)
const labelValuePattern = whole(LABEL_VALUE)

/** RFC 1123 label: container names, Service port names, namespaces. */
export function dnsLabelProblems(value: string): string[] {
  const problems = lengthProblems(value, 63)
  if (labelPattern.test(value)) return problems
  if (subdomainPattern.test(value)) return [...problems, 'must not contain dots']
  const message =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character"
  return [...problems, withPattern(message, LABEL, 'my-name', '123-abc')]
}

/** RFC 1123 subdomain: the names of most objects. */
export function dnsSubdomainProblems(value: string): string[] {
  const problems = lengthProblems(value, 253)
  if (subdomainPattern.test(value)) return problems
  const message =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
  return [...problems, withPattern(message, SUBDOMAIN, 'example.com')]
}

/** RFC 1035 label, which starts with a letter: the names of Services. */
export function rfc1035LabelProblems(value: string): string[] {
  const problems = lengthProblems(value, 63)
  if (rfc1035LabelPattern.test(value)) return problems
  const message =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
  return [...problems, withPattern(message, RFC_1035_LABEL, 'my-name', 'abc-123')]
}

/** A domain name of at least two labels: the addresses of an FQDN EndpointSlice. */
export function domainNameProblems(value: string): string[] {
  const name = value.endsWith('.') ? value.slice(0, -1) : value
  const problems = dnsSubdomainProblems(name)
  if (problems.length > 0) return problems
  const labels = name.split('.')
  if (labels.length < 2) return ['should be a domain with at least two segments separated by dots']
  return labels.flatMap(dnsLabelProblems)
}

/** IANA service name: container port names and targetPorts given by name. */
export function portNameProblems(value: string): string[] {
  const problems = lengthProblems(value, 15)
  if (!/^[-a-z0-9]+$/.test(value)) {
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  }
  if (!/[a-z]/.test(value)) problems.push('must contain at least one letter (a-z)')
  if (value.includes('--')) problems.push('must not contain consecutive hyphens')
  if (value.startsWith('-') || value.endsWith('-')) problems.push('must not begin or end with a hyphen')
  return problems
}

/** Keys of labels and annotations: an optional DNS subdomain and `/`, then a name. */
export function qualifiedNameProblems(value: string): string[] {
  const message =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
  const pattern = withPattern(message, QUALIFIED, 'MyName', 'my.name', '123-abc')
  const parts = value.split('/')
  if (parts.length > 2) {
    return [
      `a qualified name ${pattern} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  }
  const problems: string[] = []
  const name = parts.at(-1) ?? ''
  const prefix = parts.length === 2 ? parts[0] : undefined
  if (prefix === '') problems.push('prefix part must be non-empty')
  else if (prefix !== undefined) {
    problems.push(...dnsSubdomainProblems(prefix).map((problem) => `prefix part ${problem}`))
  }
  if (name === '') problems.push('name part must be non-empty')
  problems.push(...lengthProblems(name, 63).map((problem) => `name part ${problem}`))
  if (!qualifiedPattern.test(name)) problems.push(`name part ${pattern}`)
  return problems
}

export function labelValueProblems(value: string): string[] {
  const problems = lengthProblems(value, 63)
  if (labelValuePattern.test(value)) return problems
  const message =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
  return [...problems, withPattern(message, LABEL_VALUE, 'MyValue', 'my_value', '12345')]
}

/** 1 to 65535. */
export function portNumberProblems(value: number): string[] {
  return value >= 1 && value <= 65_535 ? [] : ['must be between 1 and 65535, inclusive']
}

export function isDnsLabel(value: string): boolean {
  return dnsLabelProblems(value).length === 0
}

export function isDnsSubdomain(value: string): boolean {
  return dnsSubdomainProblems(value).length === 0
}

export function isPortName(value: string): boolean {
  return portNameProblems(value).length === 0
}

function whole(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`)
}

function lengthProblems(value: string, limit: number): string[] {
  return value.length > limit ? [`must be no more than ${limit} characters`] : []
}

/** Go's RegexError, double blank and all. */
function withPattern(message: string, pattern: string, ...examples: readonly string[]): string {
  const listed = examples.map((example) => `'${example}', `).join(' or ')
  return `${message} (e.g. ${listed}regex used for validation is '${pattern}')`
}
