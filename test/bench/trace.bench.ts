import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TraceResult } from '../../src-main/domain/trace/journey.ts'
import { captureInLab } from '../../src-main/entry/cli/run-in-lab.ts'
import type { Bench, Measure } from './measure.ts'
import { type OpenLab, openLab, root } from './open-lab.ts'

const seconds = 5
/** Of requests and of their answers together. The bound is the first; the others show what is left above it. */
const packetsPerSecond = [1000, 2000, 3000] as const
/** Of the UDP echo on worker2, asked by a pod on worker1. */
const ECHO = ['10.96.1.3', 53] as const

/** Sends numbered datagrams at this rate and says how it went; waits a second for the last answers. */
const SENDER = `
const [address, port, rate, total] = process.argv.slice(1)
const socket = require('node:dgram').createSocket('udp4')
let sent = 0, answered = 0, last = 0
const begin = performance.now()
const end = () => { console.log(JSON.stringify({ sent, answered, ms: last - begin })); process.exit() }
socket.on('message', () => { answered += 1; last = performance.now(); if (answered === +total) end() })
socket.connect(+port, address, function send() {
  const due = Math.min(+total, ((performance.now() - begin) * rate) / 1000)
  for (; sent < due; sent += 1) socket.send(String(sent).padStart(8, '0'))
  setTimeout(sent < total ? send : end, sent < total ? 1 : 1000)
})`

interface Sent {
  readonly sent: number
  readonly answered: number
  /** From before the first packet to the last answer. */
  readonly ms: number
}

/** A pod's datagrams and their answers across two nodes, traced and untraced. */
export const trace: Bench = {
  name: `traced packets, for ${seconds} s`,
  async run() {
    const lab = await openLab()
    try {
      await lab.apply(readFileSync(join(root, 'test/lab/traffic.yaml'), 'utf8'))
      const measures: Measure[] = []
      for (const rate of packetsPerSecond) measures.push(...(await measureRate(lab, rate)))
      return measures
    } finally {
      await lab.close()
    }
  },
}

async function measureRate(lab: OpenLab, rate: number): Promise<Measure[]> {
  const untraced = await send(lab, rate)
  let id = 0
  const traced = await send(lab, rate, async (params) => {
    const started = await lab.connection.request('trace/start', params)
    id = started.trace
    return started
  })
  const { journeys, gaps } = await lab.connection.request('trace/stop', { trace: id })
  for (const gap of gaps) console.error(`${rate} packets a second: ${gap}`)
  return [
    {
      label: `${rate} a second: came and went`,
      value: packetsPerSecondOf(traced),
      unit: 'packets/s',
      baseline: packetsPerSecondOf(untraced),
      baselineIs: 'untraced',
    },
    {
      label: `${rate} a second: packets without their whole way`,
      value: traced.sent + traced.answered - countWhole(journeys),
      unit: 'packets',
      ...(rate === packetsPerSecond[0] ? { limit: 0 } : {}),
    },
  ]
}

const packetsPerSecondOf = ({ sent, answered, ms }: Sent): number => ((sent + answered) * 1000) / ms

/** A request passes both nodes' FORWARD, and so does its answer. */
function countWhole(journeys: TraceResult['journeys']): number {
  return journeys.filter(({ hops }) => {
    const nodes = new Set(hops.filter(({ hook }) => hook === 'FORWARD').map(({ node }) => node))
    return nodes.size === 2
  }).length
}

async function send(lab: OpenLab, rate: number, start?: Parameters<typeof captureInLab>[3]): Promise<Sent> {
  const { target } = await lab.connection.request('targets/resolve', { target: 'pod/a' })
  const argv = [
    process.execPath,
    '-e',
    SENDER,
    ...ECHO.map(String),
    String(rate / 2),
    String((rate / 2) * seconds),
  ]
  const { stdout, stderr } = await captureInLab(lab.connection, target, argv, start)
  if (stdout === '') throw new Error(`the sender said nothing: ${stderr}`)
  return JSON.parse(stdout) as Sent
}
