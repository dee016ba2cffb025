import { formatCount } from '../../src-main/domain/iptables/format-listing.ts'
import type { Counters } from '../../src-main/domain/iptables/rule-set.ts'

/** A count on the screen, with what came in the last burst. */
export interface CountState extends Counters {
  /** Packets since the burst began; 0n before the first change. */
  readonly gained: bigint
  /** Counts up with each real change, so that a picture can flash again. */
  readonly hits: number
  readonly burstAtMs: number
  readonly hitAtMs: number
}

/** Changes nearer to each other than this are one burst: a single curl falls into two or three samples. */
export const BURST_GAP_MS = 600
/** Under lasting traffic a burst ends all the same, so that the number stays a change and not a sum. */
export const BURST_MS = 2000
/** A hit stays lit for so long. */
export const LIT_MS = 900

/** The next state after a sample. Without an earlier one, or after a reset (`iptables -Z`), nothing is a hit. */
export function countSample(before: CountState | undefined, now: Counters, nowMs: number): CountState {
  if (!before || now.packets < before.packets)
    return {
      ...pick(now),
      gained: 0n,
      hits: before?.hits ?? 0,
      burstAtMs: nowMs,
      hitAtMs: Number.NEGATIVE_INFINITY,
    }
  if (now.packets === before.packets) return now.bytes === before.bytes ? before : { ...before, ...pick(now) }
  const more = now.packets - before.packets
  const goesOn = nowMs - before.hitAtMs < BURST_GAP_MS && nowMs - before.burstAtMs < BURST_MS
  return {
    ...pick(now),
    gained: goesOn ? before.gained + more : more,
    hits: before.hits + 1,
    burstAtMs: goesOn ? before.burstAtMs : nowMs,
    hitAtMs: nowMs,
  }
}

/** Of an edge, in drawing units: grows with the logarithm of the packets, from 1.2 to 6. */
export function strokeOf(packets: bigint | undefined): number {
  if (packets === undefined || packets === 0n) return 1.2
  return Math.min(6, 1.8 + Math.log10(Number(packets)) * 0.9)
}

/** `1.2 kB`; bytes in full below 1,000. */
export function bytesText(bytes: bigint): string {
  const count = Number(bytes)
  if (count < 1000) return `${count} B`
  const power = Math.min(4, Math.floor(Math.log10(count) / 3))
  const value = count / 1000 ** power
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${['B', 'kB', 'MB', 'GB', 'TB'][power]}`
}

/** `+3`, rounded as iptables rounds; empty without a change. */
export function gainText(gained: bigint): string {
  return gained === 0n ? '' : `+${formatCount(gained)}`
}

/** `1 packet`, `12 packets`. */
export function packetsText(packets: bigint): string {
  return `${packets} ${packets === 1n ? 'packet' : 'packets'}`
}

function pick({ packets, bytes }: Counters): Counters {
  return { packets, bytes }
}
