import { readdirSync, readFileSync, statSync } from 'node:fs'
import { connect as connectSocket, type Socket } from 'node:net'
import { basename } from 'node:path'

/** Where the holder listens, inside its own sandbox. From outside it is reached through /proc/PID/root. */
export const SOCKET_DIRECTORY = '/run/chainwalk'
export const SOCKET_PATH = `${SOCKET_DIRECTORY}/lab.sock`

/** The words that make a holder recognisable in /proc/PID/cmdline, before the lab's name. */
export const HOLDER_MARK = '--chainwalk-lab'

export interface RunningLab {
  readonly name: string
  /** Of the holder, as seen from outside. */
  readonly pid: number
}

/**
 * The labs of a user (this one by default) that are running now. There is no file that could be left over: a lab is
 * found by its process, and its socket lives and dies with the sandbox.
 */
export function findLabs(uid = process.getuid?.() ?? 0): RunningLab[] {
  return [...runningLabs(uid)].sort((a, b) => a.name.localeCompare(b.name))
}

/** The lab of that name, found sooner than all of them. */
export function findLab(name: string): RunningLab | undefined {
  for (const lab of runningLabs(process.getuid?.() ?? 0)) if (lab.name === name) return lab
  return undefined
}

/** The processes that began last come first: reading some hundred of /proc takes its time. */
function* runningLabs(uid: number): Generator<RunningLab> {
  const processes = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))
  for (const entry of processes.sort((a, b) => Number(b) - Number(a))) {
    try {
      const name = heldLab(entry)
      // A command that the holder starts looks like the holder until it runs.
      if (name === undefined || heldLab(parentOf(entry)) !== undefined) continue
      if (statSync(`/proc/${entry}`).uid !== uid) continue
      yield { name, pid: Number(entry) }
    } catch (error) {
      if (!isGone(error)) throw error // processes end while we look
    }
  }
}

/** The name of the lab that this process holds, by its words; undefined of a process that has gone, too. */
function heldLab(pid: string): string | undefined {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')
    return words[2] === HOLDER_MARK && basename(words[1] ?? '') === 'holder.cjs' ? words[3] : undefined
  } catch (error) {
    if (!isGone(error)) throw error
    return undefined
  }
}

// PID (COMMAND) STATE PARENT …, where the command may hold brackets and blanks
function parentOf(pid: string): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? ''
}

const isGone = (error: unknown): boolean =>
  ['ENOENT', 'ESRCH', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')

/** Connects to a lab's socket. Rejects with the system's error (ENOENT while the lab is still starting). */
export function openLabSocket(lab: RunningLab): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(`/proc/${lab.pid}/root${SOCKET_PATH}`)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
    socket.once('error', reject)
  })
}
