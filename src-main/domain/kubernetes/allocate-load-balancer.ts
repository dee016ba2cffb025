import {
  type AddressRange,
  canonicalAddress,
  formatAddress,
  isInRange,
  parseAddress,
  parseAddressRange,
  usableRange,
} from './allocate-address.ts'
import type { ReportAllocation } from './allocation-report.ts'
import { invalidValue } from './field-messages.ts'
import type { LoadBalancerIngress, Service } from './objects.ts'

/** Plays the load balancer of a cloud: gives LoadBalancer Services an address of a pool; without a pool they stay pending. */
export class LoadBalancerIps {
  readonly #pool: AddressRange | undefined
  readonly #poolText: string
  readonly #owners = new Map<string, string>()

  constructor(pool: string | undefined) {
    this.#poolText = pool ?? ''
    const range = pool === undefined ? undefined : parseAddressRange(pool)
    this.#pool = range && pool?.includes('/') ? usableRange(range) : range
  }

  register({ status }: Service, owner: string): void {
    for (const { ip } of status.loadBalancer.ingress)
      if (ip !== undefined) this.#owners.set(canonicalAddress(ip), owner)
  }

  /** Keeps what the manifest's status gives, then what the Service had; takes the address that it asks for if free. */
  reserve(service: Service, live: Service | undefined, owner: string, report: ReportAllocation): Service {
    const { spec, status } = service
    if (status.loadBalancer.ingress.length > 0) {
      this.register(service, owner)
      return service
    }
    if (spec.type !== 'LoadBalancer') return service
    const asked = spec.loadBalancerIP
    const held = live?.spec.type === 'LoadBalancer' ? live.status.loadBalancer.ingress : []
    const isSame =
      asked === '' ||
      held.some(({ ip }) => ip !== undefined && canonicalAddress(ip) === canonicalAddress(asked))
    if (held.length > 0 && (isSame || !this.#isOurs(service))) {
      const kept = withIngress(service, held)
      this.register(kept, owner)
      return kept
    }
    if (asked === '' || !this.#isOurs(service)) return service
    const problem = this.#whyNot(asked)
    if (problem !== undefined) {
      report(
        'warning',
        'spec.loadBalancerIP',
        invalidValue(asked, `${problem}; the Service gets another address`),
      )
      return service
    }
    return this.#give(service, canonicalAddress(asked), owner)
  }

  fill(service: Service, owner: string, report: ReportAllocation): Service {
    if (!this.#isOurs(service) || !this.#pool || service.status.loadBalancer.ingress.length > 0)
      return service
    const { family, first, last } = this.#pool
    for (let value = first; value <= last; value++) {
      const address = formatAddress({ family, value })
      if (!this.#owners.has(address)) return this.#give(service, address, owner)
    }
    report(
      'warning',
      '',
      `no address is left in the load balancer pool ${this.#poolText}: the Service stays pending`,
    )
    return service
  }

  /** Another class means another load balancer, which the lab does not have. */
  #isOurs({ spec }: Service): boolean {
    return this.#pool !== undefined && spec.type === 'LoadBalancer' && spec.loadBalancerClass === ''
  }

  #whyNot(text: string): string | undefined {
    const address = parseAddress(text)
    if (!address || !this.#pool || !isInRange(this.#pool, address))
      return `is not in the pool ${this.#poolText}`
    const owner = this.#owners.get(formatAddress(address))
    return owner === undefined ? undefined : `${owner} has it`
  }

  #give(service: Service, ip: string, owner: string): Service {
    this.#owners.set(ip, owner)
    return withIngress(service, [{ ip, ipMode: 'VIP' }])
  }
}

function withIngress(service: Service, ingress: readonly LoadBalancerIngress[]): Service {
  return { ...service, status: { loadBalancer: { ingress } } }
}
