import { expect, it } from 'vitest'
import {
  findStartCause,
  firstLine,
  formatStartCause,
} from '../../../src-main/domain/doctor/find-start-cause.ts'
import { explainStartFailure } from '../../../src-main/system/doctor/explain-start-failure.ts'
import { facts, sysctls } from './healthy-facts.ts'

it('says cause and remedy in one or two sentences', () => {
  const machine = facts({ sysctls: sysctls({ 'user.max_user_namespaces': 0 }) })
  const said = 'unshare: unshare fehlgeschlagen: Auf dem Gerät ist kein Speicherplatz mehr verfügbar'
  const text = formatStartCause(findStartCause(machine, said))
  expect(text).toMatch(
    /^No user namespace is allowed \(user\.max_user_namespaces is 0\)\. What helps: sudo sysctl -w user\.max_user_namespaces=15000 \(/,
  )
  expect(text).not.toContain('\n')
})

it('names the limits where they are reached', () => {
  const { cause } = findStartCause(facts(), 'unshare: unshare failed: No space left on device')
  expect(cause).toContain('user.max_net_namespaces is 63000')
})

it('repeats what was said where it knows nothing better', () => {
  expect(findStartCause(facts(), 'holder: strange thing').cause).toContain('holder: strange thing')
  expect(findStartCause(facts(), '').cause).toContain('without a word')
})

it('does not blame a container or AppArmor for a fault of its own', () => {
  const restricted = sysctls({ 'kernel.apparmor_restrict_unprivileged_userns': 1 })
  for (const machine of [facts({ container: 'docker' }), facts({ sysctls: restricted })]) {
    expect(findStartCause(machine, "Error: Cannot find module 'koffi'").remedy).toBe('npm ci')
    expect(findStartCause(machine, 'TypeError: x is not a function').cause).toContain('TypeError: x is')
    expect(findStartCause(machine, 'unshare: unshare fehlgeschlagen: nicht erlaubt').cause).toMatch(
      /docker|AppArmor/,
    )
  }
})

it('finds the line that matters in a stack trace', () => {
  const trace = [
    'node:internal/modules/cjs/loader:1228',
    '  throw err;',
    '  ^',
    '',
    "Error: Cannot find module 'koffi'",
    '    at somewhere',
  ].join('\n')
  expect(firstLine(trace)).toBe("Error: Cannot find module 'koffi'")
  expect(findStartCause(facts(), trace).remedy).toBe('npm ci')
})

it('explains a failure on this machine', async () => {
  expect(await explainStartFailure("unshare: unrecognized option '--kill-child'")).toContain('. What helps: ')
})
