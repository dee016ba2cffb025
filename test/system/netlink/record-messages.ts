/**
 * Records real kernel answers for the codec's tests. From the checkout, as root:
 *
 *   npx rolldown test/system/netlink/record-messages.ts --format esm --platform node -o out/record.mjs
 *   unshare --net --mount --uts node out/record.mjs test/system/netlink/recorded
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { release } from 'node:os'
import { join } from 'node:path'
import { createNetworkNamespace, inNamespaces } from '../../../src-main/system/kernel/namespace.ts'
import { receive, send } from '../../../src-main/system/kernel/socket.ts'
import {
  headerLength,
  messageFlags,
  type NetlinkRequest,
  writeBody,
  writeMessage,
} from '../../../src-main/system/netlink/codec.ts'
import { addBridge, setLink } from '../../../src-main/system/netlink/link-messages.ts'
import { nfnetlinkGroups, subsystem } from '../../../src-main/system/netlink/nfnetlink.ts'
import { addRoute } from '../../../src-main/system/netlink/route-messages.ts'
import { type NetlinkSocket, openNetlinkSocket } from '../../../src-main/system/netlink/socket.ts'
import { watchNetlink } from '../../../src-main/system/netlink/watch.ts'

const folder = process.argv[2] ?? '.'

function record(name: string, command: string, messages: readonly string[]): void {
  const text = JSON.stringify({ command, kernel: release().split('-')[0], messages }, undefined, 2)
  writeFileSync(join(folder, `${name}.json`), `${text}\n`)
}

/** Runs shell lines in a namespace that is gone afterwards. */
function shell(lines: string): void {
  execFileSync('sh', ['-ec', lines], { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' } })
}

const raw = (buffer: Buffer, start: number, end: number) => buffer.toString('hex', start - headerLength, end)

function dump(socket: NetlinkSocket, type: number, bodyLength: number): string[] {
  const body = writeBody((w) => w.zeros(bodyLength))
  return socket.dump({ type, flags: 0, body, what: 'record' }, raw)
}

function refuse(socket: NetlinkSocket, request: NetlinkRequest): string {
  const message = Buffer.alloc(4096)
  const flags = request.flags | messageFlags.request | messageFlags.ack
  send(socket.fd, message, writeMessage(message, 0, request, flags, 99))
  const answer = Buffer.alloc(4096)
  return answer.toString('hex', 0, receive(socket.fd, answer))
}

const links = `ip link add cni0 address 02:00:00:00:00:01 type bridge
ip link add veth1 index 10 address 02:00:00:00:00:0a mtu 1400 type veth peer name eth0 index 11 address 02:00:00:00:00:0b
ip link set veth1 master cni0 up; ip link set eth0 up; ip link set cni0 up; ip link set lo up
ip addr add 10.244.1.1/24 brd + dev cni0; ip addr add fd00:10:244::1/64 dev cni0 nodad
ip route add 10.244.2.0/24 via 172.18.0.3 dev cni0 onlink; ip route add default via 10.244.1.9 metric 50
ip route add unreachable 10.10.0.0/16; ip route add fd00:99::/64 via fd00:10:244::5
ip neigh add 172.18.0.3 lladdr 02:00:00:00:00:33 dev cni0`

const rules = `iptables-nft-restore <<X
*nat
:KUBE-SERVICES - [0:0]
:KUBE-SVC-A - [0:0]
:PREROUTING ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
-A PREROUTING -j KUBE-SERVICES
-A OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A KUBE-SERVICES -d 10.96.0.10/32 -p udp -m comment --comment "default/web cluster IP" -m udp --dport 80 -j KUBE-SVC-A
-A KUBE-SVC-A ! -s 10.244.0.0/16 -j MARK --or-mark 0x4000
-A KUBE-SVC-A -p udp -m statistic --mode random --probability 1 -j DNAT --to-destination 127.0.0.1:8080
COMMIT
*filter
:INPUT ACCEPT [0:0]
:FORWARD DROP [0:0]
:OUTPUT ACCEPT [0:0]
-A OUTPUT -p udp
COMMIT
X`

// The port is closed: each datagram is answered by an ICMP error, and counted all the same.
const traffic = `sysctl -qw net.ipv4.conf.all.route_localnet=1
for i in 1 2 3; do echo hello > /dev/udp/10.96.0.10/80; done
curl -s -m 1 http://127.0.0.1:1/ || true
ping -q -c 1 127.0.0.1`

async function main(): Promise<void> {
  const net = createNetworkNamespace()
  const route = inNamespaces({ net }, () => openNetlinkSocket('route'))
  inNamespaces({ net }, () => shell(`${links}\nsleep 2`))
  record('links', links, dump(route, 18, 16))
  record('addresses', links, dump(route, 22, 8))
  record('routes', links, dump(route, 26, 12))
  record('neighbours', links, dump(route, 30, 12))
  record(
    'refusals',
    'a bridge that exists; a route whose gateway no route leads to; a link that is not there',
    [
      refuse(route, addBridge({ name: 'cni0' })),
      refuse(route, addRoute({ destination: '10.77.0.0/16', gateway: '203.0.113.1' })),
      refuse(route, setLink('none0', { up: true })),
    ],
  )

  const node = createNetworkNamespace()
  const netfilter = inNamespaces({ net: node }, () => openNetlinkSocket('netfilter'))
  const ruleSetEvents: string[] = []
  const connectionEvents: string[] = []
  const watches = inNamespaces({ net: node }, () =>
    [
      { into: ruleSetEvents, groups: [nfnetlinkGroups.nfTables] },
      {
        into: connectionEvents,
        groups: [
          nfnetlinkGroups.conntrackNew,
          nfnetlinkGroups.conntrackUpdate,
          nfnetlinkGroups.conntrackDestroy,
        ],
      },
    ].map(({ into, groups }) => {
      const socket = openNetlinkSocket('netfilter', { isBlocking: false })
      for (const group of groups) socket.join(group)
      return watchNetlink(socket, {
        onMessage: (buffer, start, end) => into.push(raw(buffer, start, end)),
        onOverrun: () => console.error('overrun'),
        onError: (error) => console.error(error),
      })
    }),
  )
  const idle = () => new Promise((resolve) => setTimeout(resolve, 100))
  const prepare = `ip link set lo up; ip route add default dev lo src 127.0.0.1\nsysctl -qw net.netfilter.nf_conntrack_acct=1\n${rules}`
  inNamespaces({ net: node }, () => shell(prepare))
  await idle()
  const remove = 'iptables-nft -t nat -D KUBE-SVC-A 1; iptables-nft -N GONE; iptables-nft -X GONE'
  inNamespaces({ net: node }, () => execFileSync('bash', ['-ec', traffic], { stdio: 'ignore' }))
  await idle()
  record('rules', `${prepare}\n${traffic}`, dump(netfilter, subsystem.nfTables | 7, 4))
  record('chains', `${prepare}\n${traffic}`, dump(netfilter, subsystem.nfTables | 4, 4))
  record('connections', `${prepare}\n${traffic}`, dump(netfilter, subsystem.conntrack | 1, 4))
  inNamespaces({ net: node }, () => shell(`${remove}; conntrack -D -p icmp`))
  await idle()
  record('connection-events', `${prepare}\n${traffic}\nconntrack -D -p icmp`, connectionEvents)
  record('rule-set-events', `${rules}\n${remove}`, ruleSetEvents)
  for (const watch of watches) watch.close()
}

await main()
