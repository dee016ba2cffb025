/** SHA-256 (FIPS 180-4) in plain code, since the domain may not reach for Node's crypto. */

const roundConstants = Int32Array.from(firstPrimes(64), (prime) => fractionBits(Math.cbrt(prime)))
const initialHash = Int32Array.from(firstPrimes(8), (prime) => fractionBits(Math.sqrt(prime)))

// Scratch space of one call; never seen outside it.
const schedule = new Int32Array(64)
let bytes = new Uint8Array(256)

/**
 * The eight 32-bit words, most significant first, of the digest of the texts in a row, as UTF-8. Who asks for very
 * many gives the array to fill.
 */
export function sha256(first: string, second = '', third = '', digest = new Int32Array(8)): Int32Array {
  const length = writeUtf8(third, writeUtf8(second, writeUtf8(first, 0)))
  const end = ((length + 8) >> 6) * 64 + 64
  bytes[length] = 0x80
  for (let i = length + 1; i < end; i++) bytes[i] = 0
  for (let i = 0; i < 8; i++) digest[i] = initialHash[i] as number
  for (let offset = 0; offset < end; offset += 64) {
    for (let i = 0, at = offset; i < 16; i++, at += 4)
      schedule[i] =
        ((bytes[at] as number) << 24) |
        ((bytes[at + 1] as number) << 16) |
        ((bytes[at + 2] as number) << 8) |
        (bytes[at + 3] as number)
    if (offset + 64 === end) schedule[15] = length * 8
    compress(digest)
  }
  return digest
}

function compress(state: Int32Array): void {
  const w = schedule
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15] as number
    const y = w[i - 2] as number
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
    w[i] = ((w[i - 16] as number) + s0 + (w[i - 7] as number) + s1) | 0
  }
  let a = state[0] as number
  let b = state[1] as number
  let c = state[2] as number
  let d = state[3] as number
  let e = state[4] as number
  let f = state[5] as number
  let g = state[6] as number
  let h = state[7] as number
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const choice = (e & f) ^ (~e & g)
    const t1 = (h + s1 + choice + (roundConstants[i] as number) + (w[i] as number)) | 0
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const majority = (a & b) ^ (a & c) ^ (b & c)
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + s0 + majority) | 0
  }
  state[0] = (state[0] as number) + a
  state[1] = (state[1] as number) + b
  state[2] = (state[2] as number) + c
  state[3] = (state[3] as number) + d
  state[4] = (state[4] as number) + e
  state[5] = (state[5] as number) + f
  state[6] = (state[6] as number) + g
  state[7] = (state[7] as number) + h
}

/** Goes on filling `bytes`, with room for the padding, and gives the number of bytes there are then. */
function writeUtf8(text: string, start: number): number {
  const needed = start + text.length * 3 + 72
  if (bytes.length < needed) {
    const longer = new Uint8Array(needed * 2)
    longer.set(bytes)
    bytes = longer
  }
  let length = start
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) {
      bytes[length++] = unit
      continue
    }
    const point = text.codePointAt(i) as number
    if (point > 0xffff) i++
    if (point < 0x800) bytes[length++] = 0xc0 | (point >> 6)
    else {
      if (point < 0x10000) bytes[length++] = 0xe0 | (point >> 12)
      else {
        bytes[length++] = 0xf0 | (point >> 18)
        bytes[length++] = 0x80 | ((point >> 12) & 63)
      }
      bytes[length++] = 0x80 | ((point >> 6) & 63)
    }
    bytes[length++] = 0x80 | (point & 63)
  }
  return length
}

function firstPrimes(count: number): number[] {
  const primes: number[] = []
  for (let n = 2; primes.length < count; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  return primes
}

/** The first 32 bits of the fraction: exact, since a double holds 52 and the roots are below 8. */
function fractionBits(root: number): number {
  return ((root - Math.floor(root)) * 2 ** 32) | 0
}
