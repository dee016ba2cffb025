import { existsSync, readFileSync } from 'node:fs'
import { release } from 'node:os'
import systemTools from '../../../lab-scripts/system-tools.json'
import type { CheapFacts } from '../../domain/doctor/find-start-cause.ts'
import {
  type IptablesProgram,
  type MachineFacts,
  type PackageManager,
  type SandboxFacts,
  type SysctlName,
  sysctlNames,
  toolNames,
} from '../../domain/doctor/machine-facts.ts'
import { findTool } from '../command/find-tool.ts'
import { runCommand } from '../command/run-command.ts'

/** What can be learned by reading a few files: some milliseconds, and no process is started. */
export function gatherCheapFacts(): CheapFacts {
  return {
    nodeVersion: process.versions.node,
    architecture: process.arch,
    kernelRelease: release(),
    wslDistribution: process.env['WSL_DISTRO_NAME'],
    container: findContainer(),
    uid: process.getuid?.() ?? 0,
    capabilities: readCapabilities(),
    sysctls: Object.fromEntries(sysctlNames.map((name) => [name, readSysctl(name)])) as Record<
      SysctlName,
      number | undefined
    >,
    tools: new Set(toolNames.filter((name) => findTool(name) !== undefined)),
    packageManager: findPackageManager(),
    systemTools,
    availableMemoryBytes: readAvailableMemory(),
  }
}

export async function gatherFacts(trySandbox: () => Promise<SandboxFacts>): Promise<MachineFacts> {
  const [iptables, sandbox] = await Promise.all([findIptables(), trySandbox()])
  return { ...gatherCheapFacts(), iptables, sandbox }
}

/** CapEff of this process, hexadecimal. */
export function readCapabilities(): string {
  return /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? '0'
}

/** A file's text, or undefined where it is missing or closed to this user. */
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EPERM') return undefined
    throw error
  }
}

function readSysctl(name: SysctlName): number | undefined {
  const text = readIfThere(`/proc/sys/${name.replaceAll('.', '/')}`)
  return text === undefined ? undefined : Number(text)
}

function readAvailableMemory(): number | undefined {
  const kilobytes = /^MemAvailable:\s*(\d+) kB$/m.exec(readIfThere('/proc/meminfo') ?? '')?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
}

/** Each container program leaves its own mark; systemd and podman tell theirs in a variable. */
function findContainer(): string | undefined {
  const { env } = process
  if (existsSync('/.flatpak-info')) return 'flatpak'
  if (env['SNAP'] && process.execPath.startsWith('/snap/')) return 'snap'
  if (existsSync('/.dockerenv')) return 'docker'
  if (existsSync('/run/.containerenv')) return 'podman'
  const told = readIfThere('/run/systemd/container')?.trim() || env['container']
  if (told) return told
  return env['KUBERNETES_SERVICE_HOST'] ? 'kubernetes' : undefined
}

function findPackageManager(): PackageManager | undefined {
  return (Object.keys(systemTools.install) as PackageManager[]).find(
    (manager) => findTool(systemTools.install[manager][0] ?? '') !== undefined,
  )
}

const VERSION_TIMEOUT_MS = 5000

/** The iptables programs that are installed and answer; one that is broken is as good as none. */
async function findIptables(): Promise<IptablesProgram[]> {
  const commands = ['iptables-nft', 'iptables', 'iptables-legacy'] as const
  const programs = await Promise.all(
    commands.map(async (command): Promise<IptablesProgram | undefined> => {
      const path = findTool(command)
      if (!path) return undefined
      try {
        const { code, stdout } = await runCommand([path, '-V'], { timeoutMs: VERSION_TIMEOUT_MS })
        return code === 0 ? { command, version: stdout.trim() } : undefined
      } catch {
        return undefined
      }
    }),
  )
  return programs.filter((program) => program !== undefined)
}
