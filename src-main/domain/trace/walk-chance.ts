/** A chance between 0 and 1 as an exact fraction in lowest terms. */
export interface Fraction {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** A chance for people and for sorting; `text` is exact (`1/3`) where the fraction is a short one. */
export interface Chance {
  readonly text: string
  readonly value: number
}

export const CERTAIN: Fraction = { numerator: 1n, denominator: 1n }

export function fraction(numerator: bigint, denominator: bigint): Fraction {
  const divisor = greatestCommonDivisor(numerator, denominator)
  return { numerator: numerator / divisor, denominator: denominator / divisor }
}

export function times(a: Fraction, b: Fraction): Fraction {
  return fraction(a.numerator * b.numerator, a.denominator * b.denominator)
}

export function plus(a: Fraction, b: Fraction): Fraction {
  return fraction(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator)
}

export function complement({ numerator, denominator }: Fraction): Fraction {
  return fraction(denominator - numerator, denominator)
}

/** iptables-save prints n / 2^31 with eleven decimals, and kube-proxy writes ten. */
const EXACT = 1e-9
const LONGEST_DENOMINATOR = 10_000

/**
 * The chance of a statistic rule: `0.33333333349` is the kernel's nearest number to 1/3 and is meant so. What is near no
 * short fraction stays what the kernel holds, parts of 2^31. Undefined for what is no chance.
 */
export function parseProbability(written: string): Fraction | undefined {
  const chance = Number(written)
  if (written === '' || !(chance >= 0 && chance <= 1)) return undefined
  const candidates = [
    1,
    Math.round(1 / chance),
    Math.round(1 / (1 - chance)),
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    100,
    1000,
  ]
  for (const denominator of candidates) {
    if (!(denominator >= 1 && denominator <= LONGEST_DENOMINATOR)) continue
    const count = Math.round(chance * denominator)
    // A chance that is written, however small, is not 0.
    if ((count === 0) !== (chance === 0)) continue
    if (Math.abs(chance - count / denominator) <= EXACT) return fraction(BigInt(count), BigInt(denominator))
  }
  return fraction(BigInt(Math.round(chance * 2 ** 31)), 2n ** 31n)
}

const LONGEST_TEXT = 1_000_000n

export function toChance({ numerator, denominator }: Fraction): Chance {
  const value = ratio(numerator, denominator)
  if (denominator === 1n) return { text: String(numerator), value }
  if (denominator <= LONGEST_TEXT) return { text: `${numerator}/${denominator}`, value }
  return { text: `${Number((value * 100).toPrecision(3))} %`, value }
}

/** Numbers too long for a double are shortened together first. */
function ratio(numerator: bigint, denominator: bigint): number {
  const excess = Math.max(0, denominator.toString(2).length - 1000)
  return Number(numerator >> BigInt(excess)) / Number(denominator >> BigInt(excess))
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [larger, smaller] = [a, b]
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller]
  return larger === 0n ? 1n : larger
}
