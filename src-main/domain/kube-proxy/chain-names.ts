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
export class ServicePortChains {
  readonly hash: string

  /** `name` is `namespace/service:port`, or without `:port` for an unnamed port; `protocol` in lower case. */
  constructor(name: string, protocol: string) {
    this.hash = hash16(name, protocol)
  }

  get cluster(): ChainName {
    return `KUBE-SVC-${this.hash}` as ChainName
  }

  get local(): ChainName {
    return `KUBE-SVL-${this.hash}` as ChainName
  }

  get external(): ChainName {
    return `KUBE-EXT-${this.hash}` as ChainName
  }

  get firewall(): ChainName {
    return `KUBE-FW-${this.hash}` as ChainName
  }
}

/** `endpoint` is `ip:port`, or `[ip]:port` for IPv6. */
export function buildEndpointChain(name: string, protocol: string, endpoint: string): ChainName {
  writeHash(name, protocol, endpoint)
  return String.fromCharCode.apply(null, endpointLetters) as ChainName
}

/** Says whether a chain of the nat table belongs to some Service, so that a sync may delete it. */
export function isServiceChain(chain: string): chain is ChainName {
  return /^KUBE-(SVC|SVL|SEP|FW|EXT)-/.test(chain)
}

// One call on a list of letters makes one plain string quickly; a sum of parts would stay a tree in memory.
const endpointLetters = Array.from('KUBE-SEP-................', (letter) => letter.charCodeAt(0))
const base32 = Uint8Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', (digit) => digit.charCodeAt(0))
const digest = new Int32Array(8)

function hash16(name: string, protocol: string): string {
  writeHash(name, protocol, '')
  return String.fromCharCode.apply(null, endpointLetters.slice(9))
}

/** The first 80 bits of the digest in base32, behind the prefix: chain names hold at most 28 characters. */
function writeHash(name: string, protocol: string, endpoint: string): void {
  sha256(name, protocol, endpoint, digest)
  let bits = 0
  let held = 0
  let word = 0
  for (let i = 9; i < 25; i++) {
    if (held < 5) {
      // At most 4 bits are left over, so 16 more always fit.
      const half = digest[word >> 1] as number
      bits = (bits << 16) | (word & 1 ? half & 0xffff : half >>> 16)
      word++
      held += 16
    }
    held -= 5
    endpointLetters[i] = base32[(bits >>> held) & 31] as number
  }
}
