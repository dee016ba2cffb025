import { type Check, check, type Finding, failed, ok, unknown, warning } from './check.ts'
import {
  findStartCause,
  hasSysAdmin,
  LEAVE_CONTAINER,
  relaxAppArmor,
  useWsl2,
  wslVersion,
} from './find-start-cause.ts'
import { probeChecks } from './judge-probes.ts'
import { iptablesCheck, toolCheck } from './judge-tools.ts'
import type { MachineFacts, SysctlName } from './machine-facts.ts'
import { setSysctl } from './remedies.ts'

/** Judges a machine: always the same checks in the same order, those of the sandbox `unknown` where it did not start. */
export function buildChecks(facts: MachineFacts): Check[] {
  return [
    check('node', 'Node.js', judgeNode(facts)),
    check('kernel', 'Linux kernel', judgeKernel(facts)),
    check('wsl', 'WSL', judgeWsl(facts)),
    check('container', 'container', judgeContainer(facts)),
    check('userns-clone', 'user namespaces', judgeUsernsClone(facts)),
    check('max-user-namespaces', 'user namespace limit', judgeMaxUserNamespaces(facts)),
    check('max-net-namespaces', 'network namespace limit', judgeMaxNetNamespaces(facts)),
    check('apparmor-userns', 'AppArmor', judgeAppArmor(facts)),
    toolCheck(facts, 'unshare'),
    toolCheck(facts, 'setpriv'),
    check('sandbox', 'sandbox starts', judgeSandbox(facts)),
    check('capabilities', 'privilege inside', judgeCapabilities(facts)),
    iptablesCheck(facts),
    ...probeChecks(facts),
    ...(['nft', 'conntrack', 'tcpdump', 'ip', 'ss', 'curl', 'ping'] as const).map((tool) =>
      toolCheck(facts, tool),
    ),
    check('memory', 'memory', judgeMemory(facts)),
  ]
}

/** Whether a lab is possible: nothing has failed. */
export const isReady = (checks: readonly Check[]): boolean =>
  checks.every(({ status }) => status !== 'failed')

function judgeNode({ nodeVersion }: MachineFacts): Finding {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return ok(nodeVersion)
  return failed(`${nodeVersion}; 20.19 or newer is needed`, 'install a newer Node.js: https://nodejs.org/')
}

function judgeKernel({ kernelRelease, architecture }: MachineFacts): Finding {
  const [major = 0, minor = 0] = kernelRelease.split(/[.-]/).map(Number)
  const found = `${kernelRelease} (${architecture})`
  if (major < 4 || (major === 4 && minor < 18))
    return failed(`${found}; 4.18 or newer is needed`, 'use a newer release of your distribution')
  if (major < 5 || (major === 5 && minor < 4))
    return warning(`${found}; labs are tried on 5.4 and newer`, 'use a newer release of your distribution')
  return ok(found)
}

function judgeWsl(facts: MachineFacts): Finding {
  switch (wslVersion(facts.kernelRelease)) {
    case 1:
      return failed('WSL 1, which has no Linux kernel', useWsl2(facts))
    case 2:
      return ok('WSL 2; what its kernel can do is tried below')
    case undefined:
      return ok('no')
  }
}

function judgeContainer(facts: MachineFacts): Finding {
  const { container, sandbox } = facts
  if (!container) return ok('no')
  if (sandbox.state === 'entered') return ok(`${container}; it lets a lab start`)
  const isToBlame =
    sandbox.state === 'refused' && findStartCause(facts, sandbox.said).remedy === LEAVE_CONTAINER
  return isToBlame ? failed(`${container}; it lets no lab start`, LEAVE_CONTAINER) : unknown(container)
}

const notForRoot = ok('root needs none')

function judgeUsernsClone(facts: MachineFacts): Finding {
  if (facts.uid === 0) return notForRoot
  const name = 'kernel.unprivileged_userns_clone' satisfies SysctlName
  if (facts.sysctls[name] === 0) return failed(`${name} is 0`, setSysctl(facts, name, 1))
  return ok('allowed to ordinary users')
}

