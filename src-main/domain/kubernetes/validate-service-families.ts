import type { Fields } from './decode-fields.ts'
import { duplicateValue, forbidden, invalidValue, unsupportedValue } from './field-messages.ts'
import { allClusterIps, type GivenServiceSpec, isHeadless } from './given-service.ts'
import { IP_DETAIL, ipFamilyOf } from './ip-text.ts'
import type { IpFamily } from './objects.ts'

const FAMILIES: readonly string[] = ['IPv4', 'IPv6'] satisfies IpFamily[]
const FAMILY_POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack']

/** clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy, among themselves. */
export function validateServiceFamilies(given: GivenServiceSpec, spec: Fields): void {
  if (given.type === 'ExternalName') forbidFamilies(given, spec)
  else {
    validateFamilies(given, spec)
    validateClusterIps(given, spec)
  }
}

function forbidFamilies(given: GivenServiceSpec, { report, path }: Fields): void {
  const message = forbidden('may not be set for ExternalName services')
  const clusterIps = path.child('clusterIPs')
  if (allClusterIps(given).length > 0) {
    report.error(clusterIps, message, given.clusterIPs.length > 0 ? clusterIps : path.child('clusterIP'))
  }
  if (given.ipFamilies.length > 0) report.error(path.child('ipFamilies'), message)
  if (given.ipFamilyPolicy !== undefined) report.error(path.child('ipFamilyPolicy'), message)
}

function validateFamilies(given: GivenServiceSpec, { report, path }: Fields): void {
  given.ipFamilies.forEach((family, index) => {
    const place = path.child('ipFamilies', index)
    if (!FAMILIES.includes(family)) report.error(place, unsupportedValue(family, FAMILIES))
    if (given.ipFamilies.indexOf(family) < index) report.error(place, duplicateValue(family))
  })
  const place = path.child('ipFamilyPolicy')
  const policy = given.ipFamilyPolicy ?? 'SingleStack'
  if (!FAMILY_POLICIES.includes(policy)) report.error(place, unsupportedValue(policy, FAMILY_POLICIES))
  if (policy !== 'SingleStack' || (isHeadless(given) && given.ipFamilyPolicy === undefined && isOpen(given)))
    return
  const both = "must be 'RequireDualStack' or 'PreferDualStack' when multiple"
  if (allClusterIps(given).length === 2) {
    report.error(
      place,
      invalidValue(policy, `${both} cluster IPs are specified`),
      atPolicy(given, 'clusterIPs', path),
    )
  }
  if (given.ipFamilies.length === 2) {
    report.error(
      place,
      invalidValue(policy, `${both} IP families are specified`),
      atPolicy(given, 'ipFamilies', path),
    )
  }
}

/** Without a selector a headless Service gets RequireDualStack by default. */
function isOpen(given: GivenServiceSpec): boolean {
  return Object.keys(given.selector).length === 0
}

/** The policy where it is written, else the list that needs another one than the default. */
function atPolicy(given: GivenServiceSpec, list: string, path: Fields['path']): Fields['path'] {
  return path.child(given.ipFamilyPolicy === undefined ? list : 'ipFamilyPolicy')
}

function validateClusterIps(given: GivenServiceSpec, { report, path }: Fields): void {
  const all = allClusterIps(given)
  const place = path.child('clusterIPs')
  const isList = given.clusterIPs.length > 0
  const whole = isList ? place : path.child('clusterIP')
  const at = (index: number) => (isList ? place.child(index) : whole)
  const invalidList = (detail: string) => report.error(place, invalidValue(all, detail), whole)

  if (isList && given.clusterIP === '') {
    invalidList('must be empty when `clusterIP` is not specified; set clusterIP to the first of clusterIPs')
  } else if (isList && given.clusterIP !== given.clusterIPs[0])
    invalidList('first value must match `clusterIP`')

  let hasInvalidIps = false
  all.forEach((ip, index) => {
    const isNone = index === 0 && ip === 'None'
    if (isNone && all.length === 1) return
    if (!isNone && ipFamilyOf(ip)) return
    hasInvalidIps = true
    if (isNone) invalidList("'None' must be the first and only value")
    else report.error(place.child(index), invalidValue(ip, IP_DETAIL), at(index))
  })
  if (all.length > 2) invalidList('may only hold up to 2 values')
  if (hasInvalidIps || isHeadless(given)) return

  const families = all.map(ipFamilyOf)
  if (new Set(families).size < families.length)
    invalidList('may specify no more than one IP for each IP family')
  all.forEach((ip, index) => {
    const family = given.ipFamilies[index]
    if (family === undefined || !FAMILIES.includes(family) || families[index] === family) return
    const detail = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``
    report.error(place.child(index), invalidValue(ip, detail), at(index))
  })
}
