import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** What a lab must leave as it found it. */
export interface MachineState {
  readonly links: readonly string[]
  readonly namespaces: readonly string[]
  readonly rules: string
  readonly mounts: readonly string[]
  /** Command lines of processes that have anything to do with a lab. */
  readonly processes: readonly string[]
  readonly files: readonly string[]
}

function output(command: string, ...args: string[]): string {
  const { stdout, error, status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (error) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stderr}`)
  return stdout
}

/** Counters and times differ between two looks at the same rules. */
const withoutNumbers = (save: string): string =>
  save.replace(/^#.*\n/gm, '').replace(/\[\d+:\d+\]/g, '[0:0]')

/** Namespaces that processes other than this one's children are in; lost ones would stay in this list. */
function networkNamespaces(): string[] {
  return output('lsns', '--type', 'net', '--noheadings', '--output', 'NS').trim().split(/\s+/).sort()
}

function labProcesses(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim()
        return /--chainwalk-lab|out\/main\/(cli|holder)\.js/.test(words) ? [words] : []
      } catch {
        return [] // it has just ended
      }
    })
}

function shallowFiles(): string[] {
  return ['/run', '/run/netns', tmpdir(), '/var/tmp', '/dev/shm', '/run/user'].flatMap((folder) => {
    try {
      return readdirSync(folder).map((name) => `${folder}/${name}`)
    } catch {
      return [] // not every machine has all of them
    }
  })
}

export function readMachineState(): MachineState {
  return {
    links: output('ip', '-o', 'link')
      .trim()
      .split('\n')
      .map((line) => line.split(':')[1]?.trim() ?? ''),
    namespaces: networkNamespaces(),
    rules: withoutNumbers(output('iptables-nft-save')) + withoutNumbers(output('iptables-legacy-save')),
    mounts: readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n').sort(),
    processes: labProcesses(),
    files: shallowFiles().sort(),
  }
}
