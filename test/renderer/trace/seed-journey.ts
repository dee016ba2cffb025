import type { Hop, HopPacket, Journey } from '../../../src-main/domain/trace/journey.ts'

/** The client's first packet to the seed example's NodePort, to an endpoint on the other node, as kube-proxy's design has it. */
const CLIENT: HopPacket = {
  src: '172.18.0.254',
  sport: 40000,
  dst: '172.18.0.3',
  dport: 32054,
  in: 'eth0',
  out: '',
  mark: 0,
}
const AFTER_DNAT: HopPacket = { ...CLIENT, dst: '10.244.2.8', dport: 80, out: 'eth0', mark: 0x4000 }
const AFTER_SNAT: HopPacket = { ...AFTER_DNAT, src: '172.18.0.3', sport: 1024, mark: 0 }
const ON_WORKER2: HopPacket = { ...AFTER_SNAT, out: '' }
const TO_POD: HopPacket = { ...ON_WORKER2, out: 'cni0' }

const hop = (
  place: string,
  rule: string,
  text: string,
  verdict: string,
  packet: HopPacket,
  becomes?: HopPacket,
): Hop => {
  const [node = '', hook = '', table = ''] = place.split(' ')
  const [chain = '', number] = rule.split(' ')
  return {
    node,
    hook,
    table,
    chain,
    rule: number === undefined ? null : Number(number),
    text,
    verdict,
    packet,
    ...(becomes ? { becomes } : {}),
  }
}

const NAT = 'worker1 PREROUTING nat'
const POST = 'worker1 POSTROUTING nat'
const EXT = 'KUBE-EXT-C3VEVZBK3X2BH5IZ'
const SVC = 'KUBE-SVC-C3VEVZBK3X2BH5IZ'
const SEP = 'KUBE-SEP-OA3M7KOBU4RDVFB2'

export const NODE_PORT_HOPS: readonly Hop[] = [
  hop(NAT, 'PREROUTING 1', '-j KUBE-SERVICES', 'JUMP', CLIENT),
  hop(NAT, 'KUBE-SERVICES 3', '-m addrtype --dst-type LOCAL -j KUBE-NODEPORTS', 'JUMP', CLIENT),
  hop(NAT, 'KUBE-NODEPORTS 1', `-p tcp -m tcp --dport 32054 -j ${EXT}`, 'JUMP', CLIENT),
  hop(NAT, `${EXT} 1`, '-j KUBE-MARK-MASQ', 'JUMP', CLIENT),
  hop(NAT, 'KUBE-MARK-MASQ 1', '-j MARK --set-xmark 0x4000/0x4000', 'MARK', CLIENT),
  hop(NAT, `${EXT} 2`, `-j ${SVC}`, 'JUMP', CLIENT),
  hop(NAT, `${SVC} 3`, `-m statistic --mode random --probability 0.50000000000 -j ${SEP}`, 'JUMP', CLIENT),
  // The kernel tells the packet anew only at the next table, mark and all.
  hop(NAT, `${SEP} 2`, '-p tcp -m tcp -j DNAT --to-destination 10.244.2.8:80', 'DNAT', CLIENT, AFTER_DNAT),
  hop('worker1 FORWARD filter', 'FORWARD 2', '-j KUBE-FORWARD', 'JUMP', AFTER_DNAT),
  hop(
    'worker1 FORWARD filter',
    'KUBE-FORWARD 2',
    '-m mark --mark 0x4000/0x4000 -j ACCEPT',
    'ACCEPT',
    AFTER_DNAT,
  ),
  hop(POST, 'POSTROUTING 1', '-j KUBE-POSTROUTING', 'JUMP', AFTER_DNAT),
  hop(POST, 'KUBE-POSTROUTING 2', '-j MARK --set-xmark 0x4000/0x0', 'MARK', AFTER_DNAT),
  hop(POST, 'KUBE-POSTROUTING 3', '-j MASQUERADE --random-fully', 'MASQUERADE', AFTER_DNAT, AFTER_SNAT),
  hop('worker2 PREROUTING nat', 'PREROUTING', '-P PREROUTING ACCEPT', 'ACCEPT', ON_WORKER2),
  hop('worker2 FORWARD filter', 'FORWARD', '-P FORWARD ACCEPT', 'ACCEPT', TO_POD),
]

export const NODE_PORT_JOURNEY: Journey = {
  id: 1,
  connection: 1,
  protocol: 'tcp',
  direction: 'request',
  kind: 'first',
  summary: 'SYN',
  verdict: 'delivered',
  reason: 'it reached pod b',
  hops: NODE_PORT_HOPS,
}
