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

/** Keeps as many samples as the rates need. */
export class RateWindow {
  #samples: Sample[] = []

  /** The rates with this sample in; a link that was not there before has none yet. */
  add(atMs: number, links: readonly LinkCounters[]): ReadonlyMap<string, LinkRate> {
    const last = this.#samples.at(-1)
    if (last && atMs <= last.atMs) this.#samples = [] // another lab, or its clock was set
    const sample = { atMs, links: new Map(links.map((link) => [link.id, link])) }
    this.#samples.push(sample)
    while (this.#samples.length > 2 && atMs - (this.#samples[1]?.atMs ?? atMs) >= RATE_WINDOW_MS)
      this.#samples.shift()
    return new Map(
      links.flatMap((link): [string, LinkRate][] => {
        const rate = this.#rate(link, atMs)
        return rate ? [[link.id, rate]] : []
      }),
    )
  }

  clear(): void {
    this.#samples = []
  }

  #rate(link: LinkCounters, atMs: number): LinkRate | undefined {
    const earlier = this.#samples.slice(0, -1)
    const first = earlier.find(({ links }) => isOlder(links.get(link.id), link))
    const before = earlier.at(-1)?.links.get(link.id)
    const from = first?.links.get(link.id)
    if (!first || !from) return undefined
    const perSecond = (name: keyof LinkCounters): number =>
      (difference(link[name], from[name]) * 1000) / (atMs - first.atMs)
    return {
      rxPackets: perSecond('rxPackets'),
      txPackets: perSecond('txPackets'),
      rxBytes: perSecond('rxBytes'),
      txBytes: perSecond('txBytes'),
      fresh:
        before && isOlder(before, link)
          ? difference(link.rxPackets, before.rxPackets) + difference(link.txPackets, before.txPackets)
          : 0,
    }
  }
}

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
