import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, resolve } from 'node:path'
import { findTool } from '../command/find-tool.ts'
import type { Backend } from '../iptables/iptables-tool.ts'
import { ignoreIdentityChanges } from '../kernel/identity-filter.ts'
import { mount, mountFlags, mountSetattrRecursiveReadOnly } from '../kernel/mount.ts'
import { sethostname } from '../kernel/namespace.ts'
import { SOCKET_DIRECTORY } from './find-labs.ts'

/** Where the lab keeps its own files inside the sandbox. */
export const LAB_FILES = '/run/chainwalk'
export const HOSTS_FILE = `${LAB_FILES}/hosts`
/** First in every shell's PATH: makes `iptables` the back end that the lab writes with. */
const LAB_PROGRAMS = `${LAB_FILES}/bin`
export const SHELL_HOME = '/root'

export interface SandboxOptions {
  readonly name: string
  readonly rootless: boolean
  readonly backend: Backend
  /** Where the program lies, which loads parts of itself later; its lab-scripts are shown in every shell as ~/lab. */
  readonly program: string
}

/**
 * Turns the namespaces that this process was started in into the lab's sandbox: the machine's files read-only,
 * with fresh /tmp, /run, /var/log, /dev/shm and homes of its own. Must run before anything else writes or
 * opens files by name. Everything is gone with the mount namespace.
 */
export function enterSandbox(options: SandboxOptions): void {
  process.chdir('/')
  // Opened before a fresh home covers it.
  const packages = folderWithPackages(options.program)
  const opened = openSync(packages, constants.O_RDONLY | constants.O_DIRECTORY)
  // umask would turn 1777 into 1755.
  process.umask(0o022)
  mount(null, '/', null, mountFlags.recursive | mountFlags.private)
  mountSetattrRecursiveReadOnly('/')
  mount('proc', '/proc', 'proc', mountFlags.noSuid | mountFlags.noDevices | mountFlags.noExec)
  mountSysfs()
  mountFresh('/run', '0755')
  mountFresh('/tmp', '1777')
  for (const [path, mode] of [
    ['/var/log', '0755'],
    ['/var/tmp', '1777'],
    ['/dev/shm', '1777'],
    ['/home', '0755'],
    [SHELL_HOME, '0700'],
  ] as const)
    if (existsSync(path)) mountFresh(path, mode)
  const home = homedir()
  if (home !== SHELL_HOME && !home.startsWith('/home/') && !home.startsWith('/var/') && existsSync(home))
    mountFresh(home, '0700')
  mount(
    'devpts',
    '/dev/pts',
    'devpts',
    mountFlags.noSuid | mountFlags.noExec,
    'newinstance,ptmxmode=0666,mode=620',
  )
  mkdirSync(SOCKET_DIRECTORY, { mode: 0o700, recursive: true })
  if (!existsSync(packages)) {
    mkdirSync(packages, { recursive: true })
    mount(`/proc/self/fd/${opened}`, packages, null, mountFlags.bind)
  }
  closeSync(opened)
  if (existsSync(`${options.program}/lab-scripts`)) {
    mkdirSync(`${SHELL_HOME}/lab`)
    mount(`${options.program}/lab-scripts`, `${SHELL_HOME}/lab`, null, mountFlags.bind)
  }
  writeNameFiles()
  linkPrograms(options.backend)
  writeShellFiles(options.name)
  sethostname(options.name)
  if (options.rootless) ignoreIdentityChanges()
}

/** The program's own folder or the nearest above it that holds node_modules, as Node looks for packages. */
function folderWithPackages(program: string): string {
  for (let folder = program; folder !== '/'; folder = dirname(folder))
    if (existsSync(`${folder}/node_modules`)) return folder
  return program
}

/** A sysfs that shows the network namespace which the calling thread is in. */
export function mountSysfs(): void {
  mount('sysfs', '/sys', 'sysfs', mountFlags.noSuid | mountFlags.noDevices | mountFlags.noExec)
}

function mountFresh(path: string, mode: string): void {
  mount('tmpfs', path, 'tmpfs', mountFlags.noSuid | mountFlags.noDevices, `mode=${mode}`)
}

/** /etc/hosts and /etc/resolv.conf of the lab: Service names from a file, and no name server to wait for. */
function writeNameFiles(): void {
  writeFileSync(HOSTS_FILE, '127.0.0.1 localhost\n')
  const resolver = `${LAB_FILES}/resolv.conf`
  writeFileSync(
    resolver,
    'search default.svc.cluster.local svc.cluster.local cluster.local\nnameserver 127.0.0.1\noptions timeout:1 attempts:1\n',
  )
  bindOver(HOSTS_FILE, '/etc/hosts')
  bindOver(resolver, '/etc/resolv.conf')
}

/** /etc/resolv.conf is often a link into /run, which is fresh here: then the file that it points to is made. */
function bindOver(source: string, target: string): void {
  try {
    mount(source, realpathSync(target), null, mountFlags.bind)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') throw error
    const missing = linkTarget(target)
    if (!missing?.startsWith('/run/')) return // a machine without that file has no use for ours
    mkdirSync(dirname(missing), { recursive: true })
    symlinkSync(source, missing)
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return resolve(dirname(path), readlinkSync(path))
  } catch {
    return undefined // neither a link nor there
  }
}

function linkPrograms(backend: Backend): void {
  mkdirSync(LAB_PROGRAMS)
  for (const family of ['iptables', 'ip6tables'])
    for (const tool of ['', '-save', '-restore']) {
      const program = findTool(`${family}-${backend}${tool}`)
      if (program) symlinkSync(program, `${LAB_PROGRAMS}/${family}${tool}`)
    }
}

function writeShellFiles(lab: string): void {
  writeFileSync(
    `${SHELL_HOME}/.bashrc`,
    [
      "PS1='\\u@\\h:\\w\\$ '",
      "alias ls='ls --color=auto' ll='ls -l' grep='grep --color=auto'",
      'HISTFILE=',
      '',
    ].join('\n'),
  )
  writeFileSync(`${LAB_FILES}/name`, `${lab}\n`)
  chmodSync(LAB_FILES, 0o700)
}

/** The environment of every command in the lab: nothing of the user's own, bar the terminal's language. */
export function shellEnvironment(hostname: string): Record<string, string> {
  return {
    HOME: SHELL_HOME,
    USER: 'root',
    LOGNAME: 'root',
    SHELL: '/bin/bash',
    HOSTNAME: hostname,
    PATH: `${LAB_PROGRAMS}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    LANG: process.env['LANG'] ?? 'C.UTF-8',
    TERM: 'xterm-256color',
  }
}
