import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** What a lab must leave as it found it, as lines of text. */
export type MachineState = readonly string[]

/** What is there now and was not there before. */
export function leftBehind(before: MachineState): string[] {
  const known = new Set(before)
  return readMachineState().filter((line) => !known.has(line))
}

function output(command: string, ...args: string[]): string {
  const { stdout, error, status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (error) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stderr}`)
  return stdout
}

/** Counters and times differ between two looks at the same rules. */
const withoutNumbers = (save: string): string => save.replace(/^#.*\n/gm, '').replace(/\[\d+:\d+\]/g, '[0:0]')

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
      // The test runner makes a folder of its own for each test file.
      const names = readdirSync(folder).filter((name) => !/^[\w-]{21}$/.test(name))
      return names.map((name) => `${folder}/${name}`)
    } catch {
      return [] // not every machine has all of them
    }
  })
}

export function readMachineState(): MachineState {
  const lines = (what: string, text: string): string[] => text.split('\n').map((line) => `${what} ${line}`)
  return [
    ...lines('link', output('ip', '-o', 'link').replace(/^\d+: ([^:]+):.*$/gm, '$1')),
    ...lines('network namespace', networkNamespaces().join('\n')),
    ...lines('nft', withoutNumbers(output('iptables-nft-save'))),
    ...lines('legacy', withoutNumbers(output('iptables-legacy-save'))),
    ...lines('mount', readFileSync('/proc/self/mountinfo', 'utf8')),
    ...lines('process', labProcesses().join('\n')),
    ...lines('file', shallowFiles().join('\n')),
  ]
}
