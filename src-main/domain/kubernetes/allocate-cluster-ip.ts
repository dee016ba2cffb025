import {
  type AddressRange,
  canonicalAddress,
  formatAddress,
  isInRange,
  parseAddress,
  parseCidr,
  usableRange,
} from './allocate-address.ts'
import { hash32 } from './object-names.ts'
import type { IpFamily } from './objects.ts'

/** Offsets that clusters give to `kubernetes` and to the DNS Service: only to those who ask for them. */
const reservedOffsets = [1n, 10n]

/** The cluster IPs of a cluster: each belongs to one Service. */
export class ClusterIps {
  readonly #cidrs: readonly { text: string; range: AddressRange }[]
  readonly #owners = new Map<string, string>()

  constructor(serviceCIDRs: readonly string[]) {
    this.#cidrs = serviceCIDRs.flatMap((text) => {
      const range = parseCidr(text)
      return range ? [{ text, range }] : []
    })
  }

  /** In the order of the service CIDRs: the first is the primary one. */
  get families(): readonly IpFamily[] {
    return [...new Set(this.#cidrs.map(({ range }) => range.family))]
  }

  owner(address: string): string | undefined {
    return this.#owners.get(canonicalAddress(address))
  }

  take(address: string, owner: string): void {
    this.#owners.set(canonicalAddress(address), owner)
  }

  /** Network and broadcast address do not count. */
  isInRange(text: string): boolean {
    const address = parseAddress(text)
    return address !== undefined && this.#cidrs.some(({ range }) => isInRange(usableRange(range), address))
  }

  describeRange(family: IpFamily): string {
    return (
      this.#cidrs.flatMap(({ text, range }) => (range.family === family ? [text] : [])).join(', ') || 'empty'
    )
  }

  /**
   * A free address of a family that follows from `seed`; undefined when there is none. As in Kubernetes the lower
   * part of each range is left to those who ask for an address, until the upper part is full.
   */
  allocate(family: IpFamily, seed: string, owner: string): string | undefined {
    for (const { range } of this.#cidrs) {
      if (range.family !== family) continue
      const usable = usableRange(range)
      const size = range.last - range.first + 1n
      const sixteenth = size / 16n
      const band = sixteenth < 16n ? 16n : sixteenth > 256n ? 256n : sixteenth
      const split = size > band ? range.first + band : usable.first
      const found =
        this.#search(range, split, usable.last, seed) ?? this.#search(range, usable.first, split - 1n, seed)
      if (found === undefined) continue
      this.#owners.set(found, owner)
      return found
    }
    return undefined
  }

  #search(range: AddressRange, first: bigint, last: bigint, seed: string): string | undefined {
    const size = last - first + 1n
    if (size <= 0n) return undefined
    const start = BigInt(hash32(seed)) % size
    for (let step = 0n; step < size; step++) {
      const value = first + ((start + step) % size)
      if (reservedOffsets.includes(value - range.first)) continue
      const address = formatAddress({ family: range.family, value })
      if (!this.#owners.has(address)) return address
    }
    return undefined
  }
}
