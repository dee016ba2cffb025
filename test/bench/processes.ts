import { readdirSync, readFileSync } from 'node:fs'

/** utime and stime are counted in these, on every Linux. */
const TICKS_PER_SECOND = 100

function statOf(pid: number | string): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2).split(' ') // from field 3, the state
  } catch {
    return undefined // it has just ended
  }
}

/** The process and all that descend from it. */
export function familyOf(pid: number): number[] {
  const children = new Map<number, number[]>()
  for (const entry of readdirSync('/proc')) {
    const parent = /^\d+$/.test(entry) ? statOf(entry)?.[1] : undefined
    if (parent === undefined) continue
    const siblings = children.get(Number(parent)) ?? []
    siblings.push(Number(entry))
    children.set(Number(parent), siblings)
  }
  const family = [pid]
  for (const member of family) family.push(...(children.get(member) ?? []))
  return family
}

export const isAlive = (pid: number): boolean => {
  const state = statOf(pid)?.[0]
  return state !== undefined && state !== 'Z'
}

/** Seconds of processor time so far, with those of the children that it has waited for. */
export function cpuSeconds(pid: number): number {
  const fields = statOf(pid)
  if (!fields) throw new Error(`process ${pid} has ended`)
  const [user, system, childUser, childSystem] = fields.slice(11, 15).map(Number)
  return ((user ?? 0) + (system ?? 0) + (childUser ?? 0) + (childSystem ?? 0)) / TICKS_PER_SECOND
}

/** Megabytes: resident, and the process's share where pages are shared. */
export function memoryOf(pid: number): { readonly rss: number; readonly pss: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')
  const megabytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? Number.NaN) / 1024
  return { rss: megabytes('Rss'), pss: megabytes('Pss') }
}
