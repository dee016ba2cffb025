import type { ChainName } from '../iptables/rule-set.ts'
import { sha256 } from './sha256.ts'

/** The chains that every node has, whatever its Services. */
export const chains = {
  services: 'KUBE-SERVICES' as ChainName,
  externalServices: 'KUBE-EXTERNAL-SERVICES' as ChainName,
  forward: 'KUBE-FORWARD' as ChainName,
  nodePorts: 'KUBE-NODEPORTS' as ChainName,
  proxyFirewall: 'KUBE-PROXY-FIREWALL' as ChainName,
  firewall: 'KUBE-FIREWALL' as ChainName,
  postrouting: 'KUBE-POSTROUTING' as ChainName,
  markMasq: 'KUBE-MARK-MASQ' as ChainName,
  canary: 'KUBE-PROXY-CANARY' as ChainName,
} as const

/** The names that one Service port's chains have, if it needs them; all share one hash. */
export interface ServicePortChains {
  readonly cluster: ChainName
  readonly local: ChainName
  readonly external: ChainName
  readonly firewall: ChainName
}

/** `name` is `namespace/service:port`, or without `:port` for an unnamed port; `protocol` in lower case. */
export function buildServicePortChains(name: string, protocol: string): ServicePortChains {
  const hash = hash16(name, protocol)
  return {
    cluster: `KUBE-SVC-${hash}` as ChainName,
    local: `KUBE-SVL-${hash}` as ChainName,
    external: `KUBE-EXT-${hash}` as ChainName,
    firewall: `KUBE-FW-${hash}` as ChainName,
  }
}

/** `endpoint` is `ip:port`, or `[ip]:port` for IPv6. */
export function buildEndpointChain(name: string, protocol: string, endpoint: string): ChainName {
  // One call makes one plain string; a sum of sixteen would stay a tree of sixteen in memory.
  return String.fromCharCode(...endpointPrefix, ...hashDigits(name, protocol, endpoint)) as ChainName
}

/** Says whether a chain of the nat table belongs to some Service, so that a sync may delete it. */
export function isServiceChain(chain: string): chain is ChainName {
  return /^KUBE-(SVC|SVL|SEP|FW|EXT)-/.test(chain)
}

const endpointPrefix = Array.from('KUBE-SEP-', (letter) => letter.charCodeAt(0))
const base32 = Uint8Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', (digit) => digit.charCodeAt(0))
const digits = new Uint8Array(16)

function hash16(name: string, protocol: string): string {
  return String.fromCharCode(...hashDigits(name, protocol, ''))
}

/** The first 80 bits of the digest in base32, as character codes: chain names hold at most 28 characters. */
function hashDigits(name: string, protocol: string, endpoint: string): Uint8Array {
  const digest = sha256(name, protocol, endpoint)
  for (let i = 0; i < 16; i++) {
    const bit = i * 5
    const word = bit >> 5
    const shift = 27 - (bit & 31)
    const high = digest[word] as number
    const value =
      shift >= 0 ? high >>> shift : (high << -shift) | ((digest[word + 1] as number) >>> (32 + shift))
    digits[i] = base32[value & 31] as number
  }
  return digits
}
