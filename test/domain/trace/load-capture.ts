import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SeenEvent } from '../../../src-main/domain/trace/join-walks.ts'
import type { JourneyFacts } from '../../../src-main/domain/trace/journey-hops.ts'
import { headerLength, walkAttributes, walkMessages } from '../../../src-main/system/netlink/codec.ts'
import { nfnetlinkHeaderLength } from '../../../src-main/system/netlink/nfnetlink.ts'
import { decodeTraceEvent } from '../../../src-main/system/trace-monitor/decode-trace.ts'

interface Capture {
  readonly hosts: readonly { readonly host: string; readonly messages: readonly string[] }[]
}

export function loadMessages(name: string): Map<string, Buffer[]> {
  const text = readFileSync(join(import.meta.dirname, '../../captures', `${name}.json`), 'utf8')
  const { hosts } = JSON.parse(text) as Capture
  return new Map(hosts.map(({ host, messages }) => [host, messages.map((hex) => Buffer.from(hex, 'hex'))]))
}

export function decode(message: Buffer) {
  let event: ReturnType<typeof decodeTraceEvent>
  walkMessages(message, message.length, ({ start, end, type }) => {
    event = decodeTraceEvent(message, start, end, type)
    return undefined
  })
  return event
}

/** The recorded events by host, numbered host after host. */
export const loadEvents = (name: string): Map<string, SeenEvent[]> => eventsOf(loadMessages(name))

export function eventsOf(recorded: ReadonlyMap<string, readonly Buffer[]>): Map<string, SeenEvent[]> {
  let order = 0
  return new Map(
    [...recorded].map(([host, messages]) => [
      host,
      messages.flatMap((message): SeenEvent[] => {
        order += 1
        const event = decode(message)
        return event ? [{ order, event }] : []
      }),
    ]),
  )
}

const NFTA_TRACE_TYPE = 4
const NFT_TRACETYPE_RETURN = 2

/** The message as kernels tell it that say `return` of a rule that says RETURN, not only of a chain's end. */
export function asReturn(message: Buffer): Buffer {
  if (decode(message)?.verdict !== 'RETURN') return message
  const copy = Buffer.from(message)
  walkAttributes(copy, headerLength + nfnetlinkHeaderLength, copy.length, (attribute, from) => {
    if (attribute === NFTA_TRACE_TYPE) copy.writeUInt32BE(NFT_TRACETYPE_RETURN, from)
  })
  return copy
}

export { headerLength }

/** Of test/lab/traffic.yaml; rules show as their handles. */
export const facts: JourneyFacts = {
  ruleOf: (_host, _table, _chain, handle) => ({ number: handle, text: '-j SOMEWHERE' }),
  linkName: (_host, index) => `link${index}`,
  hostAt: (address) =>
    ({ '10.244.1.10': 'pod/default/a', '10.244.2.10': 'pod/default/c', '10.244.1.1': 'node/worker1' })[
      address
    ],
  tellsState: false,
  nodeOf: (host) => ({ 'pod/default/a': 'node/worker1', 'pod/default/c': 'node/worker2' })[host],
}
