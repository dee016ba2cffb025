import { isReady } from './build-checks.ts'
import type { Check, CheckStatus } from './check.ts'

const colours: Readonly<Record<CheckStatus, string>> = {
  ok: '\u001b[32m',
  warning: '\u001b[33m',
  failed: '\u001b[31m',
  unknown: '\u001b[36m',
}
const plain = '\u001b[0m'

export interface ChecksFormat {
  readonly isColoured: boolean
  readonly uid: number
}

/** One line a check, its remedy indented under it, and a last line that sums up. */
export function formatChecks(checks: readonly Check[], { isColoured, uid }: ChecksFormat): string {
  const titleWidth = Math.max(...checks.map(({ title }) => title.length))
  const statusWidth = Math.max(...checks.map(({ status }) => status.length))
  const indent = ' '.repeat(statusWidth + 2)
  const paint = (status: CheckStatus, text: string): string =>
    isColoured ? `${colours[status]}${text}${plain}` : text
  const lines = checks.flatMap(({ title, status, found, remedy }) => [
    `${paint(status, status.padEnd(statusWidth))}  ${title.padEnd(titleWidth)}  ${found}`,
    ...(remedy?.split('\n').map((line) => `${indent}  ${line}`) ?? []),
  ])
  return [...lines, '', paint(isReady(checks) ? 'ok' : 'failed', sumUp(checks, uid)), ''].join('\n')
}

function sumUp(checks: readonly Check[], uid: number): string {
  const count = (status: CheckStatus) => checks.filter((one) => one.status === status).length
  const who = uid === 0 ? 'as root' : 'as an ordinary user'
  const [failures, warnings, unknowns] = [count('failed'), count('warning'), count('unknown')]
  if (failures > 0)
    return `this machine cannot run a lab ${who} yet: ${plural(failures, 'check')} failed; what to do stands under each`
  const notes = [
    ...(warnings > 0 ? [`${plural(warnings, 'warning')}: some things will not work`] : []),
    ...(unknowns > 0 ? [`${plural(unknowns, 'check')} could not be made`] : []),
  ]
  return [`this machine can run a lab ${who}`, ...notes].join('; ')
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
