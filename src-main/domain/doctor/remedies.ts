import type { MachineFacts, PackageManager, SysctlName } from './machine-facts.ts'

type Machine = Pick<MachineFacts, 'uid' | 'packageManager' | 'systemTools'>

/** A command line for an administrator: as root as it is, for others with sudo. */
export function asRoot({ uid }: Pick<MachineFacts, 'uid'>, command: string): string {
  return uid === 0 ? command : `sudo ${command}`
}

/** `sudo apt-get install -y --no-install-recommends tcpdump`, or a sentence for a distribution not known here. */
export function installCommand(machine: Machine, tool: string): string {
  const { packageManager, systemTools } = machine
  const entry = systemTools.tools.find(({ commands }) => commands.includes(tool))
  if (!packageManager || !entry) return `install ${tool} with your distribution's package manager`
  return installPackage(machine, packageManager, entry.packages[packageManager])
}

function installPackage(machine: Machine, manager: PackageManager, name: string): string {
  return asRoot(machine, [...machine.systemTools.install[manager], name].join(' '))
}

export function setSysctl(machine: Machine, name: SysctlName, value: number): string {
  return [
    asRoot(machine, `sysctl -w ${name}=${value}`),
    `this lasts until the next restart; to keep it, put "${name} = ${value}" into /etc/sysctl.d/60-chainwalk.conf`,
  ].join('\n')
}

/** Loads modules by hand: a user namespace may not, where the kernel does not do it by itself. */
export function loadModules(machine: Machine, modules: readonly string[]): string {
  const several = modules.length > 1 ? '-a ' : ''
  const hint =
    machine.packageManager === 'dnf'
      ? installPackage(machine, 'dnf', 'kernel-modules-extra')
      : "install your distribution's package of extra kernel modules, if it has one"
  return [
    asRoot(machine, `modprobe ${several}${modules.join(' ')}`),
    `this lasts until the next restart; where the module is not found: ${hint}`,
  ].join('\n')
}
