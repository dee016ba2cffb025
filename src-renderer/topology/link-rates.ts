import type { LinkCounters } from '../../src-main/contract/lab-contract.ts'

/** Traffic of one link as its own host sees it, a second. */
export interface LinkRate {
  readonly rxPackets: number
  readonly txPackets: number
  readonly rxBytes: number
  readonly txBytes: number
  /** Packets, either way, since the sample before: the link lights up. */
  readonly fresh: number
}

interface Sample {
  readonly atMs: number
  readonly links: ReadonlyMap<string, LinkCounters>
}

/** Rates are means over about this long: a single curl stays readable. */
export const RATE_WINDOW_MS = 2000

/** Without an answer for longer than this the lab has seen nothing move: it tells only what is new. */
const STILL_AFTER_MS = 1300

/** Keeps as many samples as the rates need. */
export class RateWindow {
  #samples: Sample[] = []

  /** The rates with this sample in; a link that was not there before has none yet. */
  add(atMs: number, links: readonly LinkCounters[]): ReadonlyMap<string, LinkRate> {
    const last = this.#samples.at(-1)
    if (last && atMs <= last.atMs) this.#samples = [] // another lab
    this.#samples.push({ atMs, links: new Map(links.map((link) => [link.id, link])) })
    while ((this.#samples[1]?.atMs ?? Number.POSITIVE_INFINITY) <= atMs - RATE_WINDOW_MS)
      this.#samples.shift()
    return this.#rates(atMs, true)
  }

  /** The rates so long after the last sample, if nothing has moved since. */
  later(sinceMs: number): ReadonlyMap<string, LinkRate> {
    const last = this.#samples.at(-1)
    return last ? this.#rates(last.atMs + sinceMs, false) : new Map()
  }

  #rates(nowMs: number, isNew: boolean): ReadonlyMap<string, LinkRate> {
    const last = this.#samples.at(-1)
    return new Map(
      [...(last?.links.values() ?? [])].flatMap((link): [string, LinkRate][] => {
        const rate = this.#rate(link, nowMs, isNew)
        return rate ? [[link.id, rate]] : []
      }),
    )
  }

  #rate(link: LinkCounters, nowMs: number, isNew: boolean): LinkRate | undefined {
    const known = this.#samples.filter(({ links }) => isOlder(links.get(link.id), link))
    const since = Math.max(known[0]?.atMs ?? nowMs, nowMs - RATE_WINDOW_MS)
    if (known.length < 2) return undefined
    const next = known.findIndex(({ atMs }) => atMs > since)
    const before = known[Math.max(0, next - 1)]
    const after = known[next] ?? known.at(-1)
    if (!before || !after) return undefined
    // Where nothing came for a while, what the next sample tells happened shortly before it.
    const beforeMs = after.atMs - before.atMs > STILL_AFTER_MS ? after.atMs - 500 : before.atMs
    const part = Math.min(1, Math.max(0, (since - beforeMs) / Math.max(1, after.atMs - beforeMs)))
    const perSecond = (name: keyof LinkCounters): number => {
      const from = gone(link, before, name)
      const to = next === -1 ? 0 : gone(link, after, name)
      return ((from + (to - from) * (next === -1 ? 1 : part)) * 1000) / (nowMs - since)
    }
    const previous = this.#samples.at(-2)?.links.get(link.id)
    return {
      rxPackets: perSecond('rxPackets'),
      txPackets: perSecond('txPackets'),
      rxBytes: perSecond('rxBytes'),
      txBytes: perSecond('txBytes'),
      fresh:
        isNew && isOlder(previous, link)
          ? difference(link.rxPackets, previous.rxPackets) + difference(link.txPackets, previous.txPackets)
          : 0,
    }
  }
}

/** What a link has counted since a sample that knows it. */
function gone(now: LinkCounters, { links }: Sample, name: keyof LinkCounters): number {
  const then = links.get(now.id)
  return then ? difference(now[name], then[name]) : 0
}

/** What the other end of the same cable sees. */
export const reversed = (rate: LinkRate): LinkRate => ({
  rxPackets: rate.txPackets,
  txPackets: rate.rxPackets,
  rxBytes: rate.txBytes,
  txBytes: rate.rxBytes,
  fresh: rate.fresh,
})

/** Counters only grow; smaller ones are those of an earlier link of the same name. */
function isOlder(earlier: LinkCounters | undefined, now: LinkCounters): earlier is LinkCounters {
  return (
    earlier !== undefined &&
    difference(now.rxPackets, earlier.rxPackets) >= 0 &&
    difference(now.txPackets, earlier.txPackets) >= 0
  )
}

const difference = (now: string, before: string): number => Number(BigInt(now) - BigInt(before))

/** Three figures at most: `0`, `0.4`, `12`, `1.2k`, `34M`. */
export function formatCount(value: number): string {
  if (value <= 0) return '0'
  if (value < 0.095) return '<0.1'
  for (const [unit, size] of [
    ['G', 1e9],
    ['M', 1e6],
    ['k', 1e3],
  ] as const)
    if (value >= size * 0.9995) return `${shortNumber(value / size)}${unit}`
  return shortNumber(value)
}

const shortNumber = (value: number): string => (value < 9.95 ? trimZero(value.toFixed(1)) : value.toFixed(0))
const trimZero = (text: string): string => text.replace(/\.0$/, '')

export const formatPackets = (rate: number): string => `${formatCount(rate)}/s`

/** `1.2 kB/s`. */
export function formatBytes(rate: number): string {
  const [, digits = '0', unit = ''] = /^(<?[\d.]+)([kMG]?)$/.exec(formatCount(rate)) ?? []
  return `${digits} ${unit}B/s`
}
