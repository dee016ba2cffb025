const written: string[] = []

/** 1/n to ten decimals, as kube-proxy writes it: the chance of the first of n endpoints. */
export function formatProbability(n: number): string {
  written[n] ??= formatFraction(1n, BigInt(n), 10)
  return written[n]
}

/** What iptables-save prints for a written probability: the kernel holds it as a number of 2^-31 parts. */
export function formatSavedProbability(text: string): string {
  return formatFraction(BigInt(Math.round(Number(text) * 2 ** 31)), 2n ** 31n, 11)
}

/** Exact ties go to the even digit (as in C and Go); toFixed would round them up. Fractions from 0 to 1. */
function formatFraction(numerator: bigint, denominator: bigint, decimals: number): string {
  const scaled = numerator * 10n ** BigInt(decimals)
  let digits = scaled / denominator
  const twice = (scaled % denominator) * 2n
  if (twice > denominator || (twice === denominator && digits % 2n === 1n)) digits++
  const text = digits.toString().padStart(decimals + 1, '0')
  return `${text.slice(0, -decimals)}.${text.slice(-decimals)}`
}
