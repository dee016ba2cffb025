import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type LabUser, type Program, programFor, whyNoLab } from './chainwalk.ts'
import { leftBehind, readMachineState } from './machine-state.ts'

const ROUNDS = 25
const GONE_WITHIN_MS = 15_000

interface LiveProcess {
  readonly pid: number
  readonly parent: number
  readonly words: string
}

function processes(): LiveProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
        const words = readFileSync(`/proc/${name}/cmdline`, 'latin1').split('\0').join(' ').trim()
        return [{ pid: Number(name), parent, words }]
      } catch {
        return [] // it has just ended
      }
    })
}

/** The process and all that descend from it, oldest first. */
function familyOf(pid: number): LiveProcess[] {
  const all = processes()
  const family = all.filter((each) => each.pid === pid)
  for (const { pid: parent } of family) family.push(...all.filter((each) => each.parent === parent))
  return family
}

/** Kills one process of the family; another one where the tool that was chosen had ended by then. */
function killOneOf(pid: number, random: () => number): LiveProcess | undefined {
  const family = familyOf(pid)
  while (family.length > 0) {
    const [victim] = family.splice(Math.floor(random() * family.length), 1)
    if (victim && killed(victim.pid)) return victim
  }
  return undefined
}

function killed(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

/** A small generator of its own, so that a failing round can be played again from its seed. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

function run(program: Program, ...words: string[]): ChildProcess {
  const [file = '', ...before] = program.words
  return spawn(file, [...before, ...words], { cwd: program.folder, stdio: 'ignore' })
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else child.once('exit', () => resolve())
  })

const users: readonly LabUser[] = ['root', 'learner']

describe.each(users)('after SIGKILL at a random moment, as %s', (user) => {
  test.skipIf(whyNoLab(user) !== undefined)(
    `nothing of a lab is left, ${ROUNDS} times`,
    async () => {
      const program = programFor(user)
      const seed = Date.now() >>> 0
      const random = randomFrom(seed)
      try {
        const before = readMachineState()
        for (let round = 0; round < ROUNDS; round += 1) {
          const name = `kill-${process.pid}-${round}`
          const child = run(program, 'up', '--name', name, '-f', 'lab-scripts/manifests/http-server.yaml')
          // While it starts, while it runs, and with a command of its own running.
          await sleep(random() * 1500)
          const other =
            random() < 0.4 ? run(program, 'exec', '--name', name, 'client', '--', 'sleep', '100') : undefined
          if (other) await sleep(random() * 600)
          const victim = child.pid === undefined ? undefined : killOneOf(child.pid, random)
          await sleep(random() * 50)
          // A command in a pod, or a tool of the start, may die alone: then the lab is ended the usual way.
          if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT')
          await ended(child)
          other?.kill()
          if (other) await ended(other)
          await expect
            .poll(() => leftBehind(before), {
              timeout: GONE_WITHIN_MS,
              interval: 100,
              message: `round ${round} of seed ${seed}, killed: ${victim?.words ?? 'nothing'}`,
            })
            .toEqual([])
        }
      } finally {
        program.cleanUp()
      }
    },
    300_000,
  )
})
