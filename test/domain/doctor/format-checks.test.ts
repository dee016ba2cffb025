import { expect, it } from 'vitest'
import { buildChecks } from '../../../src-main/domain/doctor/build-checks.ts'
import { formatChecks } from '../../../src-main/domain/doctor/format-checks.ts'
import { facts, refused, root, sandbox, sysctls, without } from './healthy-facts.ts'

const user = { isColoured: false, uid: 1000 }

it('writes aligned lines with a word for the status, remedies under them, and sums up', () => {
  const text = formatChecks(buildChecks(facts({ tools: without('curl') })), user)
  const lines = text.trimEnd().split('\n')
  const at = lines.findIndex((line) => line.startsWith('warning'))
  expect(lines[at]).toMatch(/^warning {2}curl +not installed: /)
  expect(lines[at + 1]).toMatch(/^ {11}sudo apt-get install .* curl$/)
  const columns = lines.filter((line) => /^(ok|warning)/.test(line)).map((line) => line.slice(9).search(/\S/))
  expect(new Set(columns)).toEqual(new Set([0]))
  expect(lines.at(-1)).toBe(
    'this machine can run a lab as an ordinary user; 1 warning: some things will not work',
  )
})

it('sums up for root and for a machine that fails', () => {
  expect(formatChecks(buildChecks(facts(root)), { isColoured: false, uid: 0 })).toMatch(
    /\n\nthis machine can run a lab as root\n$/,
  )
  const checks = buildChecks(
    facts({
      sysctls: sysctls({ 'user.max_user_namespaces': 0 }),
      sandbox: refused('unshare: unshare failed: No space left on device'),
    }),
  )
  expect(formatChecks(checks, user)).toMatch(/cannot run a lab as an ordinary user yet: 2 checks failed/)
})

it('colours the status only where it may, and nothing is lost without', () => {
  const checks = buildChecks(facts({ sandbox: sandbox({ trace: 'refused' }) }))
  const coloured = formatChecks(checks, { ...user, isColoured: true })
  expect(coloured).toContain('\u001b[33mwarning')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
  expect(coloured.replaceAll(/\u001b\[\d+m/g, '')).toBe(formatChecks(checks, user))
})
