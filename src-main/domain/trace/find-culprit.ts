import { type Finding, type Hop, isPolicy, type Journey } from './journey.ts'

/** What the packets themselves do not tell. Asked only where one of them failed. */
export interface CulpritFacts {
  /** False where events of the trace are missing: then nothing follows from a packet that was not seen. */
  readonly isWhole: boolean
  /** The node that a pod's address is on; undefined for any other address. */
  readonly nodeOfPod: (address: string) => string | undefined
  /** net.bridge.bridge-nf-call-iptables of a node; undefined where its pods hang on no bridge. */
  readonly callsIptablesOnBridge: (node: string) => boolean | undefined
  /** Whether the bridge gives a pod's packets back to that pod; undefined where it hangs on no bridge. */
  readonly isHairpin: (podAddress: string) => boolean | undefined
  /** The rp_filter that holds for a link of a node: 0 off, 1 strict, 2 loose. */
  readonly rpFilter: (node: string, link: string) => number
}

/**
 * Why the command's last connection failed: one finding for its first packet that did not come through, or for the
 * answer that never came. Undefined where one came through, and where nothing failed that packets show.
 */
export function findCulprit(journeys: readonly Journey[], facts: CulpritFacts): Finding | undefined {
  const last = journeys.findLast(({ direction }) => direction === 'request')?.connection
  const own = journeys.filter(({ connection }) => connection === last)
  const failed = firstFailure(own) ?? (facts.isWhole ? withoutAnswer(own) : undefined)
  if (!failed) return undefined
  const index = failed.hops.length - 1
  const hop = failed.hops[index]
  const again = own.filter(({ kind, verdict }) => kind === 'retransmission' && verdict === failed.verdict)
  const times = again.length === 0 ? [] : [`It was sent ${again.length + 1} times, with the same end.`]
  const { proof = [], ...explanation } = explain(failed, hop, own, facts)
  return {
    ...explanation,
    proof: [
      `Packet ${failed.id} (${failed.summary}): ${failed.reason}.`,
      ...ruleProof(failed, hop),
      ...proof,
      ...times,
    ],
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

/** A request that arrived and that nobody was seen to answer. A datagram may want none. */
function withoutAnswer(journeys: readonly Journey[]): Journey | undefined {
  const begin = journeys.find(({ direction }) => direction === 'request')
  return begin?.protocol === 'tcp' && !journeys.some(({ direction }) => direction === 'reply')
    ? begin
    : undefined
}

type Explanation = Pick<Finding, 'kind' | 'sentence' | 'remedy'> & Partial<Pick<Finding, 'proof'>>

function explain(
  journey: Journey,
  hop: Hop | undefined,
  own: readonly Journey[],
  facts: CulpritFacts,
): Explanation {
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
      return explainNoRoute(journey, hop, own, facts)
    case 'delivered':
      return explainSilence(journey, hop, facts)
    default:
      return explainLoss(journey)
  }
}

function explainStop({ node, table, chain, rule, text, verdict }: Hop): Explanation {
  if (rule === null && !isPolicy({ text }))
    return {
      kind: 'dropped-by-rule',
      sentence: `A rule of ${chain} (table ${table}) on ${node} that has gone meanwhile dropped the packet.`,
    }
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

/** The kernel answers a packet that it has no route for; what the reverse path filter drops it does not. */
function explainNoRoute(
  journey: Journey,
  hop: Hop | undefined,
  own: readonly Journey[],
  facts: CulpritFacts,
): Explanation {
  const hairpin = explainHairpin(journey.hops[0]?.packet.src ?? '', destinationOf(hop), facts)
  if (hairpin) return hairpin
  const isTold = own.some(({ protocol, direction }) => protocol === 'icmp' && direction === 'reply')
  const { node = '', packet } = hop ?? {}
  const mode = packet && packet.in !== '' && !isTold ? facts.rpFilter(node, packet.in) : 0
  if (packet && mode !== 0)
    return {
      kind: 'reverse-path-filter',
      sentence: `The reverse path filter of ${node} dropped the packet: ${node} would not send an answer to ${packet.src} out by ${packet.in}, where it came in.`,
      proof: [
        `rp_filter is ${mode} for ${packet.in} of ${node}, and no ICMP error said that there is no route.`,
      ],
      remedy: `Look at \`ip route get ${packet.src}\` there; \`sysctl -w net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.${packet.in}.rp_filter=0\` turns the filter off.`,
    }
  return {
    kind: 'no-route',
    sentence: isTold
      ? `${node} has no route to ${destinationOf(hop)}, and says so by ICMP.`
      : sentenceOf(journey),
    remedy: `Look at \`ip route get ${destinationOf(hop)}\` there.`,
  }
}

/** A pod that the Service sent back to itself, behind a port of its bridge that does not send packets back. */
function explainHairpin(sender: string, receiver: string, facts: CulpritFacts): Explanation | undefined {
  if (sender !== receiver || facts.isHairpin(receiver) !== false) return undefined
  return {
    kind: 'hairpin-off',
    sentence: `The packet was to come back to the pod that sent it, but the bridge of ${facts.nodeOfPod(receiver)} sends nothing out by the port that it came in by (hairpin is off).`,
    proof: [
      `The Service chose ${receiver}, the sender itself; \`bridge -d link\` shows its port with hairpin off.`,
    ],
    remedy: 'Turn it on on that node: `bridge link set dev PORT hairpin on`.',
  }
}

/** What keeps an answer from the nodes' sight, or the packet from its pod behind the last hop. */
function explainSilence(journey: Journey, hop: Hop | undefined, facts: CulpritFacts): Explanation {
  const sender = journey.hops[0]?.packet.src ?? ''
  const receiver = destinationOf(hop)
  const node = facts.nodeOfPod(receiver)
  const hairpin = explainHairpin(sender, receiver, facts)
  if (hairpin) return hairpin
  const isTranslated = journey.hops.some(({ packet, becomes }) => becomes && becomes.dst !== packet.dst)
  if (
    node !== undefined &&
    isTranslated &&
    facts.nodeOfPod(sender) === node &&
    facts.callsIptablesOnBridge(node) === false
  )
    return {
      kind: 'bridge-netfilter-off',
      sentence: `The bridge of ${node} hands the answer from ${receiver} straight to ${sender}, past conntrack, which alone could give it back the address that was asked.`,
      proof: [`net.bridge.bridge-nf-call-iptables is 0 on ${node}, and both pods hang on its bridge.`],
      remedy: `Turn it on there: \`sysctl -w net.bridge.bridge-nf-call-iptables=1\`.`,
    }
  return {
    kind: 'lost',
    sentence: `No answer was seen: ${journey.reason}, and nothing came back over any node.`,
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

function ruleProof({ verdict }: Journey, hop: Hop | undefined): string[] {
  const isStopped = verdict === 'dropped' || verdict === 'rejected'
  if (!isStopped || !hop || hop.rule === null) return []
  return [`The rule: -A ${hop.chain} ${hop.text}`]
}

/** Where the packet was going when it was seen for the last time; DNAT's change is not seen where nothing follows. */
function destinationOf(hop: Hop | undefined): string {
  if (!hop) return ''
  const chosen = hop.verdict === 'DNAT' ? /--to-destination ([\d.]+)/.exec(hop.text)?.[1] : undefined
  return hop.becomes?.dst ?? chosen ?? hop.packet.dst
}