function judgeMaxUserNamespaces(facts: MachineFacts): Finding {
  if (facts.uid === 0) return notForRoot
  const name = 'user.max_user_namespaces' satisfies SysctlName
  const limit = facts.sysctls[name]
  if (limit === undefined) return unknown(`${name} cannot be read`)
  if (limit === 0) return failed(`${name} is 0`, setSysctl(facts, name, 15000))
  return ok(String(limit))
}

/** Three nodes, the client, the switch, and as many pods as a workshop's manifests make. */
const FEW_NET_NAMESPACES = 100

function judgeMaxNetNamespaces(facts: MachineFacts): Finding {
  const name = 'user.max_net_namespaces' satisfies SysctlName
  const limit = facts.sysctls[name]
  if (limit === undefined) return unknown(`${name} cannot be read`)
  const remedy = setSysctl(facts, name, 15000)
  if (limit === 0) return failed(`${name} is 0`, remedy)
  if (limit < FEW_NET_NAMESPACES)
    return warning(`${name} is ${limit}: each pod and node takes one, so large labs do not fit`, remedy)
  return ok(String(limit))
}

function judgeAppArmor(facts: MachineFacts): Finding {
  if (facts.uid === 0) return ok('does not restrict root')
  const name = 'kernel.apparmor_restrict_unprivileged_userns' satisfies SysctlName
  if (facts.sysctls[name] !== 1) return ok('does not restrict user namespaces')
  const { sandbox } = facts
  if (sandbox.state === 'not-tried') return unknown(`${name} is 1`)
  if (sandbox.state === 'entered' && hasSysAdmin(sandbox.capabilities) && !isDenied(facts))
    return ok(`${name} is 1, but Chainwalk may`)
  return failed(`${name} is 1: user namespaces come up without capabilities`, relaxAppArmor(facts))
}

/** With some profiles the capabilities are shown, and refused when they are used. */
function isDenied({ sandbox }: MachineFacts): boolean {
  const files = sandbox.state === 'entered' ? sandbox.probes.files : undefined
  return files?.outcome === 'fails' && /EPERM|EACCES|not permitted|denied/.test(files.said)
}

function judgeSandbox(facts: MachineFacts): Finding {
  const { sandbox } = facts
  switch (sandbox.state) {
    case 'not-tried':
      return unknown(sandbox.reason)
    case 'refused': {
      const { cause, remedy } = findStartCause(facts, sandbox.said)
      return failed(cause, remedy)
    }
    case 'entered':
      if (!sandbox.brokenOff) return ok(facts.uid === 0 ? 'as root' : 'as an ordinary user')
      return failed(`it broke off: ${sandbox.brokenOff}`, breakRemedy(sandbox.brokenOff))
  }
}

const breakRemedy = (brokenOff: string): string =>
  /koffi|\.node\b|Cannot find/.test(brokenOff)
    ? 'npm ci'
    : 'try again; where the machine is busy, a probe may have run out of time'

function judgeCapabilities(facts: MachineFacts): Finding {
  const { sandbox, uid } = facts
  if (uid === 0 && !hasSysAdmin(facts.capabilities))
    return failed('root without CAP_SYS_ADMIN', LEAVE_CONTAINER)
  if (sandbox.state !== 'entered') return unknown('the sandbox did not start')
  if (hasSysAdmin(sandbox.capabilities)) return ok('CAP_SYS_ADMIN')
  const { cause, remedy } = findStartCause(facts, 'Operation not permitted')
  return failed(`the sandbox has no capabilities: ${cause}`, remedy)
}

const LITTLE_MEMORY_BYTES = 400 * 1024 * 1024

function judgeMemory({ availableMemoryBytes: bytes }: MachineFacts): Finding {
  if (bytes === undefined) return unknown('cannot be read')
  const found = `${Math.floor(bytes / 1024 / 1024)} MB available`
  if (bytes < LITTLE_MEMORY_BYTES)
    return warning(`${found}; a lab with 100 pods takes about 200 MB`, 'close other programs')
  return ok(found)
}
