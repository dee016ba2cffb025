import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type MachineFacts,
  type ProbeName,
  type ProbeOutcome,
  probeNames,
  type SandboxFacts,
  type SystemTools,
  toolNames,
} from '../../../src-main/domain/doctor/machine-facts.ts'
import { ruleProbeNames } from '../../../src-main/domain/doctor/rule-probes.ts'

export const systemTools = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../lab-scripts/system-tools.json'), 'utf8'),
) as SystemTools

const ALL_CAPABILITIES = '000001ffffffffff'

/** A sandbox in which everything works but the given probes. */
export function sandbox(but: Partial<Record<ProbeName, ProbeOutcome | string>> = {}): SandboxFacts {
  const names: ProbeName[] = [...probeNames, ...ruleProbeNames.map((name) => `rule-${name}` as const)]
  const probes = Object.fromEntries(
    names.map((name): [string, ProbeOutcome] => {
      const given = but[name] ?? { outcome: 'works' }
      return [name, typeof given === 'string' ? { outcome: 'fails', said: given } : given]
    }),
  )
  return { state: 'entered', capabilities: ALL_CAPABILITIES, probes, brokenOff: undefined }
}

export const refused = (said: string): SandboxFacts => ({ state: 'refused', said })

/** An ordinary user's laptop on which nothing is amiss, with changes. */
export function facts(changes: Partial<MachineFacts> = {}): MachineFacts {
  return {
    nodeVersion: '20.19.0',
    architecture: 'x64',
    kernelRelease: '6.8.0-45-generic',
    wslDistribution: undefined,
    container: undefined,
    uid: 1000,
    capabilities: '0000000000000000',
    tools: new Set(toolNames),
    iptables: [
      { command: 'iptables-nft', version: 'iptables v1.8.9 (nf_tables)' },
      { command: 'iptables', version: 'iptables v1.8.9 (nf_tables)' },
    ],
    packageManager: 'apt',
    systemTools,
    availableMemoryBytes: 4 * 1024 ** 3,
    sandbox: sandbox(),
    ...changes,
    sysctls: sysctls(changes.sysctls),
  }
}

export function sysctls(changes: Partial<MachineFacts['sysctls']> = {}): MachineFacts['sysctls'] {
  return {
    'kernel.unprivileged_userns_clone': undefined,
    'kernel.apparmor_restrict_unprivileged_userns': undefined,
    'user.max_user_namespaces': 63000,
    'user.max_net_namespaces': 63000,
    'net.core.wmem_default': 212992,
    'net.bridge.bridge-nf-call-iptables': undefined,
    ...changes,
  }
}

export const root = { uid: 0, capabilities: ALL_CAPABILITIES }

export const without = (...missing: string[]): MachineFacts['tools'] =>
  new Set(toolNames.filter((name) => !missing.includes(name)))
