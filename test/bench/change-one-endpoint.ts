import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NodeProxy, type ProxyView } from '../../src-main/lab/node-proxy.ts'
import { findIptables, type IptablesTool } from '../../src-main/system/iptables/iptables-tool.ts'
import type { LabNetwork } from '../../src-main/system/sandbox/lab-network.ts'
import { buildLargeCluster, buildSlice, plainConfig } from '../domain/kube-proxy/large-cluster.ts'
import { timed } from './measure.ts'
import { runProgram, temporaryFolder } from './open-lab.ts'

/** The bench's program, started with this word first, works in the namespaces that it finds itself in. */
export const IN_NAMESPACE = '--in-namespace'

const rounds = 7
const MOVED_TO = '10.250.0.1'

export interface EndpointChange {
  readonly loadMs: number
  readonly rules: number
  readonly labMs: readonly number[]
  readonly shellMs: readonly number[]
  /** Of one change: the chains that it writes, and all lines that iptables-restore reads. */
  readonly chains: number
  readonly lines: number
}

/** A node with so many Services × endpoints, one of which moves to and fro: by the lab, then by a shell. */
export async function changeOneEndpoint(words: readonly string[]): Promise<EndpointChange> {
  const [services = 0, endpoints = 0, rootless = 0] = words.map(Number)
  const texts: string[] = []
  const tool = findIptables('nft')
  const recording: IptablesTool = {
    ...tool,
    restore: async (where, text) => {
      texts.push(await text)
      await tool.restore(where, text)
    },
  }
  // All that a proxy asks of the network is to be put into its node's; here this process is.
  const here = { inNetwork: (_: unknown, work: () => unknown) => work() } as unknown as LabNetwork
  const proxy = new NodeProxy(plainConfig, here, { iptables: recording, rootless: rootless === 1 })
  const cluster = buildLargeCluster(services, endpoints)
  const middle = Math.floor(services / 2)
  const moved: ProxyView = {
    ...cluster,
    endpointSlices: cluster.endpointSlices.map((slice, at) =>
      at === middle
        ? buildSlice(slice.metadata.name.slice(0, 9), [
            ...slice.endpoints.flatMap(({ addresses }) => addresses).slice(1),
            MOVED_TO,
          ])
        : slice,
    ),
  }
  const load = await timed(() => proxy.sync(cluster, undefined, Promise.resolve()))
  const rules = texts.join('').match(/^-[AI] /gm)?.length ?? 0
  const folder = temporaryFolder()
  const labMs: number[] = []
  const shellMs: number[] = []
  let written = ''
  try {
    for (let round = 0; round <= rounds; round += 1) {
      for (const [view, name] of [
        [moved, 'there'],
        [cluster, 'back'],
      ] as const) {
        texts.length = 0
        const change = await timed(() => proxy.sync(view, undefined, Promise.resolve()))
        if (round > 0) labMs.push(change.ms)
        written = texts.join('')
        writeFileSync(join(folder, name), written)
      }
      for (const name of ['there', 'back']) {
        const script = `iptables-nft-restore --noflush < ${join(folder, name)}`
        const { answeredMs } = await runProgram(['sh', '-c', script])
        if (round > 0) shellMs.push(answeredMs)
      }
    }
    await expectEndpoint(tool, cluster, middle)
  } finally {
    rmSync(folder, { recursive: true })
  }
  const chains = new Set([...written.matchAll(/^(?::|-\w )(KUBE-\S+)/gm)].map(([, chain]) => chain))
  return {
    loadMs: load.ms,
    rules,
    labMs,
    shellMs,
    chains: chains.size,
    lines: written.trimEnd().split('\n').length,
  }
}

/** The kernel holds the Service as it was at first. (Chains that nothing leads to go later, as kube-proxy's do.) */
async function expectEndpoint(tool: IptablesTool, { endpointSlices }: ProxyView, at: number): Promise<void> {
  const text = await tool.save((work) => work(), ['-t', 'nat'])
  const isLedTo = (address: string): boolean => {
    const chain = new RegExp(`^-A (KUBE-SEP-\\S+) .*--to-destination ${address}:8080$`, 'm').exec(text)?.[1]
    return chain !== undefined && text.includes(` -j ${chain}\n`)
  }
  for (const { addresses } of endpointSlices[at]?.endpoints ?? [])
    if (!addresses.every(isLedTo)) throw new Error(`no rule leads to ${addresses[0]}`)
  if (isLedTo(MOVED_TO)) throw new Error('a rule still leads to the endpoint that moved back')
}
