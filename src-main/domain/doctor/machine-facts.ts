import type { RuleProbeName } from './rule-probes.ts'

/** What was seen on a machine, without any judgement: what `buildChecks` turns into checks. */
export interface MachineFacts {
  /** `20.19.0`, without the v. */
  readonly nodeVersion: string
  /** Node's name of it: `x64`, `arm64`. */
  readonly architecture: string
  /** `uname -r`. */
  readonly kernelRelease: string
  /** $WSL_DISTRO_NAME. */
  readonly wslDistribution: string | undefined
  /** `docker`, `podman`, `flatpak`, `snap` or another container's name; undefined on a plain machine. */
  readonly container: string | undefined
  readonly uid: number
  /** CapEff of this process, hexadecimal. */
  readonly capabilities: string
  readonly sysctls: Readonly<Record<SysctlName, number | undefined>>
  readonly tools: ReadonlySet<string>
  readonly iptables: readonly IptablesProgram[]
  readonly packageManager: PackageManager | undefined
  readonly systemTools: SystemTools
  readonly availableMemoryBytes: number | undefined
  readonly sandbox: SandboxFacts
}

export const sysctlNames = [
  'kernel.unprivileged_userns_clone',
  'kernel.apparmor_restrict_unprivileged_userns',
  'user.max_user_namespaces',
  'user.max_net_namespaces',
  'net.core.wmem_default',
  'net.bridge.bridge-nf-call-iptables',
] as const
export type SysctlName = (typeof sysctlNames)[number]

/** The commands that a lab and its lessons run, iptables aside. */
export const toolNames = [
  'unshare',
  'setpriv',
  'ip',
  'ss',
  'curl',
  'tcpdump',
  'conntrack',
  'nft',
  'ping',
] as const
export type ToolName = (typeof toolNames)[number]

/** A program by that name and what its `-V` printed: `iptables v1.8.9 (nf_tables)`. */
export interface IptablesProgram {
  readonly command: 'iptables-nft' | 'iptables' | 'iptables-legacy'
  readonly version: string
}

export type PackageManager = 'apt' | 'dnf' | 'pacman' | 'zypper'

/** The shape of lab-scripts/system-tools.json. */
export interface SystemTools {
  readonly install: Readonly<Record<PackageManager, readonly string[]>>
  readonly tools: readonly {
    readonly commands: readonly string[]
    readonly packages: Readonly<Record<PackageManager, string>>
  }[]
}

/** How far a throw-away sandbox came. */
export type SandboxFacts =
  | { readonly state: 'not-tried'; readonly reason: string }
  | { readonly state: 'refused'; readonly said: string }
  | {
      readonly state: 'entered'
      /** CapEff of process 1's child inside, hexadecimal. */
      readonly capabilities: string
      readonly probes: Readonly<Partial<Record<ProbeName, ProbeOutcome>>>
      /** Why probes are missing: the program inside was stopped or broke. */
      readonly brokenOff: string | undefined
    }

export const probeNames = [
  'files',
  'network-namespace',
  'veth',
  'bridge',
  'sysctls',
  'bridge-netfilter',
  'nf-tables',
  'connections',
  'trace',
  'tcpdump',
  'terminal',
] as const
export type ProbeName = (typeof probeNames)[number] | `rule-${RuleProbeName}`

export type ProbeOutcome =
  | { readonly outcome: 'works' }
  | { readonly outcome: 'fails'; readonly said: string }
  | { readonly outcome: 'skipped'; readonly reason: string }

/** One line of what the program inside the sandbox prints. */
export type ProbeReport =
  | { readonly probe: 'start'; readonly capabilities: string }
  | { readonly probe: ProbeName; readonly result: ProbeOutcome }
  | { readonly probe: 'end' }
