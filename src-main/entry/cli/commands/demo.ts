import { join } from 'node:path'
import type { ChainListing } from '../../../contract/counter-messages.ts'
import type { LabConnection } from '../../../contract/rpc.ts'
import { packageRoot } from '../../start-lab.ts'
import { CommandFailure, EXIT } from '../exit-status.ts'
import { readManifests } from '../read-manifests.ts'
import { captureInLab } from '../run-in-lab.ts'
import { startWithManifests, stop } from './up.ts'

const REQUESTS = 12
const CLUSTER_IP = '10.107.38.142'
const SERVICE_CHAIN = 'KUBE-SVC-GM62ZXCOIF6ZCRWU'
const NODE_PORT = 32054
/** A pod of three is left out by twelve requests 2 times in 100; so often we try until none is. */
const ATTEMPTS = 5

/** The teaching example from start to end, in a lab of its own that is gone afterwards. */
export async function demo(): Promise<void> {
  const manifests = readManifests([join(packageRoot(), 'lab-scripts/manifests/http-server.yaml')])
  say(
    'A lab with the http-server example: one Deployment with 3 pods, a ClusterIP Service, a NodePort Service.',
  )
  const started = await startWithManifests(
    { name: `demo-${process.pid}`, workers: 2, attachment: 'auto', backend: 'auto', detached: false },
    manifests,
  )
  const interrupt = (): void => void stop(started).finally(() => process.exit(130))
  process.once('SIGINT', interrupt)
  try {
    await show(started.connection)
  } finally {
    process.off('SIGINT', interrupt)
    await stop(started)
  }
  say(
    '\nThe lab has ended; nothing of it is left. Your own: chainwalk up -f lab-scripts/manifests/http-server.yaml',
  )
}

async function show(lab: LabConnection): Promise<void> {
  const { text } = await lab.request('objects/print', {
    kinds: ['pod', 'svc'],
    namespace: 'default',
    format: 'wide',
  })
  say(text)
  await showClusterIp(lab)
  await showNodePort(lab)
}

async function showClusterIp(lab: LabConnection): Promise<void> {
  const { target, hostname } = await lab.request('targets/resolve', { target: 'deployment/http-server' })
  const node = await nodeOf(lab, hostname)
  say(
    `$ for i in $(seq ${REQUESTS}); do curl -s http://${CLUSTER_IP}/; done      # in pod ${hostname} on ${node}`,
  )
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    await mustRun(lab, `node/${node}`, ['iptables', '-t', 'nat', '-Z'])
    const loop = `for i in $(seq ${REQUESTS}); do curl -sS --max-time 5 http://${CLUSTER_IP}/json; done`
    const answers = (await mustRun(lab, target, ['sh', '-c', loop])).trim().split('\n').map(parseAnswer)
    const pods = countBy(answers.map(({ pod }) => pod))
    if (pods.size < 3 && attempt < ATTEMPTS) {
      say(`${pods.size} of 3 pods answered: chance does that 2 times in 100. Counters to zero, and again.`)
      continue
    }
    for (const { pod, node: on, peer } of answers)
      say(`  answer from ${pod} on ${on}, which saw ${peer.address}`)
    say(`\n${answers.length} answers: ${[...pods].map(([pod, count]) => `${pod} ${count}`).join(', ')}`)
    break
  }
  say(`\nThe counters of ${node}'s kernel (table nat):\n`)
  const service = await readChain(lab, node, SERVICE_CHAIN)
  const dispatch = await readChain(lab, node, 'KUBE-SERVICES')
  const hits = packetsOf(dispatch, (rule) => rule.includes(` -j ${SERVICE_CHAIN}`))
  say(`  PREROUTING > KUBE-SERVICES   -d ${CLUSTER_IP} tcp dport 80`)
  say(`    > ${SERVICE_CHAIN}                ${hits}`)
  let sum = 0
  for (const { text, counters } of service?.rules ?? []) {
    const endpoint = /-j (KUBE-SEP-\S+)/.exec(text)?.[1]
    if (!endpoint) continue
    const chain = await readChain(lab, node, endpoint)
    const dnat = chain?.rules.find((rule) => rule.text.includes('-j DNAT'))
    const to = /--to-destination (\S+)/.exec(dnat?.text ?? '')?.[1] ?? ''
    const chance = /--probability (\S+)/.exec(text)?.[1]
    sum += Number(dnat?.counters.packets ?? 0)
    const odds = chance ? `chance ${Number(chance).toFixed(3)}` : 'the rest'
    say(`        > ${endpoint}  ${String(counters.packets).padStart(5)}   ${odds.padEnd(12)}  DNAT to ${to}`)
  }
  say(`    the three together               ${sum}`)
  if (hits !== REQUESTS || sum !== REQUESTS)
    throw new CommandFailure(
      EXIT.failed,
      `the counters say ${hits} and ${sum}, but ${REQUESTS} requests were sent`,
    )
}

async function showNodePort(lab: LabConnection): Promise<void> {
  const { nodes, client } = await lab.request('lab/status', {})
  say(`\nFrom outside, through the NodePort (the client is ${client.address}):\n`)
  for (const { name, address } of nodes) {
    const url = `http://${address}:${NODE_PORT}/`
    const { pod, node, peer } = parseAnswer(
      await mustRun(lab, 'client', ['curl', '-sS', '--max-time', '5', `${url}json`]),
    )
    say(`$ curl ${url}      # ${name}`)
    say(`  answer from ${pod} on ${node}, which saw ${peer.address}`)
  }
  say(`
The pods did not see the client's address: KUBE-EXT marks this traffic (KUBE-MARK-MASQ), and KUBE-POSTROUTING
gives it the node's own address, so that the answer comes back through the node that did the DNAT.`)
}

interface Answer {
  readonly pod: string
  readonly node: string
  readonly peer: { readonly address: string }
}

function parseAnswer(text: string): Answer {
  try {
    return JSON.parse(text) as Answer
  } catch {
    throw new CommandFailure(EXIT.failed, `a pod answered something else than was asked for: ${text}`)
  }
}

async function mustRun(lab: LabConnection, target: string, argv: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await captureInLab(lab, target, argv)
  if (code !== 0)
    throw new CommandFailure(EXIT.failed, `${argv.join(' ')} in ${target} ended with ${code}: ${stderr}`)
  return stdout
}

async function nodeOf(lab: LabConnection, pod: string): Promise<string> {
  const { groups } = await lab.request('objects/list', { kinds: ['pod'], namespace: 'default', name: pod })
  const [object] = groups[0]?.objects ?? []
  return object?.kind === 'Pod' ? object.spec.nodeName : ''
}

async function readChain(lab: LabConnection, node: string, chain: string): Promise<ChainListing | undefined> {
  const { chains } = await lab.request('counters/read', { target: `node/${node}`, table: 'nat', chain })
  return chains[0]
}

function packetsOf(chain: ChainListing | undefined, isMeant: (text: string) => boolean): number {
  return Number(chain?.rules.find(({ text }) => isMeant(text))?.counters.packets ?? 0)
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
