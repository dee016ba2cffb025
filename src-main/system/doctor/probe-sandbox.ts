import { createSocket } from 'node:dgram'
import { existsSync, writeFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ProbeName, ProbeOutcome, ProbeReport } from '../../domain/doctor/machine-facts.ts'
import { formatProbeRules, type RuleProbeName, ruleProbeNames } from '../../domain/doctor/rule-probes.ts'
import { findTool } from '../command/find-tool.ts'
import { runCommand } from '../command/run-command.ts'
import { createNetworkNamespace, inNamespaces, type NamespaceFd } from '../kernel/namespace.ts'
import { getConnections } from '../netlink/conntrack-messages.ts'
import { addBridge, addVethPair, setLink } from '../netlink/link-messages.ts'
import { getRuleSetGeneration } from '../netlink/nf-tables-messages.ts'
import { nfnetlinkGroups } from '../netlink/nfnetlink.ts'
import { type NetlinkSocket, openNetlinkSocket } from '../netlink/socket.ts'
import { enterSandbox, shellEnvironment } from '../sandbox/enter-sandbox.ts'
import { readCapabilities } from './gather-facts.ts'

const COMMAND_TIMEOUT_MS = 4000
const LOOPBACK_INDEX = 1
const BRIDGE_NETFILTER = '/proc/sys/net/bridge/bridge-nf-call-iptables'

/**
 * Tries, as process of a fresh sandbox, all that a lab does to the kernel, and prints a line for each. Whatever it
 * makes lies in the sandbox's namespaces and goes with them.
 */
export async function probeSandbox(): Promise<void> {
  const rootless = process.argv[3] === 'rootless'
  report({ probe: 'start', capabilities: readCapabilities() })
  // Before the sandbox's own folders cover the one that the program may lie in.
  const importing = import('node-pty')
  await importing.catch(() => undefined) // the probe of terminals says it
  const haveFiles = await probe('files', () => {
    enterSandbox({
      name: 'doctor',
      rootless,
      backend: findTool('iptables-nft-restore') ? 'nft' : 'legacy',
      program: dirname(dirname(dirname(fileURLToPath(import.meta.url)))),
    })
    // Tools are found as the lab's shells find them, its own programs first.
    Object.assign(process.env, shellEnvironment('doctor'))
  })
  await probeLinks()
  await probe('nf-tables', () => withNetfilterSocket(getRuleSetGeneration))
  // Tools write lock files and the like: not before the machine's own files are out of reach.
  if (haveFiles) {
    await probeRules()
    await probe('connections', () => withNetfilterSocket(getConnections))
    await probeTrace()
    await probeTcpdump()
    await probe('terminal', () => openTerminal(importing))
  } else {
    const reason = "not tried: the sandbox's own files could not be mounted"
    for (const name of [...ruleProbeNames.map((rule) => `rule-${rule}` as const), ...needFiles])
      report({ probe: name, result: { outcome: 'skipped', reason } })
  }
  report({ probe: 'end' })
}

const needFiles = ['connections', 'trace', 'tcpdump', 'terminal'] as const

// Written at once: what came before a crash or the end of the time is known outside.
function report(line: ProbeReport): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

async function probe(name: ProbeName, work: () => unknown): Promise<boolean> {
  let result: ProbeOutcome = { outcome: 'works' }
  try {
    await work()
  } catch (error) {
    result = { outcome: 'fails', said: error instanceof Error ? error.message : String(error) }
  }
  report({ probe: name, result })
  return result.outcome === 'works'
}

function skip(name: ProbeName, reason: string): void {
  report({ probe: name, result: { outcome: 'skipped', reason } })
}

/** Runs a tool to its end; fails with its own words. */
async function runTool(argv: readonly string[], input = ''): Promise<void> {
  const { code, stdout, stderr } = await runCommand(argv, { input, timeoutMs: COMMAND_TIMEOUT_MS })
  if (code !== 0) throw new Error(stderr.trim() || stdout.trim() || `${argv[0]} ended with ${code}`)
}

function withNetfilterSocket(work: (socket: NetlinkSocket) => unknown): void {
  const socket = openNetlinkSocket('netfilter')
  try {
    work(socket)
  } finally {
    socket.close()
  }
}

