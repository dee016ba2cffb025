/**
 * Records the kernel's trace messages of one namespace while a trace runs in a lab, for the tests of domain/trace and
 * system/trace-monitor. Bundle it (npx rolldown FILE --format esm --platform node -o out/record-trace.mjs), run it with
 * `chainwalk exec HOST -- node …/record-trace.mjs SECONDS` on each host, and `chainwalk trace` beside it.
 */
import { headerLength, walkMessages } from '../../src-main/system/netlink/codec.ts'
import { nfnetlinkGroups } from '../../src-main/system/netlink/nfnetlink.ts'
import { openNetlinkSocket } from '../../src-main/system/netlink/socket.ts'
import { receive, receiveFlags } from '../../src-main/system/kernel/socket.ts'

const socket = openNetlinkSocket('netfilter', { receiveBufferBytes: 8 * 1024 * 1024 })
socket.join(nfnetlinkGroups.trace)
const end = Date.now() + 1000 * Number(process.argv[2] ?? 5)
const buffer = Buffer.alloc(65536)
const messages: string[] = []
while (Date.now() < end) {
  const length = receive(socket.fd, buffer, receiveFlags.dontWait)
  if (length === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 5))
    continue
  }
  walkMessages(buffer, length, ({ start, end: stop }) => {
    messages.push(buffer.toString('hex', start - headerLength, stop))
    return undefined
  })
}
process.stdout.write(`${JSON.stringify(messages)}\n`)
