import type { Finding, Hop, Journey } from './journey.ts'

/**
 * Why the command's last connection failed: one finding for its first packet that did not come through. Undefined where
 * an answer came through, and where nothing failed that packets show.
 */
export function findCulprit(journeys: readonly Journey[]): Finding | undefined {
  const last = journeys.findLast(({ direction }) => direction === 'request')?.connection
  const own = journeys.filter(({ connection }) => connection === last)
  const failed = firstFailure(own)
  if (!failed) return undefined
  const index = failed.hops.length - 1
  const hop = failed.hops[index]
  const again = own.filter(({ kind, verdict }) => kind === 'retransmission' && verdict === failed.verdict)
  const times = again.length === 0 ? [] : [`It was sent ${again.length + 1} times, with the same end.`]
  return {
    ...explain(failed, hop),
    proof: [`Packet ${failed.id} (${failed.summary}): ${failed.reason}.`, ...ruleProof(hop), ...times],
    ...(hop ? { at: { journey: failed.id, hop: index } } : {}),
  }
}

/** The packet that was to begin the connection; where that came through, the first answer that did not. */
function firstFailure(journeys: readonly Journey[]): Journey | undefined {
  const isThrough = ({ verdict }: Journey): boolean => verdict === 'delivered'
  const begin = journeys.find(({ direction }) => direction === 'request')
  if (begin && !isThrough(begin)) return begin
  const answers = journeys.filter(({ direction }) => direction === 'reply')
  if (answers.some(isThrough)) return undefined
  return answers.find((journey) => !isThrough(journey)) ?? journeys.find((journey) => !isThrough(journey))
}

type Explanation = Pick<Finding, 'kind' | 'sentence' | 'remedy'>

function explain(journey: Journey, hop: Hop | undefined): Explanation {
  switch (journey.verdict) {
    case 'rejected':
    case 'dropped':
      return hop ? explainStop(hop) : { kind: 'lost', sentence: sentenceOf(journey) }
    case 'refused':
      return {
        kind: 'closed-port',
        sentence: `The packet came through, but nothing listens where it went: ${journey.reason}.`,
        remedy: 'Compare the targetPort of the Service with the containerPort of its pods.',
      }
    case 'no-route':
      return {
        kind: 'no-route',
        sentence: sentenceOf(journey),
        remedy: `Look at \`ip route get ${hop?.packet.dst ?? ''}\` there.`,
      }
    default:
      return explainLoss(journey)
  }
}

function explainStop({ node, table, chain, rule, text, verdict }: Hop): Explanation {
  if (rule === null)
    return {
      kind: 'dropped-by-policy',
      sentence: `The policy ${verdict} of chain ${chain} (table ${table}) on ${node} dropped the packet: no rule of it had accepted it.`,
      remedy: `Add a rule that accepts it, or set the policy back: \`iptables -t ${table} -P ${chain} ACCEPT\`.`,
    }
  const place = `rule ${rule} of ${chain} (table ${table}) on ${node}`
  const did = verdict === 'REJECT' ? 'rejected' : 'dropped'
  const [, service, lack] = /--comment "(\S+) has no (endpoints|local endpoints)"/.exec(text) ?? []
  if (lack === 'endpoints')
    return {
      kind: 'no-endpoints',
      sentence: `The Service ${service} has no endpoints: ${place} ${did} the packet.`,
      remedy: 'Is a pod ready that its selector matches? `chainwalk get pod,svc,endpointslice` tells.',
    }
  if (lack === 'local endpoints')
    return {
      kind: 'no-local-endpoint',
      sentence: `The Service ${service} has no endpoint on ${node}, and its traffic policy is Local: ${place} ${did} the packet.`,
      remedy: 'Ask a node that has one of its pods, or set the traffic policy to Cluster.',
    }
  return {
    kind: did === 'rejected' ? 'rejected-by-rule' : 'dropped-by-rule',
    sentence: `The packet was ${did} by ${place}.`,
    remedy: `Take the rule away (\`iptables -t ${table} -D ${chain} ${rule}\`), or accept the packet before it.`,
  }
}

/** A connection that conntrack still sends to an endpoint of old is told by its NAT without the nat table. */
function explainLoss(journey: Journey): Explanation {
  const kept = journey.hops.find(
    ({ table, packet, becomes }) =>
      table === 'conntrack' && becomes !== undefined && becomes.dst !== packet.dst,
  )
  if (journey.direction === 'request' && kept?.becomes && /nobody in the lab has$/.test(journey.reason))
    return {
      kind: 'stale-conntrack',
      sentence: `conntrack on ${kept.node} still sends this connection to ${kept.becomes.dst}:${kept.becomes.dport}, which is no pod any more.`,
      remedy: `Delete the entry there: \`conntrack -D -p ${journey.protocol} --orig-dst ${kept.packet.dst}\`.`,
    }
  return { kind: 'lost', sentence: sentenceOf(journey) }
}

const sentenceOf = ({ direction, reason }: Journey): string =>
  `The ${direction === 'reply' ? 'answer' : 'packet'} did not arrive: ${reason}.`

function ruleProof(hop: Hop | undefined): string[] {
  if (!hop || hop.table === 'conntrack' || hop.rule === null) return []
  return [`The rule: -A ${hop.chain} ${hop.text}`]
}