async function probeLinks(): Promise<void> {
  let created: NamespaceFd | undefined
  await probe('network-namespace', () => {
    created = createNetworkNamespace()
  })
  const netns = created
  if (!netns) {
    for (const name of ['veth', 'bridge', 'sysctls', 'bridge-netfilter'] as const)
      skip(name, 'not tried: no network namespace')
    return
  }
  const socket = openNetlinkSocket('route')
  await probe('veth', () => {
    socket.request(
      addVethPair({ name: 'outer', index: 101, peer: { name: 'inner', index: 102, netns } }),
      setLink(101, { up: true }),
    )
  })
  await probe('bridge', () => {
    socket.request(addBridge({ name: 'switch', index: 100 }), setLink(100, { up: true }))
  })
  await probe('sysctls', () =>
    inNamespaces({ net: netns }, () => {
      writeFileSync('/proc/sys/net/ipv4/ip_forward', '1')
      writeFileSync('/proc/sys/net/ipv4/conf/all/route_localnet', '1')
      writeFileSync('/proc/sys/net/ipv4/conf/all/rp_filter', '0')
    }),
  )
  await probe('bridge-netfilter', () =>
    inNamespaces({ net: netns }, () => {
      if (!existsSync(BRIDGE_NETFILTER)) throw new Error('missing')
      writeFileSync(BRIDGE_NETFILTER, '1')
    }),
  )
  socket.close()
  netns.close()
}

async function probeRules(): Promise<void> {
  const restore = ['iptables-nft-restore', 'iptables-restore', 'iptables-legacy-restore']
    .map(findTool)
    .find((path) => path !== undefined)
  if (!restore) {
    for (const name of ruleProbeNames) skip(`rule-${name}`, 'not tried: iptables is not installed')
    return
  }
  const load = (names: readonly RuleProbeName[]): Promise<void> => runTool([restore], formatProbeRules(names))
  try {
    await load(ruleProbeNames)
    for (const name of ruleProbeNames) report({ probe: `rule-${name}`, result: { outcome: 'works' } })
  } catch {
    // One at a time, to see which.
    for (const name of ruleProbeNames) await probe(`rule-${name}`, () => load([name]))
  }
}

/** Follows one connection both ways, as a lab's traces do; `ct id` is what older kernels lack. */
const TRACE_RULES = `table inet chainwalk_probe {
  set one { typeof ct id; size 1; flags dynamic,timeout; timeout 30s; }
  chain prerouting {
    type filter hook prerouting priority -199;
    ct state new tcp dport 80 add @one { ct id }
    ct id @one meta nftrace set 1
  }
}
`

async function probeTrace(): Promise<void> {
  const nft = findTool('nft')
  if (!nft) {
    skip('trace', 'not tried: nft is not installed')
    return
  }
  await probe('trace', async () => {
    withNetfilterSocket((socket) => {
      socket.join(nfnetlinkGroups.trace)
    })
    await runTool([nft, '-f', '-'], TRACE_RULES)
  })
}

async function probeTcpdump(): Promise<void> {
  const tcpdump = findTool('tcpdump')
  if (!tcpdump) {
    skip('tcpdump', 'not tried: tcpdump is not installed')
    return
  }
  await probe('tcpdump', async () => {
    const route = openNetlinkSocket('route')
    route.request(setLink(LOOPBACK_INDEX, { up: true }))
    route.close()
    // It must get as far as seeing a packet: it gives up its privilege only after it has opened the link.
    const socket = createSocket('udp4')
    const timer = setInterval(() => {
      socket.send('probe', 9, '127.0.0.1')
    }, 20)
    const capture = (...options: string[]): Promise<void> =>
      runTool([tcpdump, ...options, '--immediate-mode', '-n', '-c', '1', '-i', 'lo', 'udp'])
    try {
      await capture()
    } catch (error) {
      // Many builds change to a user of their own, who does not exist in a user namespace.
      await capture('-Z', 'root').catch(() => Promise.reject(error))
      throw new Error('it starts only as `tcpdump -Z root`', { cause: error })
    } finally {
      clearInterval(timer)
      socket.close()
    }
  })
}

async function openTerminal(importing: Promise<typeof import('node-pty')>): Promise<void> {
  const { spawn } = await importing
  const terminal = spawn('/bin/sh', ['-c', 'tty'], { cwd: '/', cols: 80, rows: 24 })
  let output = ''
  terminal.onData((text) => {
    output += text
  })
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      terminal.kill('SIGKILL')
      reject(new Error(`a shell on a terminal did not end after ${COMMAND_TIMEOUT_MS} ms`))
    }, COMMAND_TIMEOUT_MS)
    terminal.onExit(({ exitCode }) => {
      clearTimeout(timer)
      if (exitCode === 0) resolve()
      else reject(new Error(`tty ended with ${exitCode}: ${output.trim()}`))
    })
  })
}
