import type { Service } from '../kubernetes/objects.ts'
import { parseAddress } from './walk-address.ts'

/** Where a command's first packet goes. */
export interface Destination {
  readonly protocol: 'tcp' | 'udp' | 'icmp'
  readonly address: string
  /** 0 for ICMP. */
  readonly port: number
}

interface NamedDestination {
  readonly protocol: Destination['protocol']
  readonly host: string
  readonly port: number
}

/** What the first packet of a command is, or why that cannot be said before it runs. */
export function destinationOf(
  command: string,
  services: readonly Service[],
  namespace: string,
): Destination | { readonly problem: string } {
  const named =
    readUrl(command) ?? readDevice(command) ?? readCurl(command) ?? readNetcat(command) ?? readPing(command)
  if (!named)
    return {
      problem:
        'Only the packets of curl, ping, nc and bash’s /dev/tcp and /dev/udp can be told before they are sent; run the trace to see those of this command.',
    }
  const { protocol, host, port } = named
  const address = parseAddress(host)?.text ?? serviceAddress(host, services, namespace)
  if (address === undefined)
    return { problem: `${host} is no address, and no Service of the lab has that name.` }
  if (address.includes(':'))
    return { problem: `${address} is an IPv6 address, and this lab’s nodes have none.` }
  return { protocol, address, port }
}

function readUrl(command: string): NamedDestination | undefined {
  const found = /\b(https?):\/\/(\[[^\]\s]+\]|[^\s/:?#'"]+)(?::(\d{1,5}))?/.exec(command)
  if (!found) return undefined
  const [, scheme, host = '', port] = found
  const usual = scheme === 'https' ? 443 : 80
  return { protocol: 'tcp', host: host.replace(/^\[|\]$/g, ''), port: Number(port ?? usual) }
}

function readDevice(command: string): NamedDestination | undefined {
  const found = /\/dev\/(tcp|udp)\/([^/\s'"]+)\/(\d{1,5})/.exec(command)
  if (!found) return undefined
  return { protocol: found[1] === 'udp' ? 'udp' : 'tcp', host: found[2] ?? '', port: Number(found[3]) }
}

/** `curl 10.96.0.10:8080`: curl takes an address without a scheme for HTTP. */
function readCurl(command: string): NamedDestination | undefined {
  const words = command.trim().split(/\s+/)
  if (words[0] !== 'curl') return undefined
  const found = words
    .slice(1)
    .map((word) => /^([a-z0-9][\w.-]*[a-z0-9])(?::(\d{1,5}))?(?:\/\S*)?$/i.exec(word))
  const place = found.findLast((match) => match !== null && /[.a-z]/i.test(match[1] ?? ''))
  return place ? { protocol: 'tcp', host: place[1] ?? '', port: Number(place[2] ?? 80) } : undefined
}

function readNetcat(command: string): NamedDestination | undefined {
  const found = /(?:^|\s)(?:nc|ncat|netcat)\s(.*?)([^\s-]\S*)\s+(\d{1,5})(?:\s|$)/.exec(command)
  if (!found) return undefined
  const isUdp = /(?:^|\s)-\w*u/.test(found[1] ?? '')
  return { protocol: isUdp ? 'udp' : 'tcp', host: found[2] ?? '', port: Number(found[3]) }
}

function readPing(command: string): NamedDestination | undefined {
  const words = command.trim().split(/\s+/)
  if (words[0] !== 'ping' || words.length < 2) return undefined
  return { protocol: 'icmp', host: words.at(-1) ?? '', port: 0 }
}

/** As the lab's names lead: `web`, `web.shop`, `web.shop.svc.cluster.local`. */
function serviceAddress(host: string, services: readonly Service[], own: string): string | undefined {
  const [name, namespace = own] = host.split('.')
  const found = services.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace)
  return found?.spec.clusterIPs.find((address) => address !== 'None' && !address.includes(':'))
}
