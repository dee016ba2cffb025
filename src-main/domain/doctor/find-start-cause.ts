import { type MachineFacts, sysctlNames } from './machine-facts.ts'
import { asRoot, installCommand, setSysctl } from './remedies.ts'

/** Why a sandbox does not start here, and what to do about it. */
export interface StartCause {
  readonly cause: string
  readonly remedy: string
}

/** All facts that cost no more than reading a few files. */
export type CheapFacts = Omit<MachineFacts, 'iptables' | 'sandbox'>

const CAP_SYS_ADMIN = 21n

/** `set` is CapEff of /proc/PID/status. */
export function hasSysAdmin(set: string): boolean {
  return /^[0-9a-f]+$/i.test(set) && ((BigInt(`0x${set}`) >> CAP_SYS_ADMIN) & 1n) === 1n
}

/** WSL 1 translates system calls: there is no Linux kernel. Its release reads `4.4.0-19041-Microsoft`. */
export function wslVersion(kernelRelease: string): 1 | 2 | undefined {
  if (/microsoft-standard|wsl2/i.test(kernelRelease)) return 2
  if (/microsoft/i.test(kernelRelease)) return 1
  return undefined
}

export function useWsl2({ wslDistribution }: Pick<MachineFacts, 'wslDistribution'>): string {
  return `wsl.exe --set-version ${wslDistribution ?? 'DISTRIBUTION'} 2\nin a Windows terminal; WSL 2 has a Linux kernel, WSL 1 has none`
}

export const LEAVE_CONTAINER =
  'run Chainwalk on the machine itself, or start the container with --privileged (or with CAP_SYS_ADMIN and CAP_NET_ADMIN, and without its seccomp and AppArmor profiles)'

export function relaxAppArmor(facts: CheapFacts): string {
  return `${setSysctl(facts, 'kernel.apparmor_restrict_unprivileged_userns', 0)}\nor start the lab as root`
}

/**
 * The most probable reason why `unshare` or the program in it ended as `said` tells. The switches that forbid it
 * speak first: unshare's words are in the user's language and the same for many reasons.
 */
export function findStartCause(facts: CheapFacts, said: string): StartCause {
  return (
    findMissingProgram(facts) ??
    findSwitch(facts) ??
    findReachedLimit(facts, said) ??
    findInText(said) ??
    (isRefusal(said) ? findObstacle(facts, said) : undefined) ?? {
      cause: said.trim() ? `the sandbox ended with: ${firstLine(said)}` : 'the sandbox ended without a word',
      remedy: 'run `chainwalk doctor`, which tries each part by itself',
    }
  )
}

function findMissingProgram(facts: CheapFacts): StartCause | undefined {
  const missing = (['unshare', 'setpriv'] as const).find((tool) => !facts.tools.has(tool))
  if (missing) return { cause: `${missing} is not installed`, remedy: installCommand(facts, missing) }
  if (wslVersion(facts.kernelRelease) === 1)
    return { cause: 'this is WSL 1, which has no Linux kernel', remedy: useWsl2(facts) }
  return undefined
}

/** Whether the kernel may have said no; unshare's own words may be in any language. */
const isRefusal = (said: string): boolean =>
  /^(unshare|setpriv): |not permitted|denied|EPERM|EACCES/m.test(said)

function findObstacle(facts: CheapFacts, said: string): StartCause {
  const { uid, container } = facts
  if (uid === 0 && !hasSysAdmin(facts.capabilities)) {
    const where = container ? ` in this ${container} container` : ''
    return { cause: `root has no CAP_SYS_ADMIN${where}`, remedy: LEAVE_CONTAINER }
  }
  if (container) return containerCause(container)
  if (uid !== 0 && facts.sysctls['kernel.apparmor_restrict_unprivileged_userns'] === 1)
    return {
      cause:
        "AppArmor takes the capabilities from ordinary users' namespaces (kernel.apparmor_restrict_unprivileged_userns is 1)",
      remedy: relaxAppArmor(facts),
    }
  return {
    cause: `the kernel refuses it (${firstLine(said)}): a seccomp filter, SELinux or another hardening may be the reason`,
    remedy:
      uid === 0
        ? 'start the lab outside of this restricted session'
        : `start the lab as root, e.g. ${asRoot(facts, 'npx chainwalk up')}`,
  }
}

const containerCause = (container: string): StartCause => ({
  cause: `this ${container} container does not let new namespaces be made or filled`,
  remedy: LEAVE_CONTAINER,
})

function findSwitch(facts: CheapFacts): StartCause | undefined {
  const { sysctls, uid } = facts
  if (uid !== 0 && sysctls['kernel.unprivileged_userns_clone'] === 0)
    return {
      cause: 'ordinary users may not make user namespaces (kernel.unprivileged_userns_clone is 0)',
      remedy: setSysctl(facts, 'kernel.unprivileged_userns_clone', 1),
    }
  if (uid !== 0 && sysctls['user.max_user_namespaces'] === 0)
    return {
      cause: 'no user namespace is allowed (user.max_user_namespaces is 0)',
      remedy: setSysctl(facts, 'user.max_user_namespaces', 15000),
    }
  if (sysctls['user.max_net_namespaces'] === 0)
    return {
      cause: 'no network namespace is allowed (user.max_net_namespaces is 0)',
      remedy: setSysctl(facts, 'user.max_net_namespaces', 15000),
    }
  return undefined
}

function findReachedLimit(facts: CheapFacts, said: string): StartCause | undefined {
  if (!/No space left on device|ENOSPC/.test(said)) return undefined
  const limits = sysctlNames.filter((name) => name.startsWith('user.max_'))
  return {
    cause: `this user has as many namespaces as allowed (${limits.map((name) => `${name} is ${facts.sysctls[name] ?? 'unknown'}`).join(', ')})`,
    remedy: `${setSysctl(facts, 'user.max_net_namespaces', 100_000)}\nor end other labs and containers`,
  }
}

function findInText(said: string): StartCause | undefined {
  const text = firstLine(said)
  if (/unrecognized option|invalid option/.test(said))
    return {
      cause: `unshare or setpriv is too old (${text})`,
      remedy: 'update util-linux to 2.33 or newer',
    }
  if (/unshare.*(Invalid argument|Function not implemented)/.test(said))
    return {
      cause: `this kernel was built without a kind of namespace that a lab needs (${text})`,
      remedy: "use your distribution's own kernel (CONFIG_USER_NS, CONFIG_NET_NS, CONFIG_PID_NS)",
    }
  if (/koffi|\.node['"\s:]|ERR_MODULE_NOT_FOUND|Cannot find (module|package)/.test(said))
    return { cause: `a node package is missing or broken (${text})`, remedy: 'npm ci' }
  return undefined
}

/** The first line that says something, of a tool's stderr. Node's stack traces begin with the place, not the error. */
export function firstLine(said: string): string {
  const lines = said
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return lines.find((line) => /^(\w*Error|unshare|setpriv|sh)\b.*: /.test(line)) ?? lines[0] ?? ''
}

const LONGEST = 300

/** All that a tool wrote in one line, without iptables' pointers to its manual. */
export function inOneLine(said: string): string {
  const text = said
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(Try `|Error occurred at line)/.test(line))
    .join(' ')
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}

/** Cause and remedy in one or two sentences, for a message beside which there is no room for more. */
export function formatStartCause({ cause, remedy }: StartCause): string {
  const [first = '', ...more] = remedy.split('\n')
  return `${upperFirst(cause)}. What helps: ${first}${more.length > 0 ? ` (${more.join('; ')})` : ''}`
}

const upperFirst = (text: string): string =>
  // Names of commands stay as they are typed.
  /^(unshare|setpriv) /.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1)
